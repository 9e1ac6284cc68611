import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeCommands } from '../../scripts/reference.ts';
import { createProgram } from '../../src/cli/program.ts';
import { serveStele, type Ended, type Serving } from '../e2e/stele.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { runHere } from './in-process.ts';

/**
 * `--json` looks the same everywhere: one JSON object on one line of stdout and nothing on stderr, or nothing on stdout and one problem
 * document on stderr.
 */

let folder: string;
let stele: Serving;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-json-'));
  const document = (title: string) => `openapi: 3.1.0\ninfo: {title: ${title}, version: 1.0.0}\npaths: {}\n`;
  createFixtureRepository(join(folder, 'apis.git')).commit({ files: { 'pay.yaml': document('Pay') } });
  const config = { organizations: { acme: { repositories: [{ url: './apis.git' }] } } };
  await writeFile(join(folder, 'registry.config.ts'), `export default ${JSON.stringify(config)};\n`);
  await writeFile(join(folder, 'new.yaml'), document('New \u202e title'));
  await writeFile(join(folder, 'bad.yaml'), 'openapi: 3.1.0\ninfo: {title: "\u202e"}\n"\u0085": 1\n');
  await mkdir(join(folder, 'pages'));
  await writeFile(join(folder, 'pages', 'index.md'), '# Home\n\n[broken](none.md)\n');
  await writeFile(join(folder, 'pages', 'page.html'), '<p>');
  await writeFile(join(folder, 'style.yaml'), 'version: 1.0.0\nrules: {operation-summary: error}\n');
  const made = await run('keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'admin');
  key = (JSON.parse(made.stdout) as { secret: string }).secret;
  await run('sync');
  await run('publish', 'style.yaml', '@acme/rulesets/style');
  stele = await serveStele(['--json', '--data', 'data'], { cwd: folder });
  registry = stele.url;
});

