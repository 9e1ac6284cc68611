import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DoctorCheck } from '../../src/cli/setup/checks.ts';
import { serveStele, type Serving } from '../e2e/stele.ts';
import { openIdentityProvider, type IdentityProvider } from '../servers/oidc.ts';
import { runHere } from './in-process.ts';

let folder: string;

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'stele-doctor-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeFolder(name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name);
}

describe('stele init', () => {
  test('overwrites nothing', async () => {
    const cwd = makeFolder('taken');
    writeFileSync(join(cwd, 'registry.config.yaml'), 'proxies: 1\n');
    const stderr = 'There is a configuration already: registry.config.yaml. Nothing was written.\n';
    expect(await runHere(['init'], { cwd })).toEqual({ code: 2, stdout: '', stderr });
    expect(readFileSync(join(cwd, 'registry.config.yaml'), 'utf8')).toBe('proxies: 1\n');
  });

  test('answers with JSON', async () => {
    const { stdout } = await runHere(['init', '--json'], { cwd: makeFolder('json') });
    expect(JSON.parse(stdout)).toEqual({ file: 'registry.config.ts', organization: 'local', repositories: [] });
  });
});

describe('stele doctor', () => {
  test('no check ends its first sentence twice', async () => {
    const { stdout } = await runHere(['doctor'], { cwd: makeFolder('sentences') });
    expect(stdout).toContain('so the defaults hold. ');
    expect(stdout).not.toContain('..');
  });

  let stele: Serving;
  let provider: IdentityProvider;
  /** A proxy in front of the server, which adds the address that it was asked from. */
  const proxy = createServer((asked, answer) => {
    const headers = { ...asked.headers, 'x-forwarded-for': asked.socket.remoteAddress! };
    const options = { headers, method: asked.method, path: asked.url };
    asked.pipe(
      request(stele.url, options, (got) => {
        answer.writeHead(got.statusCode!, got.headers);
        got.pipe(answer);
      }),
    );
  });
  let config: Record<string, unknown>;
  let cwd: string;

  beforeAll(async () => {
    cwd = makeFolder('served');
    writeFileSync(join(cwd, 'api.yaml'), 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n');
    provider = await openIdentityProvider({ clients: [] });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    config = { url, organizations: { acme: {} }, webhooks: { allowPrivateAddresses: true } };
    writeFileSync(join(cwd, 'registry.config.json'), JSON.stringify(config));
    const made = await runHere(['keys', 'create', '--org', 'acme', '--name', 'a', '--scope', 'admin'], { cwd });
    await runHere(['publish', 'api.yaml', '@acme/apis/pay'], { cwd });
    stele = await serveStele([], { cwd });
    while (!(await fetch(`${stele.url}/readyz`)).ok) await delay(100);
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    for (const endpoint of [`http://127.0.0.1:${port}/`, stele.url]) {
      const headers = { authorization: `Bearer ${made.stdout.trim()}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ url: endpoint });
      const created = await fetch(`${stele.url}/v1/webhooks`, { method: 'POST', headers, body });
      if (created.status !== 201) throw new Error(await created.text());
    }
  });
  afterAll(async () => {
    await stele.stop('SIGKILL');
    await provider[Symbol.asyncDispose]();
    proxy.close();
  });

  async function examine(change: object): Promise<{ code: number | null; checks: DoctorCheck[] }> {
    writeFileSync(join(cwd, 'registry.config.json'), JSON.stringify({ ...config, ...change }));
    const { code, stdout } = await runHere(['doctor', '--json'], { cwd });
    return { code, checks: (JSON.parse(stdout) as { checks: DoctorCheck[] }).checks };
  }

  const stateOf = (checks: readonly DoctorCheck[], name: string) =>
    checks.filter((check) => check.name === name).map(({ state }) => state);

  test('says that it found no configuration', async () => {
    const { stdout } = await runHere(['doctor', '--json'], { cwd: makeFolder('elsewhere') });
    const found = (JSON.parse(stdout) as { checks: DoctorCheck[] }).checks.find(({ name }) => name === 'config');
    expect(found).toMatchObject({
      state: 'warning',
      detail: expect.stringMatching(/^no configuration found in /) as string,
    });
  });

  test('finds nothing wrong where nothing is', async () => {
    const { code, checks } = await examine({ proxies: 1 });
    expect(checks.filter(({ state }) => state === 'problem')).toEqual([]);
    expect(code).toBe(0);
    for (const name of ['node', 'git', 'sandbox', 'secrets', 'disk', 'store', 'url', 'clock', 'proxies'])
      expect(stateOf(checks, name), name).not.toEqual([]);
    expect(checks.find(({ name }) => name === 'store')!.detail).toMatch(/takes writes$/);
  });

  test('tells proxies that are not as many as configured, with what to do', async () => {
    const few = await examine({ proxies: 0 });
    expect(few.code).toBe(1);
    expect(few.checks.find(({ name }) => name === 'proxies')).toMatchObject({
      state: 'problem',
      detail: expect.stringMatching(/all readers count as one address$/) as string,
      advice: expect.stringMatching(/^Set proxies to 1,/) as string,
    });
    const many = await examine({ proxies: 2 });
    expect(many.checks.find(({ name }) => name === 'proxies')!.detail).toMatch(/anybody can pretend/);
  });

  test('names a default ruleset that does not exist', async () => {
    const organizations = { acme: { defaults: { ruleset: '@acme/rulesets/gone' } } };
    const { code, checks } = await examine({ proxies: 1, organizations });
    expect(code).toBe(1);
    expect(checks.find(({ name }) => name === 'ruleset')).toMatchObject({
      state: 'problem',
      detail: 'default of @acme: The ruleset @acme/rulesets/gone does not exist. Publish it, or attach another one',
    });
  });

  test('connects to webhook endpoints and sends them nothing', async () => {
    const { checks } = await examine({ proxies: 1 });
    const endpoints = checks.filter(({ name }) => name.startsWith('webhook'));
    expect(endpoints.map(({ state }) => state).sort()).toEqual(['ok', 'warning']);
    expect(endpoints.find(({ state }) => state === 'warning')!.detail).toMatch(/refused the connection/);
  });

  test('asks the issuers, and names variables that are not set', async () => {
    const job = { organization: 'acme', repository: 'acme/pay' };
    const login = { clientId: 'stele', clientSecret: { env: 'ABSENT' }, sessionSecret: { env: 'PATH' } };
    const { code, checks } = await examine({
      login: { ...login, issuer: provider.issuer },
      trustedPublishing: [{ ...job, issuer: 'http://127.0.0.1:9' }],
    });
    expect(stateOf(checks, 'oidc')).toEqual(['ok', 'problem']);
    expect(checks.find(({ name }) => name === 'secrets')).toMatchObject({
      state: 'problem',
      detail: 'not set: ABSENT',
    });
    expect(code).toBe(1);
  });

  test('says of a registry that does not run what to start, in a line each', async () => {
    const planned = makeFolder('planned');
    writeFileSync(join(planned, 'registry.config.json'), '{ "url": "http://127.0.0.1:9" }');
    const { code, stdout, stderr } = await runHere(['doctor'], { cwd: planned });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^problem +url +http:\/\/127\.0\.0\.1:9 cannot be reached: .*\. Start stele serve/m);
    expect(stdout).toMatch(/^ok +store .*: none yet\. The first start makes it\.$/m);
    expect(stderr).toMatch(/^\d+ checks: 1 problem, \d+ warnings?\n$/);
  });
});
