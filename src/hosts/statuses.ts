import { createHash } from 'node:crypto';
import type { Check } from '../model/check.ts';

/** The text, cut to at most `most` characters and ended with `…` if it was cut. */
export function shorten(text: string, max: number): string {
  const characters = Array.from(text.slice(0, 2 * max));
  return text.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`.slice(0, max);
}

/** A unique name of at most `most` characters: a digest replaces the end of a longer one. */
export function shortName(name: string, max: number): string {
  if (name.length <= max) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, max - 17)}-${digest}`;
}

/** The link of a check under this member name, or nothing. */
export function linkOf<Name extends string>({ url }: Check, member: Name): { [name in Name]?: string } {
  return (url === null ? {} : { [member]: url }) as { [name in Name]?: string };
}
