/**
 * An estate: APIs of the corpus, of at most 200 KB each, under one ruleset, which becomes stricter. Prints the time and the processor time of the replay of everything and
 * of the health and its lists, and how long another organization's reads and publishes took meanwhile.
 *
 *   node scripts/bench/estate.ts [--apis 300]
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { argv, glob } from 'zx';
import { checkConfig } from '../../src/config/load-config.ts';
import { anonymous } from '../../src/model/access.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { findLayer } from '../../src/model/artifact.ts';
import { openRegistry } from '../../src/open.ts';
import { concerns, readHealth } from '../../src/registry/estate/health.ts';
import { replayEstate } from '../../src/registry/estate/replay-estate.ts';
import { replay, type Candidate } from '../../src/registry/gate/replay.ts';
import { findRuleset } from '../../src/registry/gate/ruleset-gate.ts';
import { publish, type PublishResult } from '../../src/registry/publish.ts';
import { grantRead, grantVersion, openBlob, readManifest } from '../../src/registry/read.ts';
import { createUpload } from '../../src/source/upload.ts';
import { childrenTime } from '../load/processor-time.ts';

const wanted = Number(argv['apis'] ?? 300);
/** Of a document. */
const maxBytes = 200_000;
const corpus = new URL('../../../shared/corpus/openapi', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const settings = {
  log: { level: 'silent' },
  organizations: { acme: { defaults: { ruleset: '@acme/rulesets/style' } } },
};
const config = checkConfig(settings, { base: folder, data: join(folder, 'data') });
const registry = await openRegistry(config, undefined, { hasSpare: true, isForeground: true });
const operator = { kind: 'operator', id: 'bench' } as const;
const author = { actor: 'operator:bench', origin: null };

async function put(name: string, file: string, bytes: Uint8Array): Promise<PublishResult> {
  return publish(registry, {
    coordinate: parseCoordinate(name)!.coordinate,
    snapshot: createUpload(file, bytes),
    entry: file,
    version: null,
    onConflict: 'revise',
    latest: true,
    dryRun: false,
    create: { visibility: 'public', validation: 'lenient' },
    author,
  });
}

/** What the work takes: seconds, and seconds of processor time of the server and of its sandboxes. */
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const [cpu, children, startedAt] = [process.cpuUsage(), childrenTime(), performance.now()];
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  const figures = [(performance.now() - startedAt) / 1000, (user + system) / 1e6, childrenTime() - children];
  console.log(`${what}: ${figures.map((each) => each.toFixed(2)).join(' s, ')} s (wall, server, sandboxes)`);
  return result;
}

const ruleset = (severity: string, version: string) =>
  Buffer.from(
    JSON.stringify({
      version,
      rules: {
        'operation-summary': severity,
        'operation-operationId': 'warn',
        'info-contact': 'warn',
        'tag-description': severity,
      },
    }),
  );
await put('@acme/rulesets/style', 'style.json', ruleset('warn', '1.0.0'));
let bytes = 0;
let count = 0;
const paths = await glob(`${corpus}/{company,apis-guru,oai-*,multi}/**/*.{json,yaml,yml}`);
// Where there are not enough, the first are taken twice.
for (const path of [...paths.toSorted(), ...paths.toSorted()]) {
  if (count === wanted) break;
  const text = await readFile(path);
  if (text.length > maxBytes) continue;
  const file = path.endsWith('.json') ? 'a.json' : 'a.yaml';
  const result = await put(`@acme/apis/api-${count + 1}`, file, text).catch(() => null);
  if (result?.outcome !== 'published') continue;
  bytes += text.length;
  count++;
  if (count % 50 === 0) console.log(`${count} published`);
}
console.log(`${count} APIs of the corpus, ${(bytes / 1e6).toFixed(1)} MB`);

const minor = (n: number) => Buffer.from(`{"openapi":"3.1.0","info":{"title":"N","version":"1.0.${n}"},"paths":{}}`);
let serial = 0;
const times = { reads: [] as number[], publishes: [] as number[] };
/** Reads and publishes of somebody else, one after the other. */
async function beside(until: () => boolean): Promise<typeof times> {
  const seen: typeof times = { reads: [], publishes: [] };
  for (let turn = 0; !until(); turn++) {
    const startedAt = performance.now();
    if (turn % 20 === 0) {
      await put('@beside/apis/pay', 'a.json', minor(++serial));
      seen.publishes.push(performance.now() - startedAt);
    } else {
      const coordinate = { org: 'beside', type: 'apis', slug: 'pay' } as const;
      const { granted } = grantVersion((await grantRead(registry, anonymous, coordinate))!, { kind: 'latest' })!;
      const layer = findLayer(await readManifest(registry, granted), 'json', 'identity')!;
      await openBlob(registry, granted, layer.digest);
      seen.reads.push(performance.now() - startedAt);
    }
    await delay(5);
  }
  return seen;
}
const say = ({ reads, publishes }: typeof times) => {
  const at = (values: readonly number[], share: number) =>
    (values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN).toFixed(1);
  return `reads ${at(reads, 0.5)} / ${at(reads, 0.99)} ms (median / p99 of ${reads.length}), publishes ${at(publishes, 0.5)} / ${at(publishes, 0.95)} ms (median / p95 of ${publishes.length})`;
};
await beside(() => serial > 3);
const quietUntil = performance.now() + 10_000;
console.log(`neighbour, quiet: ${say(await beside(() => performance.now() > quietUntil))}`);

await put('@acme/rulesets/style', 'style.json', ruleset('error', '2.0.0'));
let isDone = false;
const neighbour = beside(() => isDone);
await timed('replay of everything, with the neighbour', () =>
  replayEstate(registry, 'acme').finally(() => (isDone = true)),
);
console.log(`neighbour, meanwhile: ${say(await neighbour)}`);
await timed('the same again', () => replayEstate(registry, 'acme'));
const { items, score } = await timed('health', () => readHealth(registry, operator, 'acme'));
await timed('health again', () => readHealth(registry, operator, 'acme'));
const failing = items.filter(({ rules }) => rules.some(({ rule }) => rule === 'operation-summary')).length;
const byConcern = Object.entries(concerns).map(([name, fits]) => `${name} ${items.filter(fits).length}`);
console.log(`score ${score}; fail operation-summary: ${failing} of ${items.length}; ${byConcern.join(', ')}`);
const { coordinate } = parseCoordinate('@acme/rulesets/style')!;
const candidate: Candidate = { coordinate, ruleset: await findRuleset(registry, 'acme', '@acme/rulesets/style@1.0.0') };
const { totals } = await timed('what would style@1 block', () =>
  replay(registry, operator, candidate, null, () => false, {}),
);
console.log(JSON.stringify(totals));
await registry.close();
await rm(folder, { recursive: true, force: true });
process.exit(0);
