/**
 * Publishes hostile rulesets to a real server, and documents against them: each is answered within 12
 * seconds and refused with the name of the rule, or does no harm. Meanwhile `/healthz` answers within
 * 50 ms, and another organization publishes. Then those with code (`hostile-functions.ts`): their median
 * effect on the publishes of the other organization is at most double what they take alone.
 *
 *   node scripts/hostile-rulesets.ts [--only name] [--code]
 *
 * Exit code 1: one of these does not hold. The times mean something only on a machine without other
 * work; `alone` is how long the same publish and `/healthz` take before each attack.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { argv } from 'zx';
import { runStele, serveStele } from '../test/e2e/stele.ts';
import { hostileFunctions } from './hostile-functions.ts';

interface Attack {
  name: string;
  ruleset: unknown;
  /** Null: the ruleset itself is refused. */
  document: unknown;
  /** What the answer says; null if the document is published. */
  says: RegExp | null;
  /** Within how many it is answered, if not within 12. */
  seconds?: number;
}

const api = (more: object) => ({ openapi: '3.1.0', info: { title: 'Pets', version: '1.0.0' }, paths: {}, ...more });
const spectral = (rules: object) => ({ rules });
const long = `${'a'.repeat(1_000_000)}!`;
/** A rule, as JSON: to the linter of this repository an object with a `then` is a promise. */
const rule = (given: string | string[], check: object = { function: 'truthy' }): unknown =>
  JSON.parse(`{"given": ${JSON.stringify(given)}, "then": ${JSON.stringify(check)}}`);
const pattern = (match: string) => rule('$.info', { field: 'title', function: 'pattern', functionOptions: { match } });
const wide = api({
  components: {
    schemas: Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`S${at}`, { type: 'object', description: 'x'.repeat(900) }]),
    ),
  },
});
const expressions = Array.from({ length: 300 }, (_, at) => `$..[?(@.type == 'n${at}')]..*`);

const attacks: Attack[] = [
  {
    name: 'pattern-exponential',
    ruleset: spectral({ slow: pattern('^(a+)+$') }),
    document: api({ info: { title: long, version: '1.0.0' } }),
    says: null,
  },
  {
    name: 'pattern-lookahead',
    ruleset: spectral({ ahead: pattern('^(?=(a+)+$)b') }),
    document: api({ info: { title: long, version: '1.0.0' } }),
    says: null,
  },
  {
    name: 'assertion-exponential',
    ruleset: {
      rules: {
        'rule/slow': { subject: { type: 'Info', property: 'title' }, assertions: { pattern: '/^(?=(a+)+$)b/' } },
      },
    },
    document: api({ info: { title: long, version: '1.0.0' } }),
    // Redocly runs the expression itself, so nothing counts its steps; seconds end it (docs/development.md, Limits).
    says: /could not be checked|slow/,
    seconds: 90,
  },
  {
    name: 'given-constructor',
    ruleset: spectral({ code: rule("$..[?(@.constructor.constructor('return process')())]") }),
    document: null,
    says: /code/,
  },
  {
    name: 'given-script',
    ruleset: spectral({ script: rule('$..[(process.exit())]') }),
    document: null,
    says: /script/,
  },
  { name: 'given-descends-20-mb', ruleset: spectral({ everywhere: rule(expressions) }), document: wide, says: null },
  {
    name: 'filters-match-20-mb',
    ruleset: spectral({ matching: rule(Array.from({ length: 300 }, (_, at) => `$..[?(@.match(/x${at}$/))]`)) }),
    document: wide,
    says: /matching/,
  },
  {
    name: 'patterns-long-text',
    ruleset: spectral(
      Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`long${at}`, pattern(`^(a|b${at}|aa)+$`)])),
    ),
    document: api({ info: { title: long.repeat(9), version: '1.0.0' } }),
    says: /long\d/,
  },
  {
    name: 'extends-itself',
    ruleset: { extends: ['@loud/rulesets/extends-itself'], rules: {} },
    document: null,
    says: /extends|not_found|no ruleset|itself/i,
  },
  {
    name: 'rules-10000',
    ruleset: spectral(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`r${at}`, pattern('a')]))),
    document: null,
    says: /limit-rules/,
  },
];

