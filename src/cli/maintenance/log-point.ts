import { RegistryError } from '../../model/errors.ts';
import type { LogEndPoint } from '../../registry/maintenance/accept-loss.ts';

/** Parses a log and the number of its last entry, such as `@acme:120`; null for another text. */
export function parseLogEnd(text: string): LogEndPoint | null {
  const [, log, sequence] = /^(@[a-z0-9-]+|registry|tree):(\d{1,15})$/.exec(text) ?? [];
  return log === undefined ? null : { log, sequence: Number(sequence) };
}

/** As `parseLogEnd`, but throws `malformed`. */
export function endIn(text: string): LogEndPoint {
  const end = parseLogEnd(text);
  if (end !== null) return end;
  throw new RegistryError(
    'malformed',
    `${JSON.stringify(text)} is not a log with the number of its last entry. Use a form such as @acme:120.`,
  );
}
