/**
 * Who uses what, from end to end: five organizations in a chain of three levels, 40 resources in five repositories of a
 * real git server, and 12 consumers. Publishes, breaks a schema in a pull request, merges it, pins, and updates. Prints a
 * table: how long each step took, processor time of the server and its sandboxes, and bytes.
 *
 *   node scripts/bench/graph.ts
 */
import { createHmac } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runStele, serveStele } from '../../test/e2e/stele.ts';
import { createFixtureRepository } from '../../test/servers/fixture-repository.ts';
import { openGitServer } from '../../test/servers/git-http.ts';
import { openGiteaApi } from '../../test/servers/gitea-api.ts';
import { childrenTime } from '../load/processor-time.ts';

const url = 'https://contracts.test';
const secret = 'what-hooks-are-signed-with';
const organizations = ['core', 'billing', 'shipping', 'shop', 'partner'];
/** Of each organization: 40 resources and 12 consumers in all. */
const [resourcesOfEach, consumersOfEach] = [8, [2, 2, 2, 3, 3]];

const schema = (title: string, version: string, refs: string[], required: string[] = []) =>
  JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    version,
    type: 'object',
    required,
    properties: { amount: { type: 'integer' }, ...membersOf(refs) },
  });
const api = (title: string, refs: string[]) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title, version: '1.0.0' },
    paths: {
      '/orders': {
        post: {
          requestBody: { content: { 'application/json': { schema: { type: 'object', properties: membersOf(refs) } } } },
          responses: { 200: { description: 'Ordered.' } },
        },
      },
    },
  });

function membersOf(refs: string[]): object {
  return Object.fromEntries(refs.map((ref, n) => [`part${n}`, { $ref: `${url}/${ref}` }]));
}

/** The documents of an organization, by file. */
function documentsOf(org: string): Record<string, string> {
  const at = (n: number) => n % resourcesOfEach;
  const entries = Array.from({ length: resourcesOfEach }, (_, n): [string, string] => {
    if (org === 'core') return [`part-${n}.json`, schema(`Part ${n}`, '1.0.0', [])];
    if (org === 'billing' || org === 'shipping') {
      const refs = [`@core/schemas/part-${n}@^1`, `@core/schemas/part-${at(n + 1)}@^1`];
      return [`${org}-${n}.json`, schema(`${org} ${n}`, '1.0.0', refs)];
    }
    return [
      `${org}-${n}.json`,
      api(`${org} ${n}`, [`@billing/schemas/billing-${n}@^1`, `@shipping/schemas/shipping-${at(n + 3)}@^1`]),
    ];
  });
  return Object.fromEntries(entries);
}

const root = await mkdtemp(join(tmpdir(), 'stele-graph-'));
await using git = await openGitServer({ root: join(root, 'git') });
await using host = await openGiteaApi();
const repositories = organizations.map((org) => createFixtureRepository(join(root, 'git', 'acme', `${org}.git`)));
const settings = {
  url,
  hosts: { gitea: { url: git.url, apiUrl: `${host.url}/api/v1`, webhookSecret: { env: 'HOOK_SECRET' } } },
  credentials: { gitea: { env: 'GIT_TOKEN', host: git.host } },
  organizations: Object.fromEntries(
    organizations.map((org) => [
      org,
      {
        repositories: [{ url: `${git.url}/acme/${org}.git`, credential: 'gitea' }],
        defaults: { visibility: 'public' },
      },
    ]),
  ),
  pulls: { comments: true },
  sync: { interval: 0, hosts: [`http://${git.host}`] },
  rateLimit: { address: 100_000 },
};
const config = join(root, 'registry.config.ts');
await writeFile(config, `export default ${JSON.stringify(settings)};\n`);
const data = join(root, 'data');
const rows: string[] = [];

/** Does a step, and adds its row. Returns what it returns. */
async function step<T>(name: string, work: () => Promise<T>, seen: (result: T) => string = () => ''): Promise<T> {
  const [cpu, startedAt] = [childrenTime(), performance.now()];
  const result = await work();
  const [seconds, processor] = [(performance.now() - startedAt) / 1000, childrenTime() - cpu];
  rows.push(`| ${name} | ${seconds.toFixed(2)} s | ${processor.toFixed(2)} s | ${seen(result)} |`);
  return result;
}

async function untilTrue(question: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 120_000;
  while (!(await question())) {
    if (Date.now() > end) throw new Error(`Not within 300 s: ${String(question)}`);
    await delay(20);
  }
}

for (const [n, org] of organizations.entries()) repositories[n]!.commit({ files: documentsOf(org) });
const stele = await step('start, sync five repositories', async () => {
  const served = await serveStele(['--config', config, '--data', data], {
    cwd: root,
    env: { HOOK_SECRET: secret, GIT_TOKEN: 'token' },
  });
  return served;
});

async function isThere(name: string): Promise<boolean> {
  return (await fetch(`${stele.url}/${name}`, { method: 'HEAD' })).status === 200;
}

async function hook(org: string, event: string, payload: object): Promise<void> {
  const body = JSON.stringify({ repository: { full_name: `acme/${org}` }, ...payload });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-gitea-event': event, 'x-gitea-signature': signature };
  const response = await fetch(`${stele.url}/v1/hooks/gitea`, { method: 'POST', headers, body });
  if (response.status !== 202) throw new Error(`The hook was answered ${response.status}: ${await response.text()}`);
}

