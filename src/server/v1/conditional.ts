import { RegistryError } from '../../model/errors.ts';
import type { Guard } from '../../registry/lives.ts';
import type { Call } from './call.ts';

/**
 * The ETag of a record: the generation that it shows, and that of another record if it shows that
 * one's state too. Changes check only the first.
 */
export function etagOf(generation: number, other?: number): string {
  return other === undefined ? `"${generation}"` : `"${generation}.${other}"`;
}

/** Whether `If-None-Match` contains this ETag (RFC 9110 §13.1.2, weak comparison). */
export function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || tagsIn(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

/**
 * Checks `If-Match` (RFC 9110 §13.1.1) against the generation to be replaced. Throws
 * `precondition_failed` if it is another one.
 */
export function guardOf({ asker }: Pick<Call, 'asker'>): Guard {
  const header = asker.ifMatch;
  if (header === undefined || header.trim() === '*') return () => undefined;
  const tags = tagsIn(header);
  if (tags.length === 0)
    throw new RegistryError(
      'malformed',
      'If-Match is not an entity tag. Send the ETag exactly as received, with its double quotes.',
    );
  return ({ generation }) => {
    const isNamed = tags.some((tag) => new RegExp(`^"${generation}(?:\\.\\d+)?"$`).test(tag));
    if (!isNamed) {
      const extra = { current: etagOf(generation) };
      throw new RegistryError('precondition_failed', 'The resource has changed since you read it. Read it again.', {
        extra,
      });
    }
  };
}

function tagsIn(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
