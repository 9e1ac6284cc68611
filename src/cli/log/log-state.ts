import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userCacheFolder } from '../../config/environment.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { isObject, parseJson } from '../../model/json.ts';
import { parseVerifierKey, type VerifierKey } from '../../model/transparency/note.ts';

/** What this user has seen of the public log of a registry. */
export interface LogState {
  /** The verifier key that signs it: that of the first sight, or the one that it announced. */
  key: string;
  /** The index of the leaf that announced the key; 0 if it is not known. Absent in older files. */
  keyAt?: number;
  /** Keys that signed it before. Absent: none. */
  earlier?: string[];
  /** The newest checkpoint, as text. */
  checkpoint: string;
}

/** The file that remembers the log of a registry. */
function logStateFile(registry: string): string {
  return join(userCacheFolder(), 'stele', 'logs', `${hexOf(digestOf(registry)).slice(0, 32)}.json`);
}

/** What was seen of a registry's log; null: nothing. Throws `malformed` for a file that is damaged. */
export function readLogState(registry: string): LogState | null {
  const file = logStateFile(registry);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const state = parseJson(text);
  if (isObject(state) && typeof state['key'] === 'string' && typeof state['checkpoint'] === 'string')
    return state as unknown as LogState;
  throw new RegistryError(
    'malformed',
    `${file} is damaged. It says what was seen of the public log of ${registry}. Restore it, or remove it to begin anew.`,
  );
}

/** Remembers what was seen of a registry's log. */
export function writeLogState(registry: string, state: LogState): void {
  const file = logStateFile(registry);
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(state)}\n`);
  renameSync(temporary, file);
}

/** The keys that may have signed what was kept, the present one first. */
export function keysOf({ key, earlier = [] }: LogState): VerifierKey[] {
  return [key, ...earlier].flatMap((text) => parseVerifierKey(text) ?? []);
}
