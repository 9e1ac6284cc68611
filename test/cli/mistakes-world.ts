import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { runStele, type Ended } from '../e2e/stele.ts';
import { runHere } from './in-process.ts';

export interface MistakesWorld {
  folder: string;
  run(...args: string[]): Promise<Ended>;
  /** In a process of its own. */
  start(...args: string[]): Promise<Ended>;
}

/** A folder with what a newcomer gets wrong, a store, and commands that run there. For all tests of the file that calls it. */
export function openMistakes(): MistakesWorld {
  const folder = join(tmpdir(), `stele-mistakes-${randomUUID()}`);
  const files: Record<string, string | Uint8Array> = {
    'api.yaml': 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n',
    'schema.json': '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}',
    'empty.yaml': '',
    'binary.yaml': new Uint8Array([0xff, 0xfe, 0, 1, 0x80]),
    'escape.yaml': 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n"\\e[2J": 1\n',
    'url.config.ts': "export default { url: 'https://contracts.example.com' };",
    'unknown.config.ts': 'export default { sync: { intervall: 3 } };',
    'broken.config.ts': 'export default {\n  sync: {\n',
    'nothing.config.ts': 'export const config = {};',
    'kind.config.ts': "export default { store: { kind: 'nfs', path: 'x' }, log: { level: 'loud' } };",
    'silent.config.ts':
      "export default { organizations: { acme: { repositories: [{ url: 'https://127.0.0.1:9/x' }] } } };",
    'secret.config.ts': `export default { login: { issuer: 'https://id.example.com', clientId: 'x',
      clientSecret: { env: 'ABSENT' }, sessionSecret: { env: 'ABSENT' } } };`,
    'credential.config.ts': `export default { organizations: { acme: { repositories: [
      { url: 'https://git.example.com/x', credential: 'git' }] } } };`,
  };
  const options = { cwd: folder, env: { STELE_DATA: join(folder, 'data') } };
  const run = (...args: string[]) => runHere(args, options);

  beforeAll(async () => {
    for (const name of ['plain', 'project/specs']) mkdirSync(join(folder, name), { recursive: true });
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    execFileSync('git', ['init', '-q', join(folder, 'project')]);
    // It holds nothing else of the names that are asked for.
    await run('keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'read');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  return { folder, run, start: (...args) => runStele(args, options) };
}