const folder = await mkdtemp(join(tmpdir(), 'stele-rulesets-'));
const config = join(folder, 'config.mjs');
const common = ['--config', config, '--data', join(folder, 'data')];
const settings = {
  organizations: { loud: {}, quiet: {} },
  rulesets: { functions: ['loud'] },
  rateLimit: { key: 1_000_000, address: 1_000_000 },
};
await writeFile(config, `export default ${JSON.stringify(settings)};`);
const keys = { loud: await createKey('loud'), quiet: await createKey('quiet') };
const stele = await serveStele(common);
let serial = 0;
let isWrong = false;
try {
  await post(keys.quiet, '/v1/apis', { name: 'small', slug: 'small' });
  for (let warm = 0; warm < 3; warm++) await publishSmall();
  for (const attack of argv['code'] ? [] : attacks)
    if (argv['only'] === undefined || attack.name.includes(String(argv['only']))) await run(attack);
  await runCode();
} finally {
  await stele.stop('SIGKILL');
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = isWrong ? 1 : 0;

async function run({ name, ruleset, document, says, seconds: most = 12 }: Attack): Promise<void> {
  const alone = await beside(() => delay(1000));
  await post(keys.loud, '/v1/rulesets', { name, slug: name });
  const attacked = await beside(async () => {
    const answer = await post(keys.loud, `/v1/rulesets/${name}/document`, { document: ruleset });
    if (document === null || answer.status !== 201) return answer;
    await post(keys.loud, '/v1/apis', { name, slug: name, ruleset: `@loud/rulesets/${name}` });
    return post(keys.loud, `/v1/apis/${name}/spec`, { document });
  });
  const { status, text, seconds } = attacked.result;
  const isRight = says === null ? status === 201 : status >= 400 && says.test(text);
  const holds = isRight && seconds <= most && attacked.health <= Math.max(50, 2 * alone.health);
  isWrong ||= !holds;
  const show = ({ health, publish }: { health: number; publish: number }) =>
    `/healthz ${health.toFixed(0)} ms, other publish ${publish.toFixed(0)} ms`;
  console.log(
    `${holds ? 'ok   ' : 'WRONG'} ${name}: ${status} after ${seconds.toFixed(1)} s; ${show(attacked)} (alone: ${show(alone)})`,
  );
  if (!isRight) console.log(`      ${text.slice(0, 300)}`);
}

/** Publishes each ruleset with code, and a document against it. Both are answered by what is wrong, or as usual. */
async function runCode(): Promise<void> {
  const chosen = hostileFunctions.filter(
    ({ name }) => argv['only'] === undefined || name.includes(String(argv['only'])),
  );
  if (chosen.length === 0) return;
  const quiet: number[] = [];
  const loud: number[] = [];
  const health: number[] = [];
  for (const [at, { name, ruleset }] of chosen.entries()) {
    if (at % 20 === 0) quiet.push(...(await beside(() => delay(3000))).publishes);
    const slug = `code-${at}`;
    await post(keys.loud, '/v1/rulesets', { name: slug, slug });
    const attacked = await beside(async () => {
      const published = await post(keys.loud, `/v1/rulesets/${slug}/document`, { document: ruleset });
      if (published.status !== 201) return published;
      await post(keys.loud, '/v1/apis', { name: slug, slug, ruleset: `@loud/rulesets/${slug}` });
      const info = { title: 'Pets', version: '1.0.0' };
      return post(keys.loud, `/v1/apis/${slug}/spec`, { document: api({ info }) });
    });
    loud.push(...attacked.publishes);
    health.push(attacked.health);
    const { status, text, seconds } = attacked.result;
    const isRight = status === 201 || (status < 500 && /"(?:ruleset|function|limit|sandbox)-/.test(text));
    const holds = isRight && seconds <= 12;
    isWrong ||= !holds;
    const found = /"rule":"([^"]+)"/.exec(text)?.[1] ?? '';
    console.log(`${holds ? 'ok   ' : 'WRONG'} ${name}: ${status} ${found} after ${seconds.toFixed(1)} s`);
    if (!isRight) console.log(`      ${text.slice(0, 300)}`);
  }
  const [alone, beneath] = [median(quiet), median(loud)];
  const isQuiet = beneath <= Math.max(50, 2 * alone);
  isWrong ||= !isQuiet;
  console.log(
    `${isQuiet ? 'ok   ' : 'WRONG'} ${chosen.length} rulesets with code; other publish ${beneath.toFixed(0)} ms (alone: ${alone.toFixed(0)} ms), slowest /healthz ${Math.max(...health).toFixed(0)} ms, median of the slowest ${median(health).toFixed(0)} ms`,
  );
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

interface Beside<T> {
  result: T;
  health: number;
  publish: number;
  publishes: number[];
}

/** Does the work, and measures the slowest `/healthz` and the slowest publish of the other organization. */
async function beside<T>(work: () => Promise<T>): Promise<Beside<T>> {
  const done = new AbortController();
  const slowest = { health: 0, publish: 0 };
  const publishes: number[] = [];
  const repeat = async (name: keyof typeof slowest, pause: number, ask: () => Promise<unknown>) => {
    while (!done.signal.aborted) {
      const from = performance.now();
      await ask();
      const took = performance.now() - from;
      slowest[name] = Math.max(slowest[name], took);
      if (name === 'publish') publishes.push(took);
      await delay(pause);
    }
  };
  const others = [
    repeat('health', 20, async () => (await fetch(`${stele.url}/healthz`)).arrayBuffer()),
    repeat('publish', 100, publishSmall),
  ];
  const result = await work().finally(() => done.abort());
  await Promise.all(others);
  return { result, ...slowest, publishes };
}

async function publishSmall(): Promise<void> {
  const version = `1.0.${++serial}`;
  const document = { openapi: '3.1.0', info: { title: 'Small', version }, paths: {} };
  const { status, text } = await post(keys.quiet, '/v1/apis/small/spec', { document });
  if (status !== 201) throw new Error(text);
}

async function post(key: string, path: string, body: object) {
  const from = performance.now();
  const response = await fetch(`${stele.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, seconds: (performance.now() - from) / 1000 };
}

async function createKey(org: string): Promise<string> {
  const { stdout, stderr } = await runStele([
    'keys',
    'create',
    '--org',
    org,
    '--scope',
    'admin',
    '--name',
    'hostile',
    ...common,
  ]);
  const key = /^stele_\w+$/m.exec(stdout)?.[0];
  if (key === undefined) throw new Error(`No key: ${stdout}${stderr}`);
  return key;
}
