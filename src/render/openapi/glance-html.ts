import { markup, nothing, type Html } from '../html.ts';
import { nameText } from '../plain-text.ts';
import type { Page } from '../page.ts';
import { operationLink } from './api-pages.ts';
import type { Api } from './api-view.ts';

/** Characters of a description after which the first screen is full anyway. */
const longestDescription = 1500;

/** Most operations that are listed. Of more, only their tags are. */
const maxOperations = 24;
const maxTags = 40;

/** What an API can do, on the first screen: its operations, or its tags. Nothing where a long description stands there. */
export function glanceHtml(page: Page, { groups }: Api, description: string): Html {
  const operations = groups.flatMap((group) => group.operations);
  if (description.length > longestDescription || operations.length === 0) return nothing;
  if (operations.length > maxOperations && groups.length < 2) return nothing;
  const lines =
    operations.length <= maxOperations
      ? operations.map(operationLink)
      : groups
          .slice(0, maxTags)
          .map(
            ({ name, anchor, description: text, operations: own }) =>
              markup`<a href="#${anchor}">${nameText(name, 80)}</a> <span class="count">${own.length}</span> ${page.descriptions.brief(text)}`,
          );
  return markup`<h2>At a glance</h2>
    <ul class="index">${lines.map((line) => markup`<li>${line}</li>`)}</ul>`;
}
