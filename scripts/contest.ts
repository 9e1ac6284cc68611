/**
 * Many clients publish to one API at once, over HTTP, to a server with a store on disk and the real compiler: in each round all of them want one
 * label, each for a document of its own. Checks that each label has one winner, that what is served is the winner's, that no version is
 * lost and that latest is right.
 *
 *   node scripts/contest.ts [--clients 64] [--rounds 2000]
 *
 * Exit code 1: one of that did not hold.
 */
import { rm } from 'node:fs/promises';
import { argv, echo, tmpdir } from 'zx';
import { checkConfig } from '../src/config.ts';
import { openRegistry } from '../src/open.ts';
import { createKey } from '../src/registry/keys.ts';
import { createPulls } from '../src/pulls/pulls.ts';
import { createSyncQueue } from '../src/sync/queue.ts';
import { openServer } from '../src/server/server.ts';

const clients = Number(argv['clients'] ?? 64);
const rounds = Number(argv['rounds'] ?? 2000);
const data = tmpdir();
const rateLimit = { key: 1e9, address: 1e9, failures: 1e9 };
const registry = await openRegistry(checkConfig({ rateLimit }, { base: data, data }));
const queue = createSyncQueue(registry, createPulls);
const server = await openServer(registry, queue, { host: '127.0.0.1', port: 0 });
const author = { actor: 'operator:contest', origin: null };
const { text: key } = await createKey(registry, { org: 'acme', name: 'contest', scopes: ['admin'] }, author);
const wrong: string[] = [];

async function call(
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const titleOf = (client: number) => `By client ${client}`;

async function contest(round: number): Promise<void> {
  const version = `1.0.${round}`;
  const answers = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      call('POST', '/v1/apis/pay/spec', {
        version,
        document: { openapi: '3.1.0', info: { title: titleOf(client), version }, paths: {} },
      }),
    ),
  );
  const winners = answers.flatMap(({ status }, client) => (status === 201 ? [client] : []));
  const losers = answers.filter(({ status }) => status === 409);
  if (winners.length !== 1 || losers.length !== clients - 1) {
    wrong.push(`${version}: ${winners.length} winners, ${losers.length} losers of ${clients}`);
  }
  const { json } = await call('GET', `/@acme/apis/pay@${version}.json`);
  const { title } = json['info'] as { title: string };
  if (title !== titleOf(winners[0]!)) wrong.push(`${version}: ${title} is served, ${titleOf(winners[0]!)} won`);
  const latest = (await call('GET', '/v1/apis/pay')).json['latest'];
  if (latest !== version) wrong.push(`${version}: latest is ${String(latest)}`);
}

await call('POST', '/v1/apis', { name: 'Pay', slug: 'pay' });
const startedAt = performance.now();
for (let round = 0; round < rounds; round++) {
  await contest(round);
  if ((round + 1) % 100 === 0) echo(`${round + 1} rounds, ${Math.round((performance.now() - startedAt) / 1000)} s`);
}
const seconds = (performance.now() - startedAt) / 1000;
let published = 0;
for (let cursor: unknown = ''; cursor !== null;) {
  const page = await call('GET', `/v1/apis/pay/versions?limit=100${cursor === '' ? '' : `&cursor=${String(cursor)}`}`);
  published += (page.json['items'] as unknown[]).length;
  cursor = page.json['next'];
}
if (published !== rounds) wrong.push(`${published} versions of ${rounds} are there`);
echo(
  `${rounds} rounds of ${clients} clients in ${seconds.toFixed(0)} s: ${Math.round((rounds * clients) / seconds)} publishes a second`,
);
echo(wrong.length === 0 ? 'One winner for each label, none lost, latest right.' : wrong.slice(0, 20).join('\n'));
process.exitCode = wrong.length === 0 ? 0 : 1;
await server.close();
await queue.close();
await registry.close();
await rm(data, { recursive: true });
