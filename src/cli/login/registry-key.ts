import { readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { netrcFile, readEnvironment, userConfigFolder } from '../../config/environment.ts';
import { RegistryError } from '../../model/errors.ts';
import { isObject, parseJson } from '../../model/json.ts';
import { parseKey } from '../../model/key.ts';

/** A key that `stele login` got, for one registry. */
export interface SavedKey {
  id: string;
  key: string;
  expiresAt: string | null;
}

/**
 * The key to send to a registry that the user names: STELE_KEY, else the one that `stele login`
 * saved for it, else the password for its host in `~/.netrc`, if that is a key. Undefined if there
 * is none. Throws `malformed` for a file of saved keys that others may read.
 */
export function keyFor(registry: string): string | undefined {
  return readEnvironment().key || (savedKeyOf(registry)?.key ?? passwordOf(new URL(registry)));
}

/** The saved key of a registry; undefined if nobody logged in there. */
export function savedKeyOf(registry: string): SavedKey | undefined {
  return readSaved()[nameOf(registry)];
}

/** Saves the key of a registry, or forgets it (null), in a file that only the user can read. */
export async function saveKey(registry: string, saved: SavedKey | null): Promise<void> {
  const { [nameOf(registry)]: _before, ...others } = readSaved();
  const all = saved === null ? others : { ...others, [nameOf(registry)]: saved };
  const file = savedFile();
  if (Object.keys(all).length === 0) return rm(file, { force: true });
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  const unnamed = `${file}.${process.pid}`;
  await writeFile(unnamed, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(unnamed, file);
}

/** The file with the saved keys, for people. */
export function savedFile(): string {
  return join(userConfigFolder(), 'stele', 'keys.json');
}

function nameOf(registry: string): string {
  return registry.replace(/\/+$/, '');
}

function readSaved(): Record<string, SavedKey> {
  const file = savedFile();
  const text = readPrivate(file);
  if (text === null) return {};
  const saved = parseJson(Buffer.from(text));
  if (isObject(saved) && Object.values(saved).every(isSavedKey)) return saved as Record<string, SavedKey>;
  throw new RegistryError('malformed', `${file} does not hold the keys of registries. Delete it, and log in again.`);
}

function isSavedKey(value: unknown): boolean {
  return isObject(value) && typeof value['id'] === 'string' && typeof value['key'] === 'string';
}

/** The text of a file with secrets; null if it is absent. */
function readPrivate(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw new RegistryError('malformed', `Others can read ${file}, which holds keys. Run: chmod 600 ${file}`);
  return readFileSync(file, 'utf8');
}

/** The password for a host in `~/.netrc` (the format of curl's manual). Plain http is only for this machine. */
function passwordOf({ protocol, hostname }: URL): string | undefined {
  if (protocol !== 'https:' && !/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)) return undefined;
  const file = netrcFile();
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) return undefined;
  const words = readFileSync(file, 'utf8')
    .replace(/^\s*#.*$/gm, '')
    .split(/\s+/);
  let isHere = false;
  for (const [index, word] of words.entries()) {
    if (word === 'machine') isHere = words[index + 1] === hostname;
    else if (word === 'default') isHere = false;
    else if (word === 'password' && isHere) {
      const password = words[index + 1] ?? '';
      return parseKey(password) === null ? undefined : password;
    }
  }
  return undefined;
}
