import type { Api, NamedSchema, PlacedOperation } from './openapi/api-view.ts';
import type { Heading } from './description.ts';
import { listHtml, markup, type Html } from './html.ts';
import { summaryOf } from './openapi/list-operations.ts';
import { methodHtml } from './openapi/operation-html.ts';
import { nameText, shorten } from './plain-text.ts';
import type { PlacedRule } from './ruleset/ruleset-html.ts';

// Number of entries from which the table of contents folds its groups.
const foldsAt = 60;
const longestNavigation = 6000;

/** The table of contents of an API. */
export function apiNavigation(api: Api): Html {
  const count = api.groups.reduce((sum, { operations }) => sum + operations.length, api.webhooks.length);
  const isFolded = count > foldsAt;
  let left = longestNavigation;
  const groupOf = (name: string, anchor: string, operations: readonly PlacedOperation[]): Html => {
    const links = operations.slice(0, left).map(operationLink);
    left -= links.length;
    return navigationGroup(name, anchor, links, operations.length - links.length, isFolded);
  };
  const schemas = api.schemas.slice(0, longestNavigation).map(schemaLink);
  const parts = [
    ...headingLinks(api.headings),
    ...(api.security.length === 0 ? [] : [markup`<a href="#security">Authorization</a>`]),
    ...api.groups.map(({ name, anchor, operations }) => groupOf(nameText(name, 80), anchor, operations)),
    ...(api.webhooks.length === 0 ? [] : [groupOf('Webhooks', 'webhooks', api.webhooks)]),
    ...(schemas.length === 0
      ? []
      : [navigationGroup('Schemas', 'schemas', schemas, api.schemas.length - schemas.length, true)]),
  ];
  return listHtml(parts, 'nav');
}

function operationLink({ operation, anchor }: PlacedOperation): Html {
  const { method, path, value } = operation;
  const label = summaryOf(operation, 80).replace(/(?<!\.)\.$/, '') || nameText(path, 80);
  const text = value['deprecated'] === true ? markup`<s>${label}</s>` : markup`${label}`;
  return markup`<a href="#${anchor}">${methodHtml(method)} ${text}</a>`;
}

// Most headings of the description in the table of contents.
const maxHeadings = 40;

/** The two highest levels of headings in the description. */
function headingLinks(headings: readonly Heading[]): Html[] {
  const highest = Math.min(...headings.map(({ level }) => level));
  const groups: { link: Html; below: Html[] }[] = [];
  for (const { title, anchor, level } of headings.slice(0, maxHeadings)) {
    const link = markup`<a href="#${anchor}">${shorten(title, 80)}</a>`;
    const last = groups.at(-1);
    if (level === highest || last === undefined) groups.push({ link, below: [] });
    else if (level === highest + 1) last.below.push(link);
  }
  return groups.map(({ link, below }) => markup`${link}${listHtml(below)}`);
}

function schemaLink({ name, anchor }: NamedSchema): Html {
  return markup`<a href="#${anchor}">${nameText(name, 80)}</a>`;
}

/** Links under a heading. The heading is a link, unless it folds them. */
function navigationGroup(name: string, anchor: string, links: readonly Html[], more: number, isFolded: boolean): Html {
  const list = listHtml(more > 0 ? [...links, markup`${more} more`] : links);
  return isFolded
    ? markup`<details><summary>${name}</summary>${list}</details>`
    : markup`<a href="#${anchor}">${name}</a>${list}`;
}

/** The table of contents of a JSON Schema. */
export function jsonSchemaNavigation([root, ...definitions]: readonly NamedSchema[]): Html {
  const links = definitions.slice(0, longestNavigation).map(schemaLink);
  const more = definitions.length - links.length;
  const start = markup`<a href="#${root!.anchor}">Schema</a>`;
  const group = navigationGroup('Definitions', 'definitions', links, more, false);
  return listHtml(links.length === 0 ? [start] : [start, group], 'nav');
}

/** The table of contents of a ruleset. */
export function rulesetNavigation(rules: readonly PlacedRule[]): Html {
  const links = rules
    .slice(0, longestNavigation)
    .map(({ rule, anchor }) => markup`<a href="#${anchor}">${nameText(rule.name, 80)}</a>`);
  return listHtml([navigationGroup('Rules', 'rules', links, rules.length - links.length, false)], 'nav');
}
