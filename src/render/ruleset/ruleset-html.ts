import { isObject } from '../../model/json.ts';
import { leftOutOf } from './left-out.ts';
import { valueText } from '../schema/example.ts';
import { joinHtml, lengthOf, markup, nothing, type Html } from '../html.ts';
import { entriesOf, textOf } from '../json-value.ts';
import { linterRuleMeaning } from './linter-rules.ts';
import { createLong } from '../long.ts';
import type { Page } from '../page.ts';
import { nameText } from '../plain-text.ts';
import { viewRule } from './rule-view.ts';
import { extendedBy, type Rule } from './rules.ts';

/** A rule with its anchor. */
export interface PlacedRule {
  rule: Rule;
  anchor: string;
}

/** The most names listed of what was left out. */
const maxLeftOut = 500;

/** The reference of a ruleset: its description and a table of its rules. */
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
