import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf } from '../../../src/model/digest.ts';
import { ask, type Answer } from '../http.ts';
import { openServed, type Served } from '../served.ts';

let served: Served;
beforeAll(async () => {
  served = await openServed({ rateLimit: { failures: 1000 } });
});
afterAll(() => served[Symbol.asyncDispose]());

type Headers = [string, string][];

/** An answer whose length is the one that it says. */
async function get(target: string, headers: Headers = [], method = 'GET'): Promise<Answer> {
  const answer = await ask(served.port, { method, target, headers });
  if (method === 'GET' && answer.status !== 304)
    expect(answer.headers.get('content-length'), target).toBe(String(answer.body.length));
  return answer;
}

const json = async (target: string, headers: Headers = []) =>
  JSON.parse((await get(target, headers)).body.toString()) as Record<string, never>;
const withKey = (): Headers => [['Authorization', `Basic ${served.values['basic']}`]];
const hasSkopeo = (() => {
  try {
    return execFileSync('skopeo', ['--version']).length > 0;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasSkopeo)(`skopeo${hasSkopeo ? '' : ' (skipped: skopeo is not installed)'}`, () => {
  test('copies a version whose digest is the same, and a private one with a key', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stele-oci-'));
    const copy = async (name: string, tag: string, ...more: string[]) => {
      const target = join(folder, name);
      const source = `docker://127.0.0.1:${served.port}/acme/apis/${name}:${tag}`;
      const home = { ...process.env, HOME: folder, REGISTRY_AUTH_FILE: join(folder, 'auth.json') };
      const args = ['--insecure-policy', 'copy', '--src-tls-verify=false', ...more, source, `dir:${target}`];
      await promisify(execFile)('skopeo', args, { env: home });
      return digestOf(await readFile(join(target, 'manifest.json')));
    };
    try {
      expect(await copy('pay', '1.1.0')).toBe(served.values['manifest']);
      const secret = await json('/v2/acme/apis/secret/manifests/1.0.0', withKey());
      const key = `anybody:${served.values['acme']}`;
      expect(await copy('secret', '1.0.0', '--src-creds', key)).toBe(digestOf(JSON.stringify(secret)));
      await expect(copy('secret', '1.0.0')).rejects.toThrow(/NAME_UNKNOWN|name unknown|No such repository/i);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
