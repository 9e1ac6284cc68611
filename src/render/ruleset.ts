import type { Rendered } from '../compile/sandboxes.ts';
import type { RulesetKind } from '../model/kinds.ts';
import { createAnchors, type Outline } from '../model/outline.ts';
import { createDescriptions } from './description.ts';
import { empty, longest } from './outline.ts';
import { own, isObject, type JsonObject } from '../model/json.ts';
import { leftOutOf, viewRule, extendedBy, rulesOf, type Rule } from './rules.ts';
import { valueText } from './schema/example.ts';
import { formatHtml, joinHtml, lengthOf, listHtml, markup, nothing, type Html } from './html.ts';
import { digestOfValue, entriesOf, textOf } from './json-value.ts';
import {
  anchorIn,
  createLong,
  longestNavigation,
  navigationGroup,
  pageBudget,
  type FindImage,
  type Page,
} from './page.ts';
import { nameText, blockMarkdown, codeMarkdown, firstParagraph, inlineMarkdown, shorten } from './markdown.ts';

interface PlacedRule {
  rule: Rule;
  anchor: string;
}

const maxLeftOut = 500;

function rulesetHtml(
  page: Pick<Page, 'document' | 'descriptions'>,
  rules: readonly PlacedRule[],
  budget: number,
): { html: Html; isCut: boolean } {
  const long = createLong(budget, lengthOf);
  for (const one of rules)
    long.add(
      () => ruleHtml(page, one),
      () => markup`<tr class="rule" id="${one.anchor}">
        <th scope="row"><code>${nameText(one.rule.name, 300)}</code></th><td>${severityHtml(one.rule)}</td><td></td>
      </tr>`,
    );
  const table = markup`<table>
    <thead><tr><th scope="col">Rule</th><th scope="col">Severity</th><th scope="col">Meaning</th></tr></thead>
    <tbody>${joinHtml(long.parts)}</tbody>
  </table>`;
  const html = markup`<div class="reference">
    ${introHtml(page)}<h2 id="rules">Rules</h2>
    ${rules.length === 0 ? markup`<p>This ruleset has no rules of its own.</p>` : table}
  </div>`;
  return { html, isCut: long.isCut };
}

function introHtml({ document, descriptions }: Pick<Page, 'document' | 'descriptions'>): Html {
  const bases = extendedBy(document);
  const description = textOf(document['description']) || textOf(document['x-description']);
  const leftOut = leftOutOf(document);
  if (bases.length === 0 && description.trim() === '' && leftOut.length === 0) return nothing;
  const list = markup`<p>Extends${bases.slice(0, 100).map((name) => markup` <code>${name.slice(0, 200)}</code>`)}</p>`;
  return markup`<section class="intro">
    ${leftOutHtml(leftOut)}${descriptions.block(description, 3)}${bases.length === 0 ? nothing : list}
  </section>`;
}

/** What a partial ruleset does not check. */
function leftOutHtml(names: readonly string[]): Html {
  if (names.length === 0) return nothing;
  const listed = names.slice(0, maxLeftOut).map((name) => markup` <code>${nameText(name, 300)}</code>`);
  const rest = names.length - listed.length;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return markup`<p><strong>This ruleset is partial. It does not check:</strong>${listed}${more}</p>`;
}

function severityHtml({ severity }: Rule): Html {
  return markup`<b class="severity ${severity}">${severity}</b>`;
}

function ruleHtml({ descriptions }: Pick<Page, 'descriptions'>, { rule, anchor }: PlacedRule): Html {
  const { description, isBuiltIn, given, asked, url } = viewRule(rule);
  const places = given.map((path) => markup` <code>${path.slice(0, 1000)}</code>`);
  const demands = asked.map(({ field, demand }) => {
    const name = field === '' ? nothing : markup`<code>${field.slice(0, 500)}</code> `;
    return markup`<li>${name}${demand.slice(0, 2000)}</li>`;
  });
  return markup`<tr class="rule" id="${anchor}">
    <th scope="row"><a href="#${anchor}"><code>${nameText(rule.name, 300)}</code></a></th>
    <td>${severityHtml(rule)}</td>
    <td>
      ${descriptions.brief(description)}
      ${given.length === 0 ? nothing : markup`<p>Applies to${places}</p>`}
      ${demands.length === 0 ? nothing : markup`<ul class="props">${demands}</ul>`}
      ${isBuiltIn ? builtInHtml(rule, description) : nothing}
      ${url === null ? nothing : markup`<p><a href="${url}" rel="nofollow noopener">Documentation</a></p>`}
    </td>
  </tr>`;
}