afterAll(async () => {
  await stele.stop('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** The key that commands present to a registry, the registry, and where programs are found. */
let key = '';
let registry = '';

async function run(...args: string[]): Promise<Ended> {
  const common = ['--config', 'registry.config.ts', '--data', 'data'];
  const isGroup = ['keys', 'sites', 'webhooks', 'approvals', 'organizations'].includes(args.join());
  return runHere([...args, ...(isGroup ? [] : common), '--json'], {
    cwd: folder,
    env: { STELE_KEY: key, XDG_CACHE_HOME: join(folder, 'user'), STELE_REGISTRY: registry },
  });
}

/** The one value of a stream that holds nothing else. */
function onlyObject(text: string): Record<string, unknown> {
  expect(text.endsWith('\n')).toBe(true);
  expect(text.trimEnd()).not.toContain('\n');
  expect(text.trimEnd()).not.toMatch(/[\p{Cc}\u2028-\u202e]/u);
  const value: unknown = JSON.parse(text);
  expect(value).toEqual(expect.any(Object));
  expect(Array.isArray(value)).toBe(false);
  return value as Record<string, unknown>;
}

const anyText = expect.any(String) as string;
const anyList = expect.any(Array) as unknown[];

/** By command: ways to call it, and members of what it prints. `REGISTRY` is the URL of one that runs. */
const answers: Record<string, [args: string, code: number, members: object][]> = {
  publish: [
    [
      'new.yaml @acme/apis/new',
      0,
      { outcome: 'published', version: '@acme/apis/new@1.0.0', url: null, created: true, visibility: 'private' },
    ],
    [
      'new.yaml @acme/apis/remote --registry REGISTRY',
      0,
      { outcome: 'published', visibility: 'private', url: anyText },
    ],
    ['new.yaml @acme/apis/pay --version 1.0.0', 1, { outcome: 'conflict', version: null, detail: anyText }],
    ['bad.yaml @acme/apis/bad', 1, { outcome: 'rejected', version: null, report: { problems: anyList } }],
    ['bad.yaml @acme/apis/bad --registry REGISTRY', 1, { outcome: 'rejected', report: { problems: anyList } }],
    // The rejected ones left nothing behind.
    ['new.yaml @acme/apis/bad --registry REGISTRY', 0, { outcome: 'published', created: true, visibility: 'private' }],
  ],
  doctor: [['', 0, { checks: anyList }]],
  lint: [
    ['new.yaml', 0, { problems: [], counts: { error: 0 } }],
    ['bad.yaml', 1, { problems: anyList }],
  ],
  diff: [
    ['new.yaml new.yaml', 0, { verdict: 'none', changes: [], reason: null }],
    ['@acme/apis/pay new.yaml --fail-on breaking', 0, { verdict: 'docs', counts: { docs: 1 } }],
  ],
  replay: [
    ['style.yaml @acme/rulesets/style', 0, { items: [], totals: { checked: 0, newlyBlocked: 0 } }],
    ['@acme/rulesets/style@1.0.0 @acme/rulesets/style --registry REGISTRY', 0, { items: [], totals: { others: 0 } }],
  ],
  sync: [
    ['', 0, { runs: [{ state: 'succeeded' }] }],
    ['@acme/apis/pay --registry REGISTRY', 0, { runs: [{ state: 'succeeded' }] }],
  ],
  add: [['@acme/apis/pay --as vendored.json', 0, { path: 'vendored.json', version: '1.0.0', range: '^1.0.0' }]],
  install: [
    ['--frozen', 0, { contracts: [{ state: 'ok', detail: null }] }],
    ['--report shop', 0, { contracts: [{ state: 'ok' }] }],
  ],
  update: [['', 0, { contracts: [] }]],
  outdated: [['', 0, { contracts: [{ inRange: null, beyond: null, status: { state: 'active' } }] }]],
  list: [['', 0, { contracts: [{ path: 'vendored.json', state: 'ok' }] }]],
  remove: [['vendored.json', 0, { contracts: [{ path: 'vendored.json' }] }]],
  discover: [['REPOSITORY --org acme', 0, { documents: [{ path: 'pay.yaml' }], skipped: [], others: 0, wrote: null }]],
  repositories: [
    ['', 0, { repositories: [{ repository: 'apis', state: 'synced' }], owners: [] }],
    ['--org nobody', 0, { repositories: [], owners: [] }],
    ['--registry REGISTRY', 0, { repositories: [{ repository: 'apis', state: 'synced' }], owners: [] }],
  ],
  import: [['@acme/apis/pay --each-change', 0, { runs: [{ documents: anyList }] }]],
  check: [
    ['new.yaml --as @acme/apis/fresh --registry REGISTRY', 0, { documents: [{ outcome: 'published', isNew: true }] }],
  ],
  'sites publish': [
    ['@acme/sites/book pages --check', 0, { outcome: 'checked', deployment: null, report: { counts: { warning: 2 } } }],
    ['@acme/sites/book pages --public', 0, { outcome: 'published', deployment: '1', created: true, rendered: 1 }],
    ['@acme/sites/book pages', 0, { outcome: 'unchanged', deployment: '1', created: false, rendered: 0 }],
    ['@acme/sites/book pages --title Book', 0, { outcome: 'published', deployment: '2', rendered: 0 }],
    ['@acme/sites/far pages --registry REGISTRY', 0, { outcome: 'published', deployment: '1', created: true }],
  ],
  'sites preview': [
    ['@acme/sites/book', 0, { url: anyText, expiresAt: anyText, rendered: 0 }],
    ['@acme/sites/book pages', 0, { url: anyText, report: { counts: { warning: 2 } } }],
    ['@acme/sites/far pages --registry REGISTRY', 0, { url: anyText, expiresAt: anyText }],
  ],
  'sites list': [
    ['', 0, { sites: [{ site: '@acme/sites/book', visibility: 'public', deployment: '2' }, { title: 'far' }] }],
    ['--org nobody', 0, { sites: [] }],
    ['--registry REGISTRY', 0, { sites: [{ site: '@acme/sites/book' }, { site: '@acme/sites/far' }] }],
  ],
  'sites rollback': [
    ['@acme/sites/book 1', 0, { deployment: '3', again: '1' }],
    ['@acme/sites/book 2 --registry REGISTRY', 0, { deployment: '4', again: '2' }],
  ],
  'keys create': [
    ['--org acme --name more --scope read --owner Pay', 0, { id: anyText, secret: anyText, owner: 'Pay' }],
    ['--name more --scope read --owner Pay --registry REGISTRY', 0, { id: anyText, secret: anyText, owner: 'Pay' }],
  ],
  'keys list': [
    ['--org acme', 0, { keys: anyList }],
    ['--registry REGISTRY', 0, { keys: anyList }],
  ],
  deprecate: [
    ['@acme/apis/new@1.0.0 --reason old --dry-run', 0, { dryRun: true, dependants: [] }],
    ['@acme/apis/new@1.0.0 --reason old', 0, { status: { state: 'deprecated', reason: 'old', since: anyText } }],
    ['@acme/apis/remote@1.0.0 --reason old --registry REGISTRY', 0, { status: { state: 'deprecated' } }],
  ],
  yank: [
    ['@acme/apis/new@1.0.0 --reason wrong', 0, { status: { state: 'yanked' }, latest: false }],
    ['@acme/apis/remote@1.0.0 --reason wrong --registry REGISTRY', 0, { status: { state: 'yanked' } }],
  ],
  reactivate: [
    ['@acme/apis/new@1.0.0', 0, { status: { state: 'active' }, latest: true }],
    ['@acme/apis/remote@1.0.0 --registry REGISTRY', 0, { status: { state: 'active' }, latest: true }],
  ],
  visibility: [
    ['@acme/apis/new public', 0, { visibility: 'public' }],
    ['@acme/apis/remote public --registry REGISTRY', 0, { visibility: 'public' }],
  ],
  'webhooks create': [
    [
      'https://ci.test/hook --org acme --event version.published',
      0,
      { secret: anyText, events: ['version.published'] },
    ],
    ['https://ci.test/hook --registry REGISTRY --resource apis/pay', 0, { secret: anyText, resources: ['apis/pay'] }],
  ],
  'webhooks list': [
    ['--org acme', 0, { webhooks: [{ url: 'https://ci.test/hook' }, { state: 'enabled' }] }],
    ['--registry REGISTRY', 0, { webhooks: anyList }],
  ],
  'webhooks rotate': [['WEBHOOK --org acme', 0, { secret: anyText }]],
  'webhooks enable': [['WEBHOOK --registry REGISTRY', 0, { state: 'enabled' }]],
  'webhooks test': [['WEBHOOK --org acme', 1, { delivered: false, error: anyText }]],
  'webhooks delete': [['WEBHOOK --org acme', 0, { deleted: true }]],
  'approvals list': [['--org acme', 0, { approvals: [] }]],
  'organizations list': [['', 0, { organizations: anyList }]],
  'organizations create': [['globex', 0, { organization: 'globex' }]],
  'organizations rights': [['--org acme', 0, { rights: [] }]],
  completion: [['bash', 0, { shell: 'bash', script: anyText }]],
  'operator link': [['--registry http://127.0.0.1:7700', 0, { link: anyText }]],
  'keys revoke': [['KEY --org acme', 0, { revoked: true }]],
  log: [
    ['@acme/apis/pay', 0, { changes: anyList, connection: { state: 'synced' } }],
    ['@acme/apis/pay --registry REGISTRY', 0, { changes: anyList, connection: { state: 'synced' } }],
  ],
  verify: [
    ['@acme/apis/pay', 0, { versions: [{ outcome: 'same' }] }],
    ['@acme/apis/pay --all', 0, { versions: [{ outcome: 'same' }] }],
  ],
  fsck: [['', 0, { damages: [] }]],
  migrate: [['moved', 0, { objects: expect.any(Number) as number, damages: [], isBehind: false }]],
  backup: [['copy', 0, { objects: expect.any(Number) as number, damages: [] }]],
  gc: [['--dry-run', 0, { deleted: 0 }]],
  build: [['--out site', 0, { outcome: 'built', files: expect.any(Number) as number }]],
};

const commands = describeCommands(await createProgram()).map(({ name }) => name.replace(/^stele /, ''));

test('every command is walked', () => {
  // serve and mcp do not end by themselves; restore needs a second store, init a folder without a
  // configuration, login, logout and rights an identity provider, show something that is held. They have tests of their own.
  const others = [
    'serve',
    'restore',
    'init',
    'login',
    'logout',
    'mcp',
    'organizations give',
    'organizations take',
    'approvals show',
    'approvals approve',
    'approvals reject',
  ];
  expect([...Object.keys(answers), ...others].sort()).toEqual(commands.toSorted());
});

describe('one object on stdout, nothing on stderr', () => {
  const rows = Object.entries(answers).flatMap(([name, ways]) => ways.map((way) => [name, ...way] as const));
  test.for(rows)('%s %s', async ([name, args, code, members]) => {
    const known = args.replace('REPOSITORY', join(folder, 'apis.git')).replace('REGISTRY', registry);
    const filled = known
      .replace('KEY', args.startsWith('KEY') ? await makeKey() : '')
      .replace('WEBHOOK', args.startsWith('WEBHOOK') ? await findWebhook() : '');
    const ended = await run(...name.split(' '), ...filled.split(' ').filter((arg) => arg !== ''));
    expect(ended).toMatchObject({ code, stderr: '' });
    expect(onlyObject(ended.stdout)).toMatchObject(members);
  });
});

/** The id of a webhook's endpoint. */
async function findWebhook(): Promise<string> {
  const { stdout } = await run('webhooks', 'list', '--org', 'acme');
  return (JSON.parse(stdout) as { webhooks: { id: string }[] }).webhooks[0]!.id;
}

/** The id of a key. */
async function makeKey(): Promise<string> {
  const { stdout } = await run('keys', 'create', '--org', 'acme', '--name', 'gone', '--scope', 'read');
  return (JSON.parse(stdout) as { id: string }).id;
}

describe('nothing on stdout, one problem on stderr', () => {
  const usage = commands.map((name): [string, number, string] => [`${name} --nonsense`, 2, '/problems/malformed']);
  test.for<[string, number, string]>([
    ...usage,
    ['keys', 2, '/problems/malformed'],
    ['keys list', 2, '/problems/malformed'],
    ['log @acme/apis/none', 2, '/problems/not_found'],
    ['verify @acme/apis/none', 2, '/problems/not_found'],
    ['publish none.yaml @acme/apis/pay', 2, '/problems/not_found'],
    ['log @acme/apis/pay --registry http://127.0.0.1:9', 3, '/problems/unreachable'],
    ['serve ./nowhere --port 0', 3, '/problems/unreachable'],
  ])('%s', async ([args, code, type]) => {
    const ended = await run(...args.split(' '));
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(onlyObject(ended.stderr)).toMatchObject({ type, detail: anyText });
  });

  test("what a registry refuses, in the registry's own problem document", async () => {
    key = 'stele_wrong';
    const ended = await run('keys', 'list', '--registry', stele.url);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(onlyObject(ended.stderr)).toMatchObject({ type: `${stele.url}/problems/unauthenticated`, status: 401 });
  });
});

test('serve prints where it listens, and nothing more', async () => {
  expect(stele.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(stele.printed).toEqual([JSON.stringify({ url: stele.url })]);
});
