import type { Rendered } from '../compile/sandboxes.ts';
import { kinds, type RulesetKind } from '../model/kinds.ts';
import { createAnchors, type Outline } from '../model/outline.ts';
import { createDescriptions } from './description.ts';
import { empty, listLimit, longest } from './outline.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { valueText } from './schema/example.ts';
import { formatHtml, joinHtml, lengthOf, listHtml, markup, nothing, type Html } from './html.ts';
import { digestOfValue, entriesOf, textOf, listOf, objectOf } from './json-value.ts';
import { anchorIn, createLong, navigationGroup, type FindImage, type Page } from './page.ts';
import { nameText, blockMarkdown, codeMarkdown, firstParagraph, inlineMarkdown } from './markdown.ts';
import { httpsUrl, oneLine } from '../model/escape.ts';

/** One rule of a Redocly or Spectral ruleset. */
export interface Rule {
  /** Its name, with a prefix if it applies only to some documents: `oas3_1: no-empty-servers`. */
  name: string;
  severity: 'error' | 'warn' | 'info' | 'hint' | 'off';
  /** Markdown. Empty for a built-in rule. */
  description: string;
  /** As written in the ruleset. */
  definition: unknown;
}

const numbers = ['error', 'warn', 'info', 'hint'] as const;

/** All rules of a ruleset and of those that it contains, in order. `isCut`: some were left out. */
export function rulesOf(ruleset: JsonObject, kind: RulesetKind): { rules: Rule[]; isCut: boolean } {
  const rules = [...collectRules(ruleset, kinds[kind].rules.severity).values()];
  return { rules: rules.slice(0, listLimit), isCut: rules.length > listLimit };
}

/** Whether a member of a ruleset holds rules. */
export function holdsRules(member: string): boolean {
  return /^(?:rules|overrides)$|Rules$/.test(member);
}

function collectRules(ruleset: JsonObject, usual: Rule['severity']): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const [base, which] of basesOf(ruleset)) {
    if (!isObject(base)) continue;
    for (const [name, rule] of collectRules(base, usual))
      rules.set(name, which === 'off' ? { ...rule, severity: 'off' } : rule);
  }
  for (const [scope, map] of mapsOf(ruleset))
    for (const [short, written] of entriesOf(map)) {
      const name = scope === '' ? short : `${scope}: ${short}`;
      const inherited = rules.get(name);
      const definition = inherited === undefined ? written : mergeDefinitions(inherited.definition, written);
      const severity = written === true && inherited !== undefined ? inherited.severity : severityOf(written, usual);
      rules.set(name, { name, severity, description: descriptionOf(definition), definition });
    }
  return rules;
}

/** What a rule that a contained ruleset defines is when another configures it. */
function mergeDefinitions(inherited: unknown, written: unknown): unknown {
  if (!isObject(inherited)) return written;
  if (isObject(written)) return { ...inherited, ...written };
  return typeof written === 'boolean' ? inherited : { ...inherited, severity: written };
}

/** What a ruleset extends: names, and rulesets that it contains, each with the part that is on. */
function basesOf(ruleset: JsonObject): [base: unknown, which: string][] {
  return [ruleset['extends']].flat().map((one: unknown) => {
    // Spectral: `[name, 'all']` says which of its rules are on.
    const [base, which] = Array.isArray(one) ? (one as unknown[]) : [one];
    return [base, textOf(which)];
  });
}

/** The names of what a ruleset extends: of one that it contains, that of its file. */
export function extendedBy(ruleset: JsonObject): string[] {
  return basesOf(ruleset).flatMap(([base, which]) => {
    const name = isObject(base) ? textOf(base['x-stele-file']) : textOf(base);
    return name === '' ? [] : [which === '' ? name : `${name} (${which})`];
  });
}

/** The rules of a ruleset as written, by the documents that they are for; empty for all. */
function mapsOf(ruleset: JsonObject): [scope: string, rules: unknown][] {
  // Redocly: `oas3_1Rules`. Spectral: `overrides`.
  const scoped = Object.keys(ruleset).filter((key) => /^[a-z]+[\d_]*Rules$/.test(key));
  return [
    ['', ruleset['rules']],
    ...scoped.map((key): [string, unknown] => [key.slice(0, -'Rules'.length), ruleset[key]]),
    ...listOf(ruleset['overrides']).map((part): [string, unknown] => {
      const { files, rules } = objectOf(part);
      return [listOf(files).map(textOf).join(', ') || 'override', rules];
    }),
  ];
}

