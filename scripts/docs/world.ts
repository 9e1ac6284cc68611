import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { $ } from 'zx';
import { runStele, serveStele, type Serving } from '../../test/e2e/stele.ts';
import { freePort } from '../../test/servers/ports.ts';

/**
 * What the documentation's examples speak of: `https://contracts.example.com` with the organization acme, and a folder beside it in
 * which a reader works. `make` makes it once; each page gets a copy.
 */
export interface DocWorld {
  /** Where a page is read: `work/` in it is the current folder. */
  folder: string;
  /** Of the registry, on loopback. */
  url: string;
  metrics: string;
  key: string;
}

const author = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@a.test', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@a.test' }; // prettier-ignore

const api = (version: string, more = '') =>
  `openapi: 3.1.0\ninfo:\n  title: Payments\n  version: ${version}\npaths:\n  /payments:\n    get:\n      operationId: listPayments\n      summary: List payments\n      responses:\n        '200':\n          description: All payments.\n${more}`;

const money = (version: string) =>
  JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Money', description: version });

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

async function makeRepository(folder: string, commits: readonly { files: Record<string, string>; tag?: string }[]) {
  await mkdir(folder, { recursive: true });
  const git = $({ cwd: folder, env: { ...process.env, ...author } });
  await git`git init --quiet --initial-branch main`;
  for (const { files, tag } of commits) {
    await write(folder, files);
    await git`git add --all`;
    await git`git commit --quiet --message ${tag ?? 'Change'}`;
    if (tag !== undefined) await git`git tag ${tag}`;
  }
}

/** Makes it in an empty folder. `hasStore`: its configuration names a store outside of the data folder. */
export async function makeWorld(folder: string, { hasStore = false } = {}): Promise<DocWorld> {
  const work = join(folder, 'work');
  const releases = ['1.2.0', '1.3.0', '1.4.0'].map((version) => ({ 'payments.yaml': api(version) }));
  await makeRepository(join(folder, 'apis'), [
    ...releases.map((files, at) => ({ files, tag: `pay-v1.${at + 2}.0` })),
    { files: { 'payments.yaml': api('2.0.0') }, tag: 'pay-v2.0.0' },
    { files: { 'payments.yaml': api('1.4.0', '# The same.\n') } },
  ]);
  await makeRepository(join(folder, 'docs'), [{ files: { 'docs/index.md': '# Handbook\n' } }]);
  await makeRepository(join(folder, 'payments'), [{ files: { 'payments.yaml': api('1.0.0') } }]);
  const [port, metrics] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const config = {
    url,
    ...(hasStore && { store: { kind: 'fs', path: '../srv/store' } }),
    sync: { allowLocalRepositories: true },
    organizations: { acme: { repositories: [{ url: join(folder, 'apis') }], defaults: { visibility: 'public' } } },
  };
  const own = {
    'openapi.yaml': api('1.4.0', '# The same.\n'),
    'openapi-old.yaml': api('1.3.0'),
    'api.yaml': api('1.4.0'),
    'apis/other.yaml': api('0.1.0').replaceAll('ayment', 'efund'),
    'schemas/money.json': money('1.4.0'),
    'style.yaml': 'title: Acme style\nversion: 1.0.0\nrules:\n  operation-summary: error\n',
  };
  await makeRepository(work, [{ files: own }]);
  await $({ cwd: work })`git update-ref refs/remotes/origin/main HEAD`;
  await write(work, {
    'registry.config.json': JSON.stringify(config),
    // Only one process can have its port.
    'server.config.json': JSON.stringify({ ...config, metrics: { port: metrics } }),
    'docs/index.md': '# Handbook\n',
    'index.md': '# Handbook\n',
    'stele.log': '{"level":40,"msg":"example"}\n',
  });
  await write(join(folder, 'my-repository'), {});
  await makeRepository(join(work, 'my-repository'), [{ files: { 'payments.yaml': api('1.0.0') } }]);
  const stele = async (...args: string[]) => {
    const ended = await runStele(args, { cwd: work, env: { HOME: folder } });
    if (ended.code !== 0) throw new Error(`stele ${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
    return ended.stdout.trim();
  };
  await stele('sync');
  await stele('import', '@acme/apis/payments', '--tags', 'pay-v*', '--latest', 'keep');
  for (const version of ['1.0.0', '1.4.0'])
    await stele('publish', 'schemas/money.json', '@acme/schemas/money', '--version', version);
  await stele('publish', 'style.yaml', '@acme/rulesets/style');
  for (const site of ['handbook', 'guides']) await stele('sites', 'publish', `@acme/sites/${site}`, 'docs');
  const key = await stele('keys', 'create', '--org', 'acme', '--name', 'reader', '--scope', 'admin');
  return { folder, url, metrics: `127.0.0.1:${metrics}`, key };
}

/** A copy of it for a page, with its registry running. The repositories that it follows stay where they are. */
export async function openCopy(world: DocWorld, folder: string): Promise<Serving> {
  await cp(world.folder, folder, { recursive: true });
  for (const name of ['.local/share/bash-completion/completions', '.zfunc', '.config/fish/completions'])
    await mkdir(join(folder, name), { recursive: true });
  const port = new URL(world.url).port;
  return serveStele(['--port', port, '--config', 'server.config.json'], {
    cwd: join(folder, 'work'),
    env: { HOME: folder },
  });
}
