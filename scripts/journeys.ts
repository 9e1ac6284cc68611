/**
 * Types four journeys from the documentation, in a fresh clone with a fresh HOME, and counts commands, pages and seconds:
 * `docs/journeys.md`. Each command must stand on the page that is named; what a reader would edit by hand is an edit.
 *
 *   node scripts/journeys.ts [--write] [journey…]
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { $, argv, echo, glob, tmpdir, which } from 'zx';
import { createBrowser } from '../test/server/login/browser.ts';
import { answers, freePort } from '../test/servers/ports.ts';
import { typeJourney, type Counted, type Journey } from './docs/type-journey.ts';
import { makeWorld, openCopy } from './docs/world.ts';

const root = new URL('..', import.meta.url).pathname;

/** README and Installing: a clone, its tarball, and the program. */
async function install({ type }: Journey): Promise<void> {
  await type('installing', 'git clone https://github.com/stele-registry/stele.git && cd stele', (text) => text.replace('clone https://github.com/stele-registry/stele.git', `clone --quiet ${root} stele`)); // prettier-ignore
  await type('installing', 'npm ci && npm pack', (text) => text.replace('npm ci', 'npm ci --no-audit --no-fund'));
  await type('installing', 'npm install --global ./stele-registry-stele-*.tgz     # for the machine');
}

