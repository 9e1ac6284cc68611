import { createHmac, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import type { Host, HostKind } from '../../src/hosts/host.ts';
import { createHosts } from '../../src/hosts/hosts.ts';
import { tokenText, type OpenedHost } from '../contract/host.ts';

/** The key of an app, as GitHub gives it: PKCS#1. */
export function writeAppKey(): { file: string } & Disposable {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const folder = mkdtempSync(join(tmpdir(), 'stele-app-'));
  const file = join(folder, 'app.pem');
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  return { file, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

/** One host, at `https://git.example.test`, whose API is elsewhere. */
export function hostAt(kind: HostKind, apiUrl: string, second: number, user: UserConfig = {}): Host {
  const config = checkConfig(
    { hosts: { [kind]: { url: 'https://git.example.test', apiUrl } }, ...user },
    { base: '/', data: '/nowhere' },
  );
  return createHosts(config, { second }).find((host) => host.kind === kind)!;
}

/** Credentials of every sort, and the names that the contract knows them by. */
export const credentials = {
  token: { env: 'STELE_TEST_HOST_TOKEN', host: 'git.example.test' },
  elsewhere: { env: 'STELE_TEST_HOST_TOKEN', host: 'other.example.test' },
  key: { sshKeyFile: '/nowhere/id_ed25519' },
};
process.env['STELE_TEST_HOST_TOKEN'] = tokenText;

export const named: OpenedHost['credentials'] = { good: 'token', elsewhere: 'elsewhere', ssh: 'key' };

export function hmac(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}
