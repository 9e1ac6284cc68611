import { isSafeLink, markup, type Html } from './html.ts';
import { nameText, shorten } from './plain-text.ts';

/** A link to another site; plain text if the URL is not allowed. */
export function outsideLink(url: string, label: string): Html {
  const text = shorten(label, 300) || nameText(url, 300);
  if (!isSafeLink(url) || url.startsWith('#')) return markup`${text}`;
  return markup`<a href="${url}" rel="nofollow noopener noreferrer">${text}</a>`;
}