/** Loopback stands for `https://contracts.example.com`, with the organization acme. */
async function withRegistry(run: (url: string, key: string) => Promise<void>): Promise<void> {
  const folder = tmpdir();
  const world = await makeWorld(join(folder, 'world'));
  const served = await openCopy(world, join(folder, 'copy'));
  try {
    await run(world.url, world.key);
  } finally {
    await served.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const journeys: Record<string, (journey: Journey) => Promise<void>> = {
  'team lead, to a checked pull request and a publish from CI': async (journey) => {
    await install(journey);
    const { type, edit, env, home, clone } = journey;
    await withRegistry(async (url, key) => {
      const here = (text: string) => text.replaceAll('https://contracts.example.com', url);
      journey.folder = join(home, 'service');
      await mkdir(journey.folder);
      const openapi = (version: string) => `openapi: 3.1.0\ninfo: {title: Invoices, version: ${version}}\npaths: {/invoices: {get: {operationId: listInvoices, responses: {'200': {description: All.}}}}}\n`; // prettier-ignore
      await edit('start-api-teams', async () => {
        await writeFile(join(journey.folder, 'openapi.yaml'), openapi('1.0.0'));
        await $({ cwd: journey.folder, env })`git init --quiet`;
        await $({ cwd: journey.folder, env })`git add --all`;
        await $({ cwd: journey.folder, env })`git commit --quiet --message First`;
      });
      await type('start-api-teams', 'stele lint openapi.yaml');
      Object.assign(env, { STELE_KEY: key });
      await type('checks', 'stele check --registry https://contracts.example.com --org acme', here);
      await type('start-api-teams', 'stele publish openapi.yaml @acme/apis/payments --registry https://contracts.example.com', (text) => here(text).replace('payments', 'invoices')); // prettier-ignore
      // The workflow is copied, and GitHub runs what it names.
      const comments: string[] = [];
      const host = createServer((request, response) => {
        const said = request.method === 'POST' ? json(request) : Promise.resolve(null);
        void said.then((body) => {
          if (body !== null) comments.push((body as { body: string }).body);
          response.end('[]');
        });
      }).listen(0, '127.0.0.1');
      await once(host, 'listening');
      const event = join(home, 'event.json');
      await writeFile(event, '{"pull_request": {"number": 7}}');
      await edit('ci', async () => {
        await mkdir(join(journey.folder, '.github/workflows'), { recursive: true });
        await $`cp ${join(clone, 'deploy/ci/github-workflow.yml')} ${join(journey.folder, '.github/workflows/contracts.yml')}`;
        await writeFile(join(journey.folder, 'openapi.yaml'), openapi('1.1.0').replaceAll('/invoices', '/bills'));
        const github = {
          GITHUB_ACTIONS: 'true',
          GITHUB_TOKEN: 'token',
          GITHUB_EVENT_PATH: event,
          GITHUB_REPOSITORY: 'acme/invoices',
          GITHUB_API_URL: `http://127.0.0.1:${(host.address() as AddressInfo).port}`,
          STELE_REGISTRY: url,
          STELE_ORG: 'acme',
        };
        const runner = $({ cwd: journey.folder, env: { ...env, ...github } });
        await runner`node ${join(clone, 'deploy/ci/stele-ci.mjs')} check`;
        const after = await runner`node ${join(clone, 'deploy/ci/stele-ci.mjs')} publish`;
        if (!after.stdout.includes('@acme/apis/invoices@1.1.0')) throw new Error(after.stdout);
      });
      host.close();
      if (comments.length !== 1 || !comments[0]!.includes('breaking')) throw new Error(comments.join('\n'));
    });
  },

  'consumer, to a file in a repository that CI checks': async (journey) => {
    await install(journey);
    const { type, env, home } = journey;
    await withRegistry(async (url, key) => {
      const here = (text: string) => text.replaceAll('https://contracts.example.com', url);
      journey.folder = join(home, 'shop');
      await mkdir(journey.folder);
      await $({ cwd: journey.folder })`git init --quiet`;
      await type('start-consumers', 'curl -sO https://contracts.example.com/@acme/apis/payments@1.4.0.yaml', here);
      await type('start-consumers', 'curl -s -D headers.txt -o payments.yaml https://contracts.example.com/@acme/apis/payments@1.4.0.yaml', here); // prettier-ignore
      const sum = await type('start-consumers', 'sha256sum payments.yaml');
      const tag = await type('start-consumers', "grep -i '^etag' headers.txt");
      if (!tag.includes(sum.split(' ')[0]!)) throw new Error(`${sum}${tag}`);
      Object.assign(env, { STELE_REGISTRY: url });
      await type('use-a-contract', 'export STELE_REGISTRY=https://contracts.example.com', here);
      await type('use-a-contract', 'stele add @acme/schemas/money@^1 --as schemas/money.json');
      await type('use-a-contract', 'stele install --frozen');
      await type('use-a-contract', 'stele outdated');
      Object.assign(env, { STELE_KEY: key });
      await type('use-a-contract', 'stele install --frozen --report shop');
    });
  },

  'operator, to people who sign in behind nginx': async (journey) => {
    await install(journey);
    const { type, start, edit, env, home, clone, running } = journey;
    const [port, providerPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
    const url = `http://localhost:${proxyPort}`;
    const issuer = `http://localhost:${providerPort}`;
    journey.folder = join(home, 'registry');
    await mkdir(journey.folder);
    await type('start-operators', 'stele init --org acme https://github.com/acme/apis.git', (text) => text.replace('https://github.com/acme/apis.git', '')); // prettier-ignore
    await edit('operating', async () => {
      const config = join(journey.folder, 'registry.config.ts');
      const login = `  url: '${url}',\n  proxies: 1,\n  login: {\n    issuer: '${issuer}',\n    clientId: 'stele',\n    clientSecret: { env: 'STELE_CLIENT_SECRET' },\n    sessionSecret: { env: 'STELE_SESSION_SECRET' },\n    scope: 'openid profile groups',\n    claim: 'groups',\n    organizations: { platform: [{ organization: 'acme', scopes: ['admin'] }] },\n  },\n`;
      await writeFile(config, (await readFile(config, 'utf8')).replace('defineConfig({\n', `defineConfig({\n${login}`));
    });
    const secret = 'an-example-and-no-secret-at-all-2222222222';
    Object.assign(env, { STELE_CLIENT_SECRET: secret, STELE_SESSION_SECRET: secret });
    const provider = spawn('node', [join(clone, 'deploy/examples/sign-in-and-bucket/provider.mjs')], { env: { ...env, ISSUER: issuer, REGISTRY: url }, stdio: 'ignore', detached: true }); // prettier-ignore
    running.add(provider);
    while (!(await answers(providerPort))) await new Promise((resolve) => setTimeout(resolve, 50));
    await start('start-operators', 'stele serve --port 7700', port, (text) => text.replace('7700', String(port)));
    await edit('operating', async () => {
      // The example, without the certificate that a public name has.
      const example = (await readFile(join(clone, 'deploy/nginx.conf'), 'utf8'))
        .replace(/^ *(?:ssl_|http2 ).*$/gm, '')
        .replace(/listen +\S+ ssl.*;/g, `listen 127.0.0.1:${proxyPort};`)
        .replace(/server_name .*;/g, 'server_name localhost;')
        .replace('/var/cache/nginx/stele', join(home, 'cache'))
        .replaceAll('127.0.0.1:7700', `127.0.0.1:${port}`);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${join(home, kind)};`); // prettier-ignore
      const text = `daemon off; pid ${join(home, 'pid')}; error_log ${join(home, 'nginx.log')}; events {} http { access_log off; ${paths.join(' ')} ${example} }`;
      await writeFile(join(home, 'nginx.conf'), text);
      await chmod(home, 0o755);
      const nginx = spawn(await which('nginx', { path: `${process.env['PATH']}:/usr/sbin` }), ['-c', join(home, 'nginx.conf')], { stdio: 'ignore', detached: true }); // prettier-ignore
      running.add(nginx);
      for (let tries = 0; !(await answers(proxyPort)); tries++) {
        if (tries > 600) throw new Error(await readFile(join(home, 'nginx.log'), 'utf8'));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    await edit('start-operators', async () => {
      const browser = createBrowser();
      const form = (body: string) => ({ method: 'POST', body: new URLSearchParams(body) });
      const signIn = await browser.open(`${url}/login`);
      const consent = await browser.open(signIn.url, form('prompt=login&login=ann&password=any'));
      await browser.open(consent.url, form('prompt=consent'));
      const me = await browser.open(`${url}/v1/me`);
      if (!me.text.includes('"organization":"acme"')) throw new Error(`${me.status} ${me.text}`);
    });
    await type('start-operators', 'stele doctor');
    await type('start-operators', "stele keys create --org acme --name ci --scope publish --resource 'apis/pay-*' --expires 90d"); // prettier-ignore
  },

  'migrant, to old versions with their dates': async (journey) => {
    const { type, edit, home } = journey;
    await install(journey);
    journey.folder = join(home, 'move');
    await mkdir(join(journey.folder, 'old/payments'), { recursive: true });
    const versions = { '1.0.0': '2023-05-01', '1.1.0': '2024-02-11', '2.0.0': '2025-03-20' };
    await edit('moving-in', async () => {
      const lines = Object.entries(versions).map(([version, date]) => `payments/${version}.yaml\t${date}\n`);
      await writeFile(join(journey.folder, 'old/dates.tsv'), lines.join(''));
      await writeFile(join(journey.folder, 'package.json'), '{}');
      for (const version of Object.keys(versions)) {
        const text = `openapi: 3.1.0\ninfo: {title: Payments, version: ${version}}\npaths: {}\n`;
        await writeFile(join(journey.folder, `old/payments/${version}.yaml`), text);
      }
    });
    const [tarball] = await glob(join(journey.clone, '*.tgz'));
    await type('installing', 'npm install ./stele-registry-stele-*.tgz              # in a project: npx stele', (text) => text.replace(/\.\/\S+/, tarball!)); // prettier-ignore
    await type('moving-in', 'find old -type f | sort');
    await type('moving-in', 'stele import --from folder old contracts'); // prettier-ignore
    const config = { organizations: { acme: { repositories: [{ url: './contracts' }] } } };
    await edit('moving-in', () => writeFile(join(journey.folder, 'registry.config.json'), JSON.stringify(config)));
    const synced = await type('moving-in', 'stele sync');
    if (synced.split('\n').length !== 4) throw new Error(synced);
  },
};

const chosen = Object.entries(journeys).filter(
  ([name]) => argv._.length === 0 || argv._.some((word) => name.startsWith(word)),
);
const rows: Counted[] = [];
for (const [name, about] of chosen) {
  const counted = await typeJourney(name, about);
  echo(
    `${name}: ${counted.commands} commands, ${counted.edits} edits, ${counted.pages.size} pages, ${counted.seconds.toFixed(0)} s`,
  );
  rows.push(counted);
}
if (argv['write'] === true) {
  const file = join(root, 'docs', 'journeys.md');
  const table = rows.map(({ name, commands, edits, pages: read, seconds }) => `| ${name} | ${commands} | ${edits} | ${[...read].join(', ')} | ${seconds.toFixed(0)} |`); // prettier-ignore
  const head = '| journey | commands | edits | pages | seconds |\n| --- | ---: | ---: | --- | ---: |';
  const text = (await readFile(file, 'utf8')).replace(/^\| journey [^]*?\n(?!\|)/m, `${head}\n${table.join('\n')}\n`);
  await writeFile(file, text);
  echo(`${basename(file)} is written.`);
}
