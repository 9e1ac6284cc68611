import { createHash } from 'node:crypto';
import type { Check } from '../model/check.ts';

/** The first characters of a text, with `…` where some are missing. */
export function shorten(text: string, most: number): string {
  const characters = Array.from(text.slice(0, 2 * most));
  return text.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`.slice(0, most);
}

/** A name that fits and stays different from others: its end becomes a digest of it where it is too long. */
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, most - 17)}-${digest}`;
}

/** The link of a check as a member, where it has one. */
export function linkOf<Name extends string>({ url }: Check, member: Name): { [name in Name]?: string } {
  return (url === null ? {} : { [member]: url }) as { [name in Name]?: string };
}
