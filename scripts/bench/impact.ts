/**
 * What it costs to say whom a new version breaks: a schema that 200 APIs use by URL, on a disk. Prints the processor time
 * of the server and of its sandboxes, and how long the event loop and another organization's publishes waited meanwhile.
 *
 *   node scripts/bench/impact.ts [--users 200]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { argv } from 'zx';
import { checkConfig } from '../../src/config/load-config.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { impactGroups } from '../../src/model/dependency.ts';
import { openRegistry } from '../../src/open.ts';
import { impactOf } from '../../src/registry/graph/impact.ts';
import { nextVersionOf, publish, type PublishResult } from '../../src/registry/publish.ts';
import { createUpload } from '../../src/source/upload.ts';
import { childrenTime } from '../load/processor-time.ts';

const users = Number(argv['users'] ?? 200);
const url = 'https://registry.test';
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const config = checkConfig({ url, log: { level: 'silent' } }, { base: folder, data: join(folder, 'data') });
const registry = await openRegistry(config, undefined, { hasSpare: true });
const author = { actor: 'operator:bench', origin: null };

async function put(name: string, document: object, dryRun = false): Promise<PublishResult> {
  const { coordinate, selector } = parseCoordinate(name)!;
  const result = await publish(registry, {
    coordinate,
    snapshot: createUpload('a.json', Buffer.from(JSON.stringify(document))),
    entry: 'a.json',
    version: selector.kind === 'version' ? selector.version : null,
    onConflict: 'reject',
    latest: true,
    dryRun,
    create: { visibility: 'public' },
    author,
  });
  if (result.outcome !== 'published') throw new Error(JSON.stringify(result.report));
  return result;
}

const money = (required: string[]) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  required,
  properties: { amount: { type: 'integer' } },
});
/** Some 5 KB. */
const userOf = (number: number) => {
  const schema = { $ref: `${url}/@acme/schemas/money@^1` };
  const operation = (n: number) => ({
    post: {
      operationId: `pay${n}`,
      requestBody: { content: { 'application/json': { schema } } },
      responses: { 200: { description: 'Paid.' } },
    },
  });
  const paths = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`/payments-${n}`, operation(n)]));
  return { openapi: '3.1.0', info: { title: `User ${number}`, version: '1.0.0' }, paths };
};

await put('@acme/schemas/money@1.0.0', money([]));
for (let number = 0; number < users; number++) await put(`@team-${number % 20}/apis/user-${number}`, userOf(number));
const next = nextVersionOf(await put('@acme/schemas/money@1.1.0', money(['amount']), true))!;

let serial = 0;
/** Milliseconds of a publish of somebody else. */
async function publishBeside(): Promise<number> {
  const startedAt = performance.now();
  const info = { title: 'Beside', version: `1.0.${++serial}` };
  await put('@beside/apis/pay', { openapi: '3.1.0', info, paths: {} });
  return performance.now() - startedAt;
}
const quiet: number[] = [];
for (let round = 0; round < 20; round++) quiet.push(await publishBeside());
const beside: number[] = [];
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const [cpu, children, startedAt] = [process.cpuUsage(), childrenTime(), performance.now()];
let isDone = false;
const running = impactOf(registry, { kind: 'operator', id: 'bench' }, next, { org: 'acme' }).finally(
  () => (isDone = true),
);
while (!isDone) beside.push(await publishBeside());
const impact = await running;
const wall = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpu);
delay.disable();
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
console.log(
  `${impactGroups(impact)
    .map(({ title }) => title)
    .join(' ')} ${users} users of 5 KB in ${(wall / 1000).toFixed(1)} s, beside ${beside.length} publishes:`,
);
console.log(
  `${((user + system) / 1e6).toFixed(2)} s of processor time in the server, ${(childrenTime() - children).toFixed(2)} s in sandboxes, those publishes included;`,
);
console.log(
  `their median ${median(beside).toFixed(0)} ms (quiet: ${median(quiet).toFixed(0)} ms); longest delay of the event loop ${(delay.max / 1e6).toFixed(0)} ms.`,
);
await registry.close();
await rm(folder, { recursive: true, force: true });
process.exit(0);