function severityOf(definition: unknown, usual: Rule['severity']): Rule['severity'] {
  const written = isObject(definition) ? definition['severity'] : definition;
  if (typeof written === 'number') return numbers[written] ?? 'off';
  if (written === false) return 'off';
  const severity = ([...numbers, 'off'] as const).find((name) => name === written);
  return severity ?? usual;
}

function descriptionOf(definition: unknown): string {
  const { description, message } = objectOf(definition);
  return textOf(description) || textOf(message);
}

/** What a ruleset says of itself. Redocly has no members for it, only extensions. */
function aboutOf(ruleset: JsonObject, key: 'title' | 'description'): string {
  return textOf(ruleset[key]) || textOf(ruleset[`x-${key}`]);
}

/** The member of a published ruleset that lists what was left out of it, because it was partial. */
export const leftOutMember = 'x-stele-left-out';

/** What was left out of a published ruleset: names of rules and of other members. */
export function leftOutOf(ruleset: Readonly<Record<string, unknown>>): string[] {
  const names = ruleset[leftOutMember];
  return Array.isArray(names) ? names.map(String) : [];
}

/** What a rule applies to and requires, according to the ruleset. */
export interface RuleView {
  /** Markdown; empty if the ruleset has none. */
  description: string;
  /** Whether the ruleset only configures a built-in rule. */
  isBuiltIn: boolean;
  /** Path expressions, or the node types of an assertion. */
  given: string[];
  /** The requirements: a field and a demand on it. */
  asked: { field: string; demand: string }[];
  /** Where the rule is explained: a URL with https, or null. */
  url: string | null;
}

function viewRule({ name, description, definition }: Rule): RuleView {
  const rule = objectOf(definition);
  const { given, then, subject, assertions, where } = rule;
  const type = objectOf(subject)['type'];
  const properties = [objectOf(subject)['property']].flat().map(textOf).filter(Boolean);
  const conditions = listOf(where).map((one) => textOf(objectOf(objectOf(one)['subject'])['type']));
  return {
    description,
    isBuiltIn:
      !isObject(definition) || (given === undefined && subject === undefined && !/^(?:rule|assert)\//.test(name)),
    given: [...[given].flat().map(textOf), ...conditions, textOf(type)].filter(Boolean).slice(0, 50),
    asked: [
      ...[then].flat().filter(isObject).slice(0, 50).map(demandOf),
      ...entriesOf(assertions).map(([assertion, value]) => ({
        field: properties.join(', '),
        demand: `${assertion}: ${valueText(value)}`,
      })),
    ],
    url: httpsUrl(rule['documentationUrl']),
  };
}

function demandOf(then: Record<string, unknown>): { field: string; demand: string } {
  const options = then['functionOptions'];
  const name = textOf(then['function']);
  return { field: textOf(then['field']), demand: options === undefined ? name : `${name}: ${valueText(options)}` };
}

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
  const description = aboutOf(document, 'description');
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
  const description = blockMarkdown(aboutOf(document, 'description'));
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
  const linkTo = ({ rule, anchor }: PlacedRule) => markup`<a href="#${anchor}">${nameText(rule.name, 80)}</a>`;
  return listHtml([navigationGroup({ name: 'Rules', anchor: 'rules' }, rules, linkTo)], 'nav');
}

/** Renders a ruleset. */
export function renderRuleset(document: JsonObject, kind: RulesetKind, imageOf: FindImage): Rendered {
  const anchors = createAnchors();
  const { rules, isCut } = rulesOf(document, kind);
  const placed = rules.map((rule) => ({ rule, anchor: anchors.rule(rule.name) }));
  const ids = new Set(['rules', ...placed.map(({ anchor }) => anchor)]);
  const descriptions = createDescriptions({ anchorOf: anchorIn(ids), imageOf });
  const long = rulesetHtml({ document, descriptions }, kind, placed);
  return {
    html: formatHtml(long.html),
    navigation: formatHtml(rulesetNavigation(placed)),
    markdown: rulesetMarkdown(document, placed),
    truncated: isCut || long.isCut,
    pages: null,
  };
}

/** The outline of a ruleset. */
export function outlineRuleset(document: JsonObject, kind: RulesetKind): Outline {
  const { rules, isCut } = rulesOf(document, kind);
  return {
    ...empty,
    title: oneLine(aboutOf(document, 'title'), longest.title),
    description: firstParagraph(aboutOf(document, 'description'), longest.description),
    rules: rules.map(({ name, severity, description, definition }) => ({
      name: oneLine(name, longest.name),
      severity,
      description: firstParagraph(description, longest.summary),
      digest: digestOfValue(definition),
    })),
    truncated: isCut,
  };
}
