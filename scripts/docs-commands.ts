/**
 * Runs every command of `content/docs` in the world that its examples speak of (`scripts/docs/world.ts`), page by page, and fails
 * where one does not end well. The pages for operators run once more where the configuration names a `store`, and none of their
 * commands may begin another one in the data folder. What is left out is listed with the reason (`scripts/docs/left-out.ts`).
 *
 *   npm run docs:commands [page…]
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { $, argv, echo, tmpdir } from 'zx';
import { leftOut, whyLeftOut } from './docs/left-out.ts';
import { readCommands, type DocCommand } from './docs/read-commands.ts';
import { makeWorld, openCopy, type DocWorld } from './docs/world.ts';

const cli = new URL('../src/cli.ts', import.meta.url).pathname;

/** How a page's text becomes what is typed here. */
function typed(text: string, { folder, url, metrics }: DocWorld, copy: string): string {
  return (
    text
      // As the user of the unit, in its folder.
      .replace(/^cd \/opt\/stele$/, 'cd "$WORK"')
      .replace(
        /^sudo -u stele STELE_DATA=\/var\/lib\/stele node_modules\/\.bin\/stele/,
        'STELE_DATA="$WORK/.stele" stele',
      )
      .replaceAll('https://contracts.example.com', url)
      .replaceAll('http://localhost:7700', url)
      .replaceAll('127.0.0.1:9464', metrics)
      .replaceAll(/https:\/\/github\.com\/acme\/(apis|docs)(?:\.git)?/g, `${folder}/$1`)
      .replaceAll(/(?<=[ =])\/(backups|var\/lib)\//g, `${copy}/$1/`)
      .replaceAll('?wait=30', '?wait=1')
      .replace('STELE_KEY=… ', '')
      // The page has two ways to make one site.
      .replace('"slug": "handbook"', '"slug": "second"')
      .replace(/^stele init/, 'mkdir -p ../new-$RANDOM && cd $_ && stele init')
  );
}

/** What a page may use: the program, and curl that fails where the server refuses. A server is ended once it listens. */
const prelude = `
stele() {
  if [ "$1" != serve ]; then "$NODE" "$CLI" "$@"; return; fi
  : > serve.log
  "$NODE" "$CLI" "$@" --port 0 > serve.log 2>&1 & p=$!
  until grep -q 'listening on' serve.log; do kill -0 $p 2>/dev/null || { cat serve.log; return 1; }; sleep 0.1; done
  kill $p; wait $p
}
curl() { command curl --silent --show-error --fail-with-body "$@"; }
`;

interface Outcome extends DocCommand {
  code: number;
  output: string;
}

/** Runs a page's commands in one shell, each to its end. */
async function runPage(commands: readonly DocCommand[], world: DocWorld): Promise<Outcome[]> {
  const copy = tmpdir();
  const served = await openCopy(world, copy);
  try {
    const end = `end ${crypto.randomUUID()}`;
    // A group, not a subshell: a later command may use what an earlier one set.
    const lines = commands.map(
      ({ text }) => `{\n${typed(text, world, copy)}\n} 2>&1 < /dev/null; echo "${end} $?"; cd "$WORK"`,
    );
    const env = {
      PATH: process.env['PATH'],
      HOME: copy,
      NODE: process.execPath,
      CLI: cli,
      WORK: join(copy, 'work'),
      STELE_KEY: world.key,
      KEY: world.key,
      REGISTRY: world.url,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    };
    const script = `set -o pipefail\n${prelude}\ncd "$WORK"\n${lines.join('\n')}\n`;
    const { stdout } = await $({ env, nothrow: true, quiet: true, input: script })`bash --norc --noprofile -s`;
    const outputs = stdout.split(new RegExp(`${end} (\\d+)\n`));
    return commands.map((command, at) => ({
      ...command,
      output: outputs[at * 2] ?? '',
      code: Number(outputs[at * 2 + 1] ?? -1),
    }));
  } finally {
    await served.stop();
    await rm(copy, { recursive: true, force: true });
  }
}

const pages = readCommands();
const all = [...pages.values()].flat();
const stale = leftOut.filter(
  ({ page, pattern }) => !all.some((each) => (page ?? each.page) === each.page && pattern.test(each.text)),
);
/** Pages of commands that somebody types who runs a registry, whose configuration may name a `store`. */
const forOperators = ['operating', 'erasing', 'upgrading'];
const noOtherStore = 'test ! -e .stele/format # No command began a store in the data folder.';
let failed = stale.length;
let ran = 0;

/** Runs the pages in a world. `last`: after each page, in the same folder. */
async function runAll(world: DocWorld, names: readonly string[], title: string, last: string[]): Promise<void> {
  for (const name of names) {
    const toRun = pages.get(name)!.filter((command) => whyLeftOut(command) === null);
    if (toRun.length === 0 || (argv._.length > 0 && !argv._.includes(name))) continue;
    const outcomes = await runPage([...toRun, ...last.map((text) => ({ page: name, text }))], world);
    ran += toRun.length;
    const wrong = outcomes.filter(({ code }) => code !== 0);
    failed += wrong.length;
    echo(`${wrong.length === 0 ? 'ok' : 'failed'}  ${name}${title}: ${toRun.length} commands`);
    for (const { text, code, output } of wrong)
      echo(`  ${text}\n  exit code ${code}\n${output.replaceAll(/^/gm, '    ')}`);
  }
}

for (const { page, pattern } of stale) echo(`Nothing is left out by ${page ?? ''} ${pattern}`);
for (const hasStore of [false, true]) {
  const world = await makeWorld(tmpdir(), { hasStore });
  try {
    if (hasStore) await runAll(world, forOperators, ', with `store`', [noOtherStore]);
    else await runAll(world, [...pages.keys()], '', []);
  } finally {
    await rm(world.folder, { recursive: true, force: true });
  }
}
const left = all.filter((each) => whyLeftOut(each) !== null);
for (const [why, commands] of Map.groupBy(left, (each) => whyLeftOut(each)!))
  echo(`left out  ${commands.length}: ${why}`);
echo(`${all.length} commands, ${left.length} of them left out: ${ran} run, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