/** What a built-in rule requires, unless the ruleset describes it. */
function builtInHtml({ name, definition }: Rule, description: string): Html {
  const meaning = description.trim() === '' ? linterRuleMeaning(name) : null;
  return markup`${meaning === null ? nothing : markup`<p>${meaning}</p>`}<p>Built-in rule${settings(definition)}</p>`;
}

/** The options of a built-in rule besides its severity. */
function settings(definition: unknown): Html {
  const options = entriesOf(definition).filter(
    ([key]) => key !== 'severity' && key !== 'description' && key !== 'message',
  );
  if (!isObject(definition) || options.length === 0) return markup`.`;
  return markup`, with options <code>${valueText(Object.fromEntries(options))}</code>.`;
}

/**
 * What the built-in rules of Redocly's linter require of OpenAPI documents. Spectral's rules with
 * the same names require the same.
 */
const meanings: Readonly<Record<string, string>> = {
  'array-parameter-serialization': 'Array parameters specify style and explode.',
  'boolean-parameter-prefixes': 'Names of boolean parameters start with is, has or a similar prefix.',
  'component-name-unique': 'Components of one kind have different names, across all files.',
  'info-contact': 'The document has contact information.',
  'info-license': 'The document names its license.',
  'info-license-strict': 'The license has a URL or an SPDX identifier.',
  'no-ambiguous-paths': 'No URL matches two paths.',
  'no-duplicated-enum-values': 'Enum values are unique.',
  'no-duplicated-tag-names': 'Tag names are unique.',
  'no-empty-servers': 'The document has at least one server.',
  'no-enum-type-mismatch': 'Enum values have the type of their schema.',
  'no-example-value-and-externalValue': 'Examples have either value or externalValue.',
  'no-http-verbs-in-paths': 'Paths do not contain HTTP methods.',
  'no-identical-paths': 'Paths differ in more than the names of their parameters.',
  'no-illogical-composition-keywords': 'oneOf, anyOf and allOf have at least two different schemas.',
  'no-invalid-media-type-examples': 'Examples of bodies match their schema.',
  'no-invalid-parameter-examples': 'Examples of parameters match their schema.',
  'no-invalid-schema-examples': 'Examples in schemas match the schema.',
  'no-mixed-number-range-constraints': 'Numbers have an inclusive or an exclusive limit on each side, not both.',
  'no-path-trailing-slash': 'Paths do not end with a slash.',
  'no-required-schema-properties-undefined': 'Required properties are defined.',
  'no-schema-type-mismatch': 'properties is used only with type object, items only with type array.',
  'no-server-example.com': 'Servers are not example.com or localhost.',
  'no-server-trailing-slash': 'Server URLs do not end with a slash.',
  'no-server-variables-empty-enum': 'Enums of server variables are not empty and contain the default.',
  'no-undefined-server-variable': 'Variables in server URLs are defined, and all defined variables are used.',
  'no-unresolved-refs': 'All references resolve.',
  'no-unsafe-markdown': 'Descriptions contain no Markdown that could run a script.',
  'no-unused-components': 'All components are used.',
  'nullable-type-sibling': 'nullable is used only together with type.',
  'operation-2xx-response': 'Operations have a 2xx response.',
  'operation-4xx-problem-details-rfc7807': '4xx responses are problem documents (RFC 7807).',
  'operation-4xx-response': 'Operations have a 4xx response.',
  'operation-description': 'Operations have a description.',
  'operation-operationId': 'Operations have an operationId.',
  'operation-operationId-unique': 'operationIds are unique.',
  'operation-operationId-url-safe': 'operationIds contain only characters that URLs allow.',
  'operation-parameters-unique': 'Parameters of an operation are unique.',
  'operation-singular-tag': 'Operations have at most one tag.',
  'operation-summary': 'Operations have a summary.',
  'operation-tag-defined': 'Tags of operations are defined in the document.',
  'parameter-description': 'Parameters have a description.',
  'path-declaration-must-exist': 'Parameters in paths have names.',
  'path-http-verbs-order': 'Methods of a path are in a fixed order.',
  'path-not-include-query': 'Paths do not contain a query string.',
  'path-parameters-defined': 'Parameters in paths are defined, and all defined path parameters are used.',
  'path-params-defined': 'Parameters in paths are defined, and all defined path parameters are used.',
  'path-segment-plural': 'Path segments are plural.',
  'paths-kebab-case': 'Paths are in kebab-case.',
  'request-mime-type': 'Request bodies use only the configured media types.',
  'required-string-property-missing-min-length': 'Required strings have a minLength.',
  'response-contains-header': 'Responses have the configured headers.',
  'response-contains-property': 'Response bodies have the configured properties.',
  'response-mime-type': 'Response bodies use only the configured media types.',
  'scalar-property-missing-example': 'Properties other than objects and arrays have an example.',
  'security-defined': 'Operations have security requirements, with defined schemes.',
  'security-scopes-defined': 'Scopes of operations are defined in their security scheme.',
  'spec-components-invalid-map-name':
    'Names of components contain only letters, digits, dots, hyphens and underscores.',
  'spec-ref-siblings': 'References have no siblings that would be ignored.',
  'spec-strict-refs': 'References are used only where the specification allows them.',
  struct: 'The document matches the structure of its specification.',
  'tag-description': 'Tags have a description.',
  'tags-alphabetical': 'Tags are in alphabetical order.',
};

