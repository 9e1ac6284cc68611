import { valueText } from '../schema/example.ts';
import { joinHtml, lengthOf, markup, nothing, type Html } from '../html.ts';
import { entriesOf, isObject, textOf, type JsonObject } from '../json-value.ts';
import { linterRuleMeaning } from './linter-rules.ts';
import { createLong } from '../long.ts';
import type { Page } from '../page.ts';
import { nameText } from '../plain-text.ts';
import { viewRule } from './rule-view.ts';
import type { Rule } from './rules.ts';

/** A rule with the name of its place on the page. */
export interface PlacedRule {
  rule: Rule;
  anchor: string;
}

/** The reference of a ruleset: what it says of itself, and a table of its rules. */
export function rulesetHtml(
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
    ${rules.length === 0 ? markup`<p>It has no rules of its own.</p>` : table}
  </div>`;
  return { html, isCut: long.isCut };
}

function introHtml({ document, descriptions }: Pick<Page, 'document' | 'descriptions'>): Html {
  const taken = extendedBy(document);
  const description = textOf(document['description']) || textOf(document['x-description']);
  if (taken.length === 0 && description.trim() === '') return nothing;
  const list = markup`<p>Extends${taken.slice(0, 100).map((name) => markup` <code>${name.slice(0, 200)}</code>`)}</p>`;
  return markup`<section class="intro">
    ${descriptions.block(description, 3)}${taken.length === 0 ? nothing : list}
  </section>`;
}

/** The rulesets that this one begins with. */
export function extendedBy(document: JsonObject): string[] {
  const named = [document['extends']].flat().map((one: unknown) => {
    // Spectral's `[name, 'all']` says how many of its rules are on.
    const [name, which] = Array.isArray(one) ? (one as unknown[]) : [one];
    return textOf(which) === '' ? textOf(name) : `${textOf(name)} (${textOf(which)})`;
  });
  return named.filter(Boolean);
}

function severityHtml({ severity }: Rule): Html {
  return markup`<b class="severity ${severity}">${severity}</b>`;
}

function ruleHtml({ descriptions }: Pick<Page, 'descriptions'>, { rule, anchor }: PlacedRule): Html {
  const { description, isBuiltIn, given, asked } = viewRule(rule);
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
      ${given.length === 0 ? nothing : markup`<p>Looks at${places}</p>`}
      ${demands.length === 0 ? nothing : markup`<ul class="props">${demands}</ul>`}
      ${isBuiltIn ? builtInHtml(rule, description) : nothing}
    </td>
  </tr>`;
}

/** What a rule of the linter's own asks for, unless the ruleset says it itself. */
function builtInHtml({ name, definition }: Rule, description: string): Html {
  const meaning = description.trim() === '' ? linterRuleMeaning(name) : null;
  return markup`${meaning === null ? nothing : markup`<p>${meaning}</p>`}<p>A rule that the linter brings along${settings(definition)}</p>`;
}

/** How the ruleset sets a built-in rule up, beyond its severity. */
function settings(definition: unknown): Html {
  const own = entriesOf(definition).filter(([key]) => key !== 'severity' && key !== 'description' && key !== 'message');
  if (!isObject(definition) || own.length === 0) return markup`.`;
  return markup`, set up with <code>${valueText(Object.fromEntries(own))}</code>.`;
}
