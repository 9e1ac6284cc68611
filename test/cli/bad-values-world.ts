import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveStele } from '../e2e/stele.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { runHere } from './in-process.ts';

function api(title: string, version: string, ...paths: string[]): string {
  const operation = { get: { responses: { 200: { description: 'Fine.' } } } };
  const all = Object.fromEntries(paths.map((path) => [path, operation]));
  return JSON.stringify({ openapi: '3.1.0', info: { title, version }, paths: all });
}

/**
 * A small registry with one of everything, as a data folder and as a server of a copy of it, and the files that
 * `command-lines.ts` names. What a command leaves behind is seen and can be undone.
 */
export async function openBadValuesWorld() {
  const root = await mkdtemp(join(tmpdir(), 'stele-bad-'));
  // The folder above the one in which commands run is part of the world, too.
  const [around, kept, served, home] = ['around', 'kept', 'served', 'home'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  const folder = join(around, 'world');
  for (const name of ['pages', 'plain', 'old/pay']) await mkdir(join(folder, name), { recursive: true });
  await mkdir(home);
  const secret = { env: 'LOGIN_SECRET' };
  // One for the folder and its copy, beside both: a sync of the server has nothing to append, whenever it comes.
  const git = join(root, 'apis.git');
  const config = {
    url: 'https://contracts.example.com',
    organizations: { acme: { defaults: { approval: 'required' }, repositories: [{ url: git }] } },
    login: { issuer: 'http://127.0.0.1:9', clientId: 'x', clientSecret: secret, sessionSecret: secret },
    rateLimit: { key: 1_000_000, address: 1_000_000, failures: 1_000_000 },
  };
  const files: Record<string, string> = {
    'registry.config.json': JSON.stringify(config),
    'api.json': api('New', '1.0.0', '/a'),
    'held.json': api('Held', '1.0.0', '/a', '/b'),
    'breaks.json': api('Held', '2.0.0', '/a'),
    'style.yaml': 'version: 1.0.0\nrules: {operation-summary: error}\n',
    'pages/index.md': '# Home\n',
    'old/pay/1.0.0.json': api('Pay', '1.0.0', '/a'),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);

  const env = {
    LOGIN_SECRET: 's'.repeat(40),
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    NETRC: join(home, 'netrc'),
    PATH: `/usr/bin:/bin:${process.env['PATH']}`,
  };
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runHere(args, { cwd: folder, env: { ...env, ...more }, input: '' });
  const mustRun = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run([...args, '--data', 'data']);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code}\n${stdout}${stderr}`);
    return stdout;
  };
  const made = async (line: string) =>
    JSON.parse(await mustRun(...line.split(' '), '--org', 'acme', '--json')) as { id: string; secret: string };

  const repository = createFixtureRepository(git);
  await symlink(git, join(folder, 'apis.git'));
  const key = await made('keys create --name ci --scope admin');
  for (const [version, ...paths] of [
    ['1.0.0', '/a'],
    ['1.1.0', '/a', '/b'],
  ] as const) {
    repository.commit({ files: { 'pay.json': api('Pay', version, ...paths) } });
    await mustRun('sync');
  }
  await mustRun('publish', 'held.json', '@acme/apis/held');
  await run(['publish', 'breaks.json', '@acme/apis/held', '--data', 'data']);
  await mustRun('publish', 'style.yaml', '@acme/rulesets/style', '--public');
  await mustRun('sites', 'publish', '@acme/sites/guide', 'pages');
  const known: Record<string, string> = {
    KEY: (await made('keys create --name spare --scope read')).id,
    WEBHOOK: (await made('webhooks create https://ci.test/hook')).id,
    RIGHT: (await made('organizations give --group staff --scope read')).id,
    HELD: (await mustRun('approvals', 'list', '--org', 'acme')).split('\t')[0]!,
  };
  await mustRun('backup', 'copy');
  await cp(folder, served, { recursive: true });
  const stele = await serveStele(['--data', 'data'], { cwd: served, env });
  known['REGISTRY'] = stele.url;
  const asUser = { STELE_KEY: key.secret, STELE_REGISTRY: stele.url };
  await run(['add', '@acme/apis/pay', '--as', 'pay.json'], asUser);
  await cp(around, kept, { recursive: true });

  /** Files and folders, but for what expires, and what can be made again. Those of a store never change: their names say all. */
  async function look(): Promise<Map<string, string>> {
    const seen = new Map<string, string>();
    for (const each of await readdir(around, { recursive: true, withFileTypes: true })) {
      const path = join(each.parentPath, each.name).slice(around.length + 1);
      if (/^world\/data\/(?:work|cache|\.tmp)(?:\/|$)/.test(path)) continue;
      const isKept = /^world\/(?:data|copy)\//.test(path);
      seen.set(path, each.isFile() && !isKept ? await readFile(join(around, path), 'latin1') : '');
    }
    return seen;
  }
  let before = await look();
  const entries = () => readdir(join(served, 'data', 'log'), { recursive: true });
  let entriesBefore = await entries();

  return {
    known,
    run,
    asUser,
    /** What changed since it was asked last. What is in the folder is undone; the server's store is not. */
    async changes(): Promise<string[]> {
      const [after, entriesAfter] = [await look(), await entries()];
      const names = [...new Set([...before.keys(), ...after.keys()])].filter(
        (name) => before.get(name) !== after.get(name),
      );
      const appended = entriesAfter.filter((name) => !entriesBefore.includes(name));
      entriesBefore = entriesAfter;
      if (names.length > 0) {
        await rm(around, { recursive: true, force: true });
        await cp(kept, around, { recursive: true });
        before = await look();
      }
      return [...names, ...appended.map((name) => `served ${name}`)];
    },
    async [Symbol.asyncDispose]() {
      await stele.stop('SIGKILL');
      await rm(root, { recursive: true, force: true });
    },
  };
}
