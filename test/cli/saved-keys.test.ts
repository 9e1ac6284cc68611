// Which key goes to which registry: from the environment, from `stele login`, or from a `.netrc`.
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readLogState } from '../../src/cli/log/check-log.ts';
import { keyFor } from '../../src/cli/registry-client.ts';
import { formatKey } from '../../src/model/key.ts';

const keyOf = (letter: string) =>
  formatKey({ id: letter.repeat(12), secret: letter.repeat(32), checksum: letter.repeat(6) });
const [first, second] = [keyOf('a'), keyOf('b')];
let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'stele-'));
  await mkdir(join(home, 'stele'));
  vi.stubEnv('XDG_CONFIG_HOME', home);
  vi.stubEnv('NETRC', join(home, 'netrc'));
  vi.stubEnv('STELE_KEY', '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

test('a password of a .netrc goes to its own host alone, and never without TLS', async () => {
  const lines = ['machine one.example login x password', first, '# machine two.example', 'machine three.example', 'password', second]; // prettier-ignore
  await writeFile(join(home, 'netrc'), lines.join('\n'));
  expect(keyFor('https://one.example')).toBe(first);
  expect(keyFor('https://three.example/contracts')).toBe(second);
  expect(keyFor('https://two.example')).toBeUndefined();
  expect(keyFor('http://one.example')).toBeUndefined();
});

test('a home that cannot be entered has no keys, and has seen no log', async () => {
  // Root may enter every folder, but not a loop of links.
  await symlink(join(home, 'loop'), join(home, 'loop'));
  vi.stubEnv('XDG_CONFIG_HOME', join(home, 'loop'));
  vi.stubEnv('XDG_CACHE_HOME', join(home, 'loop'));
  vi.stubEnv('NETRC', join(home, 'loop', 'netrc'));
  expect(keyFor('https://one.example')).toBeUndefined();
  expect(readLogState('https://one.example')).toBeNull();
});

test('a file of saved keys that others can read is refused, and so is one that holds none', async () => {
  const file = join(home, 'stele', 'keys.json');
  await writeFile(file, JSON.stringify({ 'https://one.example': { id: 'a', key: first, expiresAt: null } }));
  await chmod(file, 0o600);
  expect(keyFor('https://one.example/')).toBe(first);
  expect(keyFor('https://other.example')).toBeUndefined();
  await chmod(file, 0o640);
  expect(() => keyFor('https://one.example')).toThrow(`Others can read ${file}`);
  await chmod(file, 0o600);
  await writeFile(file, '{"https://one.example": 1}');
  expect(() => keyFor('https://one.example')).toThrow('does not hold the keys of registries');
});