/**
 * What a built-in rule requires; null if it is not listed here. The name may have a prefix for an
 * OpenAPI version: `oas3_1: struct`.
 */
function linterRuleMeaning(name: string): string | null {
  const text = name.replace(/^[\w/*. -]{1,80}: /, '');
  return own(meanings, text) ?? null;
}

function rulesetMarkdown(document: JsonObject, rules: readonly PlacedRule[], budget: number): string {
  const long = createLong<string>(budget, ({ length }) => length);
  const description = blockMarkdown(textOf(document['description']) || textOf(document['x-description']));
  const bases = extendedBy(document).slice(0, 100);
  if (description !== '') long.add(() => `${description}\n\n`);
  if (bases.length > 0) long.add(() => `Extends ${bases.map((name) => codeMarkdown(name)).join(' ')}\n\n`);
  const leftOut = leftOutOf(document);
  if (leftOut.length > 0)
    long.add(
      () =>
        `**This ruleset is partial. It does not check:** ${leftOut.map((name) => codeMarkdown(name)).join(' ')}\n\n`,
    );
  long.add(() => '## Rules\n\n');
  for (const { rule } of rules)
    long.add(() => {
      const { description: meaning, given, asked } = viewRule(rule);
      const text = inlineMarkdown(meaning);
      const places = given.length === 0 ? '' : `  - applies to ${given.map((path) => codeMarkdown(path)).join(' ')}\n`;
      const demands = asked.map(
        ({ field, demand }) => `  - ${field === '' ? '' : `${codeMarkdown(field)} `}${codeMarkdown(demand)}\n`,
      );
      return `- ${codeMarkdown(rule.name)} (${rule.severity})${text === '' ? '' : `: ${text}`}\n${places}${demands.join('')}`;
    });
  return long.parts.join('');
}

function rulesetNavigation(rules: readonly PlacedRule[]): Html {
  const links = rules
    .slice(0, longestNavigation)
    .map(({ rule, anchor }) => markup`<a href="#${anchor}">${nameText(rule.name, 80)}</a>`);
  return listHtml([navigationGroup('Rules', 'rules', links, rules.length - links.length, false)], 'nav');
}

/** Renders a ruleset. */
export function renderRuleset(document: JsonObject, kind: RulesetKind, imageOf: FindImage): Rendered {
  const anchors = createAnchors();
  const { rules, more } = rulesOf(document, kind);
  const placed = rules.map((rule) => ({ rule, anchor: anchors.rule(rule.name) }));
  const ids = new Set(['rules', ...placed.map(({ anchor }) => anchor)]);
  const descriptions = createDescriptions({ anchorOf: anchorIn(ids), imageOf });
  const { html, isCut } = rulesetHtml({ document, descriptions }, placed, pageBudget);
  return {
    html: formatHtml(html),
    navigation: formatHtml(rulesetNavigation(placed)),
    markdown: rulesetMarkdown(document, placed, pageBudget),
    truncated: isCut || more > 0,
    pages: null,
  };
}

/** The outline of a ruleset. */
export function outlineRuleset(document: JsonObject, kind: RulesetKind): Outline {
  const { rules, more } = rulesOf(document, kind);
  const text = (key: string) => textOf(document[key]) || textOf(document[`x-${key}`]);
  return {
    ...empty,
    title: shorten(text('title'), longest.title),
    description: firstParagraph(text('description'), longest.description),
    rules: rules.map(({ name, severity, description, definition }) => ({
      name: shorten(name, longest.name),
      severity,
      description: firstParagraph(description, longest.summary),
      digest: digestOfValue(definition),
    })),
    truncated: more > 0,
  };
}