const push = (org: string) => hook(org, 'push', { ref: 'refs/heads/main' });
const names = organizations.flatMap((org) =>
  Object.keys(documentsOf(org)).map(
    (file) => `@${org}/${/shop|partner/.test(org) ? 'apis' : 'schemas'}/${file.slice(0, -5)}`,
  ),
);

try {
  // What refers to others is published once those are there.
  await step(
    'until all 40 resources are published',
    async () => {
      for (const level of [['core'], ['billing', 'shipping'], ['shop', 'partner']]) {
        for (const org of level) await push(org);
        for (const name of names.filter((each) => level.some((org) => each.startsWith(`@${org}/`))))
          await untilTrue(() => isThere(name));
      }
    },
    () => `${bytesBelow(data)} bytes in the store`,
  );

  const apps = organizations.flatMap((org, n) =>
    Array.from({ length: consumersOfEach[n]! }, (_, m) => ({ org, name: `${org}-app-${m}` })),
  );
  const env = { STELE_REGISTRY: stele.url, HOME: root, XDG_CACHE_HOME: join(root, 'cache') };
  const folderOf = (name: string) => join(root, 'apps', name);
  const run = async (name: string, ...args: string[]) => {
    const ended = await runStele(args, { cwd: folderOf(name), env });
    if (ended.code !== 0) throw new Error(`stele ${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
    return ended.stdout + ended.stderr;
  };
  await step(
    '12 consumers pin two contracts each (`stele add`)',
    async () => {
      for (const [n, { name }] of apps.entries()) {
        mkdirSync(folderOf(name), { recursive: true });
        execFileSync('git', ['init', '-q'], { cwd: folderOf(name) });
        for (const contract of [`@core/schemas/part-0@^1`, `@shop/apis/shop-${n % resourcesOfEach}@^1`])
          await run(name, 'add', contract, '--as', `contracts/${contract.split('/')[2]!.split('@')[0]}.json`);
      }
    },
    () => `${statSync(join(folderOf(apps[0]!.name), 'contracts.lock')).size} bytes a lock`,
  );
  await step('five repositories with the locks are synced', async () => {
    for (const [n, org] of organizations.entries()) {
      const files: Record<string, string> = {};
      for (const { name } of apps.filter((each) => each.org === org))
        for (const path of [
          'contracts.lock',
          ...readdirSync(join(folderOf(name), 'contracts')).map((file) => `contracts/${file}`),
        ])
          files[`${name}/${path}`] = readFileSync(join(folderOf(name), path), 'utf8');
      const commit = repositories[n]!.commit({ files });
      await push(org);
      await untilTrue(() => stele.log.some((line) => JSON.stringify(line).includes(commit)));
    }
  });

  const broken = schema('Part 0', '1.1.0', [], ['amount']);
  const head = repositories[0]!.commit({
    branch: 'change',
    parent: repositories[0]!.git('rev-parse', 'main'),
    files: { 'part-0.json': broken },
  });
  repositories[0]!.git('update-ref', 'refs/pull/7/head', head);
  await step(
    'a pull request breaks a schema: its check with the impact',
    async () => {
      await hook('core', 'pull_request', { action: 'opened', pull_request: { number: 7, base: { ref: 'main' } } });
      await untilTrue(() => host.comments.some(({ text }) => /It breaks/.test(text)));
    },
    () => /It breaks [^.]*\./.exec(host.comments.map(({ text }) => text).join('\n'))![0],
  );
  await step('it is merged and published', async () => {
    repositories[0]!.commit({ files: { 'part-0.json': broken } });
    await push('core');
    await untilTrue(() => isThere('@core/schemas/part-0@1.1.0'));
  });
  await step('one API behind it is pinned to the old version', async () => {
    const files = documentsOf('billing');
    repositories[1]!.commit({
      files: {
        'billing-0.json': files['billing-0.json']!.replace('part-0@^1', 'part-0@1.0.0').replace('"1.0.0"', '"1.0.1"'),
      },
    });
    await push('billing');
    await untilTrue(() => isThere('@billing/schemas/billing-0@1.0.1'));
  });
  for (const command of ['outdated', 'update', 'install --frozen'])
    await step(`12 consumers: \`stele ${command}\``, async () => {
      for (const { name } of apps) await run(name, ...command.split(' '));
    });
  for (const path of ['/@core/schemas/part-0/dependants', '/@core/graph'])
    await step(
      `the page ${path}, first and second time`,
      async () => {
        const ask = async () => {
          const startedAt = performance.now();
          const text = await (await fetch(`${stele.url}${path}`, { headers: { accept: 'text/html' } })).text();
          return { text, took: performance.now() - startedAt };
        };
        return [await ask(), await ask()];
      },
      ([first, second]) =>
        `${first!.took.toFixed(0)} ms, ${second!.took.toFixed(0)} ms; ${Buffer.byteLength(first!.text)} bytes, ${first!.text.match(/<rect/g)?.length ?? 0} boxes`,
    );
  console.log(['| step | took | processor | seen |', '| --- | --- | --- | --- |', ...rows].join('\n'));
  console.log(`In the end, ${bytesBelow(data)} bytes in the store.`);
} finally {
  await stele.stop();
  await rm(root, { recursive: true, force: true });
}
process.exit(0);

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce(
    (sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
