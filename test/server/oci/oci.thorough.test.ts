import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../../src/model/digest.ts';
import { openOci } from './oci-world.ts';

const oci = openOci();
const { json, withKey } = oci;
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
      const source = `docker://127.0.0.1:${oci.served.port}/acme/apis/${name}:${tag}`;
      const home = { ...process.env, HOME: folder, REGISTRY_AUTH_FILE: join(folder, 'auth.json') };
      const args = ['--insecure-policy', 'copy', '--src-tls-verify=false', ...more, source, `dir:${target}`];
      await promisify(execFile)('skopeo', args, { env: home });
      return digestOf(await readFile(join(target, 'manifest.json')));
    };
    try {
      expect(await copy('pay', '1.1.0')).toBe(oci.served.values['manifest']);
      const secret = await json('/v2/acme/apis/secret/manifests/1.0.0', withKey());
      const key = `anybody:${oci.served.values['acme']}`;
      expect(await copy('secret', '1.0.0', '--src-creds', key)).toBe(digestOf(JSON.stringify(secret)));
      await expect(copy('secret', '1.0.0')).rejects.toThrow(/NAME_UNKNOWN|name unknown|No such repository/i);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
