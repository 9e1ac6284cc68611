import type { Rendered } from '../compile/sandboxes.ts';
import { kinds, type RulesetKind } from '../model/kinds.ts';
import { createAnchors, type Outline } from '../model/outline.ts';
import { createDescriptions } from './description.ts';
import { empty, longest } from './outline.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { leftOutOf, viewRule, extendedBy, rulesOf, type Rule } from './rules.ts';
import { valueText } from './schema/example.ts';
import { formatHtml, joinHtml, lengthOf, listHtml, markup, nothing, type Html } from './html.ts';
import { digestOfValue, entriesOf, textOf } from './json-value.ts';
import { anchorIn, createLong, longestNavigation, navigationGroup, type FindImage, type Page } from './page.ts';
import { nameText, blockMarkdown, codeMarkdown, firstParagraph, inlineMarkdown, shorten } from './markdown.ts';

interface PlacedRule {
  rule: Rule;
  anchor: string;
}

const maxLeftOut = 500;

function rulesetHtml(
  page: Pick<Page, 'document' | 'descriptions'>,
  kind: RulesetKind,
  rules: readonly PlacedRule[],
): { html: Html; isCut: boolean } {
  const long = createLong(lengthOf);
  for (const one of rules)
    long.add(
      () => ruleHtml(page, kind, one),
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
  return { html, isCut: long.isCut() };
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

function ruleHtml({ descriptions }: Pick<Page, 'descriptions'>, kind: RulesetKind, { rule, anchor }: PlacedRule): Html {
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
      ${isBuiltIn ? markup`<p><a href="${kinds[kind].rules.documentation}" rel="nofollow noopener noreferrer">Built-in rule</a>${settings(rule.definition)}</p>` : nothing}
      ${url === null ? nothing : markup`<p><a href="${url}" rel="nofollow noopener noreferrer">Documentation</a></p>`}
    </td>
  </tr>`;
}

/** The options of a built-in rule besides its severity. */
function settings(definition: unknown): Html {
  const options = entriesOf(definition).filter(
    ([key]) => key !== 'severity' && key !== 'description' && key !== 'message',
  );
  if (!isObject(definition) || options.length === 0) return markup`.`;
  return markup`, with options <code>${valueText(Object.fromEntries(options))}</code>.`;
}

function rulesetMarkdown(document: JsonObject, rules: readonly PlacedRule[]): string {
  const long = createLong<string>(({ length }) => length);
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
  const { html, isCut } = rulesetHtml({ document, descriptions }, kind, placed);
  return {
    html: formatHtml(html),
    navigation: formatHtml(rulesetNavigation(placed)),
    markdown: rulesetMarkdown(document, placed),
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
