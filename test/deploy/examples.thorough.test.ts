import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runHere } from '../cli/in-process.ts';
import { serveStele, type Serving } from '../e2e/stele.ts';
import { createBrowser } from '../server/login/browser.ts';
import { caddyProgram, hasCaddy } from '../servers/caddy.ts';
import { hasNginx, nginxProgram } from '../servers/nginx.ts';
import { answers, freePort } from '../servers/ports.ts';
import { startS3 } from '../servers/s3.ts';

/** `deploy/examples/`: the commands of each README, with what it shows. */

const examples = fileURLToPath(new URL('../../deploy/examples/', import.meta.url));

let folder: string;
let served: Serving | null;
let children: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stele-example-'));
  served = null;
  children = [];
});
afterEach(async () => {
  await served?.stop('SIGKILL');
  for (const child of children) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** The commands of a README, and the texts that it shows. */
function readExample(name: string): { commands: string[][]; shown: string[] } {
  cpSync(join(examples, name), folder, { recursive: true });
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const blocks = (language: string) =>
    [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text!);
  return { commands: blocks('sh').map((text) => text.trim().split('\n')), shown: blocks('text') };
}

const author = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@a.test', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@a.test' }; // prettier-ignore

function shell(command: string, cwd = folder): string {
  const env = { ...process.env, ...author, HOME: folder, GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync('bash', ['-euc', command], { cwd, env, encoding: 'utf8' });
}

/** Runs a `stele` command as it is written. */
function stele(command: string, cwd = folder) {
  return runHere(command.split(' ').slice(1), { cwd });
}

/** Starts a program that answers at a port. */
async function start(program: string, args: string[], port: number, env: Record<string, string> = {}): Promise<void> {
  const home = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore', env: { ...process.env, ...home, ...env } });
  children.push(child);
  while (!(await answers(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${program} ended.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test(`one organization with three services`, async () => {
  const { commands, shown } = readExample('organization');
  const [[make, sync], [enter, , edit, check], [raise]] = commands as [string[], string[], string[]];
  shell(make!);
  const synced = await stele(sync!);
  expect(synced.code, synced.stdout).toBe(0);
  expect(synced.stdout.split('\n')).toEqual(expect.arrayContaining(shown[0]!.trim().split('\n')));

  served = await serveStele([], { cwd: folder });
  const orders = join(folder, enter!.replace('cd ', ''));
  const checkHere = () => stele(check!.replace(/http:\S+/, served!.url), orders);
  shell(edit!, orders);
  const broken = await checkHere();
  expect(broken).toMatchObject({ code: 1, stderr: shown[1] });
  expect(broken.stdout).toContain('Property "orderId" of response 201 was removed');
  shell(raise!, orders);
  expect(await checkHere()).toMatchObject({ code: 0, stderr: shown[2] });

  const api = (await (await fetch(`${served.url}/@acme/apis/orders.json`)).json()) as object;
  expect(JSON.stringify(api)).toContain('An amount in a currency.');
  expect(await (await fetch(`${served.url}/sites/acme/handbook/`)).text()).toContain('says where a parcel is');

  // The workflow is the one that the documentation has.
  const workflow = readFileSync(join(examples, '../ci/github-workflow.yml'), 'utf8').replace(/^#.*\n/, '');
  for (const service of ['orders', 'payments', 'shipping'])
    expect(readFileSync(join(folder, service, '.github/workflows/contracts.yml'), 'utf8')).toBe(workflow);
});

const hasBoth = hasCaddy && hasNginx;

test.skipIf(!hasBoth)(
  `one static site on a web server${hasBoth ? '' : ' (skipped: there is no nginx or no Caddy)'}`,
  async () => {
    const { commands } = readExample('static-site');
    const [commit, sync, build] = commands[0]!;
    shell(commit!);
    expect(await stele(sync!)).toMatchObject({ code: 0, stdout: 'published @acme/apis/payments@1.0.0\n' });
    expect(await stele(build!)).toMatchObject({ code: 0 });

    const [caddy, nginx] = [await freePort(), await freePort()];
    for (const [name, port] of [
      ['Caddyfile', caddy],
      ['nginx.conf', nginx],
    ] as const)
      // prettier-ignore
      writeFileSync(join(folder, name), readFileSync(join(folder, name), 'utf8').replace('8080', String(port)));
    // Its own port for administration may be taken here.
    writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${readFileSync(join(folder, 'Caddyfile'), 'utf8')}`);
    shell('chmod 755 .');
    await start(caddyProgram!, ['run'], caddy);
    await start(nginxProgram!, ['-p', folder, '-c', 'nginx.conf'], nginx);
    for (const port of [caddy, nginx]) {
      const pinned = await fetch(`http://127.0.0.1:${port}/@acme/apis/payments@1.0.0.yaml`);
      expect(pinned.headers.get('content-type')).toBe('application/yaml');
      expect(await pinned.text()).toBe(readFileSync(join(folder, 'apis/payments.yaml'), 'utf8'));
      if (port === caddy) continue;
      const range = await fetch(`http://127.0.0.1:${port}/@acme/apis/payments@^1.json`, { redirect: 'manual' });
      expect(range.headers.get('location')).toContain('/@acme/apis/payments@1.0.0.json');
    }
  },
);

test(`sign-in with a provider, and a bucket`, async () => {
  readExample('sign-in-and-bucket');
  const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as {
    services: Record<string, { environment: Record<string, string>; volumes: string[]; ports: string[] }>;
  };
  const [port, providerPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${port}`;
  const issuer = `http://localhost:${providerPort}`;
  const { environment } = compose.services['stele']!;
  const provider = join(examples, 'sign-in-and-bucket/provider.mjs');
  await start(process.execPath, [provider], providerPort, { ISSUER: issuer, REGISTRY: url });
  await using bucket = await startS3('contracts');
  const config = readFileSync(join(folder, 'registry.config.yaml'), 'utf8')
    .replace('http://localhost:7700', url)
    .replace('http://localhost:9000', issuer)
    .replace('http://bucket:9000', bucket.endpoint);
  writeFileSync(join(folder, 'registry.config.yaml'), config);
  served = await serveStele(['--port', String(port)], { cwd: folder, env: environment });

  const browser = createBrowser();
  const form = (body: string) => ({ method: 'POST', body: new URLSearchParams(body) });
  const signIn = await browser.open(`${url}/login`);
  const consent = await browser.open(signIn.url, form('prompt=login&login=ann&password=any'));
  const home = await browser.open(consent.url, form('prompt=consent'));
  expect(home).toMatchObject({ status: 200, url: expect.stringContaining(url) as string });
  const me = await browser.open(`${url}/v1/me`);
  expect(JSON.parse(me.text)).toMatchObject({ organization: 'acme', user: { rights: [{ scopes: ['admin'] }] } });
  expect([...bucket.objects.keys()].length).toBeGreaterThan(0);
  // Each file that a container gets is there, and each port that the two URLs name.
  const files = Object.values(compose.services).flatMap(({ volumes }) =>
    volumes.filter((each) => each.startsWith('./')),
  );
  for (const each of files) readFileSync(join(folder, each.split(':')[0]!));
  expect(compose.services['provider']!.ports).toEqual(['127.0.0.1:7700:7700', '127.0.0.1:9000:9000']);
});
