import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runStele, serveStele, type Serving } from './stele.ts';

// A rolling upgrade: the program before this one, of the same format, serves the same store beside it.
const root = new URL('../..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'stele-rolling-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The commit of the program before: `STELE_BEFORE`, else the last one whose `src` is not that of the working tree. */
function commitBefore(): string | null {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
  try {
    const named = process.env['STELE_BEFORE'];
    if (named !== undefined) return git('rev-parse', `${named}^{commit}`);
    const isChanged = git('status', '--porcelain', '--', 'src') !== '';
    const [newest, before] = git('rev-list', '-2', 'HEAD', '--', 'src').split('\n');
    return (isChanged ? newest : before) ?? null;
  } catch {
    return null;
  }
}

function programOf(commit: string): string {
  const program = join(folder, 'before');
  mkdirSync(program);
  const archive = execFileSync('git', ['-C', root, 'archive', commit], { maxBuffer: 256 * 1024 * 1024 });
  execFileSync('tar', ['-x', '-C', program], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(program, 'node_modules'));
  return join(program, 'src/cli.ts');
}

const before = commitBefore();

test.skipIf(before === null)(
  `two programs of one format serve one store (before: ${before?.slice(0, 12) ?? 'skipped: no git history'})`,
  async () => {
    const cli = programOf(before!);
    const data = join(folder, 'data');
    const config = join(folder, 'registry.config.mjs');
    const limits = { key: 1_000_000, address: 1_000_000, failures: 1_000_000 };
    writeFileSync(config, `export default { organizations: { acme: {} }, rateLimit: ${JSON.stringify(limits)} };\n`);
    const common = ['--config', config, '--data', data];
    const key = (
      await runStele(['keys', 'create', '--org', 'acme', '--name', 'k', '--scope', 'admin', ...common])
    ).stdout.trim();
    const old = await serveStele(common, { cli });
    const young = await serveStele(common);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const documentOf = (version: string) => ({ openapi: '3.1.0', info: { title: 'Pay', version }, paths: {} });
    const send = async ({ url }: Serving, method: string, path: string, body?: object) => {
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return [response.status, await response.json().catch(() => null)] as const;
    };
    const sees = (on: Serving, path: string) => async () => (await send(on, 'GET', path))[1] as unknown;
    try {
      expect((await send(old, 'POST', '/v1/apis', { slug: 'pay', name: 'Pay' }))[0]).toBe(201);
      await expect.poll(async () => (await send(young, 'GET', '/v1/apis/pay'))[0]).toBe(200);
      // Each publishes what the other serves, over the other's newest.
      for (const [index, [writer, reader]] of [
        [old, young],
        [young, old],
        [old, young],
        [young, old],
      ].entries() as ArrayIterator<[number, [Serving, Serving]]>) {
        const document = documentOf(`1.${index}.0`);
        const [status, answer] = await send(writer, 'POST', '/v1/apis/pay/spec', { document });
        expect(status, JSON.stringify(answer)).toBe(201);
        await expect.poll(sees(reader, '/@acme/apis/pay.json')).toEqual(document);
        for (let past = 0; past <= index; past++)
          expect(await sees(reader, `/@acme/apis/pay@1.${past}.0.json`)()).toEqual(documentOf(`1.${past}.0`));
      }
      // At once: one label has one winner, and both say the same.
      const raced = await Promise.all(
        [old, young].map((each, index) => {
          const document = { ...documentOf('2.0.0'), 'x-writer': index };
          return send(each, 'POST', '/v1/apis/pay/spec', { document, version: '2.0.0' });
        }),
      );
      expect(raced.map(([status]) => status).toSorted((one, other) => one - other)).toEqual([201, 409]);
      await expect
        .poll(async () => {
          const [one, other] = await Promise.all([old, young].map((each) => sees(each, '/@acme/apis/pay.json')()));
          return JSON.stringify(one) === JSON.stringify(other) && JSON.stringify(one).includes('2.0.0');
        })
        .toBe(true);
      // A revocation by one holds with the other.
      const made = await send(young, 'POST', '/v1/keys', { name: 'other', scopes: ['read'] });
      const { id } = made[1] as { id: string };
      expect((await send(old, 'DELETE', `/v1/keys/${id}`))[0]).toBe(204);
    } finally {
      expect(await Promise.all([old.stop(), young.stop()])).toEqual([0, 0]);
    }
    for (const which of [{ cli }, {}]) {
      const { code, stdout } = await runStele(['fsck', ...common], which);
      expect([code, stdout]).toEqual([0, expect.stringContaining(': 0 damaged')]);
    }
  },
  180_000,
);
