/**
 * Runs every test that draws its cases (fast-check) with a seed of its own; `npm test` has one that stays.
 * `node scripts/properties.ts [seed] [--only PART-OF-A-PATH] [--times 50] [--project "suite*"]`; by default the seed is
 * the time. A failure is repeated with the seed that is said. `--times`: they draw so many times as many cases, and
 * comparisons of schemas print how many of them cannot be judged.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { $, argv, echo } from 'zx';

const [seed = Date.now() % 2 ** 31] = argv._.map(Number);
const root = new URL('../', import.meta.url).pathname;
const texts = new Map(
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(root, 'test', name), 'utf8')]),
);
const drawing = [...texts].flatMap(([name, text]) =>
  name !== 'setup.ts' && text.includes(`'fast-check'`) ? [`/${basename(name)}'`] : [],
);
/** The tests that draw themselves, or by a file that they import. */
const files = [...texts].flatMap(([name, text]) =>
  name.endsWith('.test.ts') && ["'fast-check'", ...drawing].some((from) => text.includes(from))
    ? [join('test', name)].filter((file) => file.includes(String(argv['only'] ?? '')))
    : [],
);
const times = String(argv['times'] ?? 1);
echo(`seed ${seed}`);
const run = $({
  cwd: root,
  env: { ...process.env, STELE_TEST_SEED: String(seed), STELE_TEST_TIMES: times },
  stdio: 'inherit',
  nothrow: true,
});
const { exitCode } =
  await run`npx vitest run --config test/vitest.config.ts --project ${String(argv['project'] ?? '*')} ${files}`;
process.exitCode = exitCode ?? 1;
