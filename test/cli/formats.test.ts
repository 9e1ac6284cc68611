import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { runHere } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'stele-formats-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each store, and what every command says of it. */
const stores = {
  later: { files: { format: '{"format":3}' }, says: 'The store has format 3;' },
  unreadable: { files: { format: '{"form' }, says: 'The store has format that cannot be read;' },
  first: {
    files: { 'refs/resources/a/1': '{}' },
    says: 'The store has format 1, that of Stele before its first release;',
  },
};

for (const [name, { files }] of Object.entries(stores))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, path, '..'), { recursive: true });
    writeFileSync(join(folder, name, path), text);
  }
mkdirSync(join(folder, 'pages'));
writeFileSync(join(folder, 'pages/index.md'), '# Hello\n');
writeFileSync(join(folder, 'style.yaml'), 'rules: {}\n');
mkdirSync(join(folder, 'good'));
writeFileSync(join(folder, 'good/format'), '{"format":2}');
writeFileSync(join(folder, 'named.config.json'), JSON.stringify({ store: { kind: 'fs', path: './good' } }));
writeFileSync(join(folder, 'api.yaml'), 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n');

/** How each command gets a store that it opens: `$` stands for its folder. Null: it opens none. */
const commands: Record<string, string[] | null> = {
  init: null,
  doctor: null,
  serve: ['serve --port 0 --data $'],
  operator: ['operator link --registry http://127.0.0.1:7700 --data $'],
  publish: ['publish api.yaml @acme/apis/pay --data $'],
  lint: null,
  check: null,
  diff: ['diff @acme/apis/pay@1 @acme/apis/pay@2 --data $'],
  replay: null,
  discover: null,
  add: null,
  install: null,
  update: null,
  outdated: null,
  list: null,
  remove: null,
  sync: ['sync --data $'],
  repositories: ['repositories --data $'],
  import: ['import @acme/apis/pay --tags v* --data $'],
  sites: ['sites publish @acme/sites/docs pages --data $'],
  visibility: ['visibility @acme/apis/pay public --data $'],
  deprecate: ['deprecate @acme/apis/pay@1.0.0 --reason old --data $'],
  yank: ['yank @acme/apis/pay@1.0.0 --reason wrong --data $'],
  reactivate: ['reactivate @acme/apis/pay@1.0.0 --data $'],
  keys: ['keys list --org acme --data $', 'keys create --name x --org acme --scope read --data $'],
  webhooks: ['webhooks list --org acme --data $'],
  approvals: ['approvals list --org acme --data $'],
  organizations: ['organizations list --data $', 'organizations rights --org acme --data $'],
  login: null,
  logout: null,
  mcp: ['mcp --data $'],
  completion: null,
  log: ['log @acme/apis/pay --data $'],
  verify: ['verify @acme/apis/pay --data $'],
  fsck: ['fsck --data $'],
  backup: ['backup copy --data $'],
  restore: ['restore $ --data new'],
  migrate: ['migrate copy --data $'],
  gc: ['gc --data $'],
  build: ['build --out out --data $'],
};

test('the table has every command', async () => {
  const program = await createProgram();
  expect(Object.keys(commands)).toEqual(program.commands.map((command) => command.name()));
});

const lines = Object.values(commands).flatMap((all) => all ?? []);

test.each(lines)('%s refuses a store of another format in the same words, and leaves it as it is', async (line) => {
  for (const [name, { says, files }] of Object.entries(stores)) {
    const { code, stdout, stderr } = await runHere(line.replace('$', name).split(' '), { cwd: folder });
    expect([code, stdout], stderr).toEqual([3, '']);
    expect(stderr).toContain(says);
    expect(stderr).toMatch(
      /this version of Stele reads format 2\. Use the version of Stele that wrote it, or point Stele to/,
    );
    const kept = readdirSync(join(folder, name)).filter((each) => each !== 'cache' && each !== '.tmp');
    expect(kept).toEqual([Object.keys(files)[0]!.split('/')[0]]);
  }
});

/** Lines that open a store only to look something up in it, or to fill it. */
const alsoOpen = [
  'lint api.yaml --ruleset @acme/rulesets/style --data $',
  'replay style.yaml @acme/rulesets/style --data $',
  'discover . --data $',
  'keys list --org acme --data $',
  'restore good --data $',
];

test.each([...lines.filter((line) => !line.startsWith('restore')), ...alsoOpen])(
  '%s is about the store that it names, also where the configuration names another',
  async (line) => {
    const args = [...line.replace('$', 'later').split(' '), '--config', 'named.config.json'];
    const { code, stderr } = await runHere(args, { cwd: folder, env: { STELE_KEY: 'a key' } });
    expect([code, stderr]).toEqual([3, expect.stringContaining(stores.later.says)]);
    expect(readdirSync(join(folder, 'good')).filter((each) => each !== '.tmp')).toEqual(['format']);
  },
);

test.each(lines.filter((line) => !line.startsWith('restore')))(
  '%s starts no store beside the one of the configuration',
  async (line) => {
    const args = [...line.replace('$', 'nothing').split(' '), '--config', 'named.config.json'];
    const { code, stderr } = await runHere(args, { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing holds no store')]);
    expect(existsSync(join(folder, 'nothing'))).toBe(false);
  },
);

test('a restore fills the store that --data names, whatever the configuration names', async () => {
  const { code, stderr } = await runHere(['restore', 'good', '--data', 'filled', '--config', 'named.config.json'], {
    cwd: folder,
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(existsSync(join(folder, 'filled/format'))).toBe(true);
});
