import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, lstat, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findIsolation } from '../../src/compile/sandbox/isolation.ts';
import { openGitServer } from '../servers/git-http.ts';
import { runStele } from './stele.ts';
import { api, get, openServeWorld, synced } from './serve-world.ts';

/** The front door: the real command, real git, a real socket. */

const world = openServeWorld();

test(`over http, with several files: bundled, and what is wrong is reported with its place and harms nothing else`, async () => {
  await using server = await openGitServer({ root: world.folder });
  const commit = world.repository.commit({
    files: {
      'good/openapi.yaml': api('Good', '1.0.0').replace(
        'All of them.',
        'All.\n          content:\n            application/json:\n              schema:\n                $ref: ./money.yaml',
      ),
      'good/money.yaml': 'type: integer\n',
      'missing.yaml': api('Missing', '1.0.0').replace('description: All of them.', '$ref: nowhere.yaml'),
      'outside.yaml': api('Outside', '1.0.0').replace('description: All of them.', '$ref: ../../../etc/passwd'),
      'linked.yaml': api('Linked', '1.0.0').replace('description: All of them.', '$ref: link.yaml'),
      'link.yaml': { symlink: '/etc/passwd' },
      'twice.yaml': `${api('Twice', '1.0.0')}openapi: 3.1.0\n`,
      'cut.yaml': `${api('Cut', '1.0.0')}  /more: [`,
      'wide.yaml': Buffer.from(api('Wide', '1.0.0'), 'utf16le'),
      'stored.yaml': { lfs: { oid: 'a'.repeat(64), size: 100 } },
      'bomb.yaml': `openapi: 3.1.0\n${Array.from(
        { length: 30 },
        (_, n) =>
          `a${n}: &a${n} [${Array(9)
            .fill(n === 0 ? 'x' : `*a${n - 1}`)
            .join(', ')}]`,
      ).join('\n')}\n`,
    },
  });
  const stele = await world.serve(`${server.url}/apis.git`);
  await synced(stele, commit);
  const told = new Map(
    stele.log
      .filter(({ msg }) => msg === 'document')
      .map(({ path, outcome, detail }) => [path, `${String(outcome)}: ${String(detail)}`]),
  );
  expect(told.get('good/openapi.yaml')).toBe('published: null');
  expect(told.get('twice.yaml')).toMatch(/^rejected: twice\.yaml:12:1 /);
  expect(told.get('bomb.yaml')).toMatch(/^rejected: bomb\.yaml:\d+:\d+ /);
  expect(told.get('cut.yaml')).toMatch(/^rejected: cut\.yaml:1[23]:\d+ /);
  expect(told.get('wide.yaml')).toMatch(/^rejected: wide\.yaml:1:1 .*UTF-16/);
  expect(told.get('stored.yaml')).toMatch(/^rejected: The file is stored in Git LFS/);
  const listed = JSON.parse((await get(`${stele.url}/@local/apis`)).text) as { items: { slug: string }[] };
  expect(listed.items.map(({ slug }) => slug)).toContain('good');
  expect((await get(`${stele.url}/@local/apis/good.json`)).text).toContain('integer');
  for (const text of [...told.values(), JSON.stringify(stele.log)]) expect(text).not.toMatch(/root:|\/bin\/bash/);
  expect(told.get('outside.yaml')).toContain('../../../etc/passwd');
});

const hasThreadNames = existsSync('/proc/self/task');

test.skipIf(!hasThreadNames)(
  hasThreadNames
    ? 'four slow writes do not take all threads for files'
    : 'skipped: this system does not name the threads of a process',
  async () => {
    const commit = world.repository.commit({ files: { 'pay.yaml': api('Pay', '1.0.0') } });
    const stele = await world.serve(world.repository.folder);
    await synced(stele, commit);
    const tasks = `/proc/${stele.pid}/task`;
    const isForFiles = (id: string) => {
      try {
        return readFileSync(`${tasks}/${id}/comm`, 'utf8') === 'libuv-worker\n';
      } catch {
        // A thread that has ended meanwhile.
        return false;
      }
    };
    expect(readdirSync(tasks).filter(isForFiles)).toHaveLength(16);
  },
);

test(`it says at the start what documents are parsed in, and refuses to start without the walls it is to have`, async () => {
  const found = await findIsolation('auto');
  const stele = await world.serve();
  expect(await stele.logged(({ msg }) => msg === 'sandbox')).toMatchObject({ ...found });
  await stele.stop();
  const config = join(world.folder, 'registry.config.mjs');
  await writeFile(config, "export default { sandbox: 'bwrap' };");
  if (found.kind === 'bwrap') {
    const strict = await world.serve('--config', config);
    expect(await strict.logged(({ msg }) => msg === 'sandbox')).toMatchObject({ kind: 'bwrap' });
  } else {
    const ended = await runStele(['serve', '--port', '0', '--config', config, ...world.data], { cwd: world.folder });
    expect(ended).toMatchObject({
      code: expect.any(Number) as number,
      stderr: expect.stringContaining(found.reason) as string,
    });
  }
});

test(`what is made in the data folder is for its owner alone, whatever the umask, and a folder that is open to others is logged`, async () => {
  const before = process.umask(0);
  const commit = world.repository.commit({ files: { 'payments.yaml': api('Payments', '1.0.0') } });
  const stele = await world.serve(world.repository.folder, '--org', 'acme').finally(() => process.umask(before));
  await synced(stele, commit);
  await get(`${stele.url}/@acme/apis/payments`, { Accept: 'text/html' });
  const root = join(world.folder, 'data');
  const made = await readdir(root, { recursive: true });
  expect(made).toEqual(
    expect.arrayContaining(['.secret-key', 'format', 'objects', 'log', 'work', 'cache', 'cache/mirrors']),
  );
  const modes = await Promise.all(
    ['', ...made].map(async (name) => {
      // A temporary file may be gone by now.
      const found = await lstat(join(root, name)).catch(() => null);
      return { name, mode: found?.mode ?? 0 };
    }),
  );
  expect(modes.filter(({ mode }) => (mode & 0o077) !== 0)).toEqual([]);
  expect(stele.log.filter(({ msg }) => msg === 'folder is open to others')).toEqual([]);
  await stele.stop();

  await chmod(root, 0o755);
  const again = await world.serve(world.repository.folder, '--org', 'acme');
  expect(await again.logged(({ msg }) => msg === 'folder is open to others')).toMatchObject({ folder: root });
});
