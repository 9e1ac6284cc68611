/**
 * Many repositories of one organization are pushed to at once, again and again, while some of them never answer, and two servers on one store
 * are told by hooks. In each round one of the servers is killed with SIGKILL at a random moment, and started again. Checks that the tips are
 * published, that nothing that was visible is lost, that no commit is published twice, and that each version is that of its commit.
 *
 *   node scripts/load/pushes.ts [--repositories 40] [--hanging 2] [--rounds 20] [--seed 1] [--patience 120] [--no-kills]
 *
 * Prints how long it took from a push to its version, for the repositories that answer. Exit code 1: one of that did not hold.
 */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { argv } from 'zx';
import { runStele, serveStele, type Serving } from '../../test/e2e/stele.ts';
import { createFixtureRepository } from '../../test/servers/fixture-repository.ts';
import { openGitServer } from '../../test/servers/git-http.ts';
import { conclude, createRandom } from '../faults/operations.ts';
import { quantile } from './quantile.ts';

const count = Number(argv['repositories'] ?? 40);
const hanging = Number(argv['hanging'] ?? 2);
const rounds = Number(argv['rounds'] ?? 20);
const isKilling = argv['kills'] !== false;
const random = createRandom(Number(argv['seed'] ?? 1));
const secret = 'a secret that only this script has';
/** Seconds that a round may take. A busy machine needs more. */
const patience = Number(argv['patience'] ?? 120);

const root = await mkdtemp(join(tmpdir(), 'stele-load-'));
await using server = await openGitServer({ root });
const repositories = Array.from({ length: count }, (_, n) => createFixtureRepository(join(root, 'acme', `r${n}.git`)));
const answering = [...repositories.keys()].slice(hanging);
/** Commits of each repository's versions, by label. */
const commits = repositories.map(() => new Map<string, string>());
const seen = repositories.map(() => new Set<string>());
const wrong: string[] = [];

const config = join(root, 'config.mjs');
const followed = repositories.map((_, n) => ({ url: `${server.url}/acme/r${n}.git`, visibility: 'public' }));
await writeFile(
  config,
  `export default ${JSON.stringify({
    organizations: { acme: { repositories: followed } },
    hosts: { gitea: { url: server.url, webhookSecret: { env: 'HOOK_SECRET' } } },
    sync: { interval: 5, timeLimit: 30 },
    rateLimit: { address: 1_000_000 },
  })};`,
);
const common = ['--data', join(root, 'data'), '--config', config];
const start = () => serveStele(common, { env: { HOOK_SECRET: secret } });

/** Commits the next version of a repository's document. */
function push(n: number): void {
  const version = `1.0.${commits[n]!.size + 1}`;
  const get = { operationId: 'list', responses: { 200: { description: 'All of them.' } } };
  const document = { openapi: '3.1.0', info: { title: `R${n}`, version }, paths: { [`/v${version}`]: { get } } };
  commits[n]!.set(version, repositories[n]!.commit({ files: { 'openapi.json': JSON.stringify(document) } }));
}

async function hook({ url }: Serving, n: number): Promise<void> {
  const body = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: `acme/r${n}` } });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-gitea-event': 'push', 'x-gitea-signature': signature };
  // A hook that a killed server did not answer is lost, as it may be in life.
  await fetch(`${url}/v1/hooks/gitea`, { method: 'POST', headers, body }).catch(() => undefined);
}

const tipOf = (n: number) => `1.0.${commits[n]!.size}`;

/** Resolves with the milliseconds after which any of these servers shows the tip. Null: not in time. */
async function untilVisible(n: number, since: number, asked: readonly Serving[] = nodes): Promise<number | null> {
  while (performance.now() - since < 1000 * patience) {
    for (const { url } of asked) {
      const response = await fetch(`${url}/@acme/apis/r${n}@${tipOf(n)}`, { method: 'HEAD' }).catch(() => null);
      if (response?.status === 200) {
        seen[n]!.add(tipOf(n));
        return performance.now() - since;
      }
    }
    await delay(25);
  }
  return null;
}

async function playRound(round: number): Promise<number[]> {
  const since = performance.now();
  for (const n of repositories.keys()) push(n);
  const told = repositories.map((_, n) => hook(nodes[random(2) - 1]!, n));
  const visible = answering.map((n) => untilVisible(n, since));
  if (isKilling) {
    await delay(random(2000));
    const victim = random(2) - 1;
    await nodes[victim]!.stop('SIGKILL');
    nodes[victim] = await start();
  }
  await Promise.all(told);
  const times = await Promise.all(visible);
  for (const [index, time] of times.entries())
    if (time === null) wrong.push(`round ${round}: the tip of r${answering[index]} is not there after ${patience} s`);
  return times.filter((time) => time !== null);
}

/** Checks every version of a repository, as readers see them. */
async function checkVersions(url: string, n: number): Promise<void> {
  const { items } = (await (await fetch(`${url}/@acme/apis/r${n}/versions?limit=100`)).json()) as {
    items: { version: string }[];
  };
  const labels = items.map(({ version }) => version);
  for (const label of seen[n]!) if (!labels.includes(label)) wrong.push(`r${n}: ${label} was visible, and is lost`);
  if (labels.length !== new Set(labels).size) wrong.push(`r${n}: a label is there twice`);
  for (const label of labels) {
    const { commit } = (await (await fetch(`${url}/@acme/apis/r${n}@${label}/provenance`)).json()) as {
      commit: string;
    };
    if (commit !== commits[n]!.get(label)) wrong.push(`r${n}@${label} is from ${commit}`);
  }
}

for (const n of repositories.keys()) push(n);
const nodes = [await start(), await start()];
const times: number[] = [];
try {
  const begun = performance.now();
  const first = (await Promise.all(repositories.map((_, n) => untilVisible(n, begun)))).filter((time) => time !== null);
  console.log(`first sync of ${count}: the last after ${(quantile(first, 1) / 1000).toFixed(1)} s`);
  server.behaviour.hangs = (path) => answeringPath(path) === false;
  for (let round = 1; round <= rounds; round++) {
    const these = await playRound(round);
    times.push(...these);
    console.log(
      `round ${round}: p50 ${(quantile(these, 0.5) / 1000).toFixed(1)} s, last ${(quantile(these, 1) / 1000).toFixed(1)} s, ${wrong.length} wrong`,
    );
  }
  server.behaviour.hangs = () => false;
  const again = performance.now();
  // On the server that is checked: another one may show a version half a second earlier.
  const late = await Promise.all(repositories.map((_, n) => untilVisible(n, again, nodes.slice(0, 1))));
  for (const [n, time] of late.entries()) if (time === null) wrong.push(`r${n} does not follow again`);
  for (const n of repositories.keys()) await checkVersions(nodes[0]!.url, n);
} finally {
  await Promise.all(nodes.map((node) => node.stop()));
}
const fsck = await runStele(['fsck', ...common]);
if (fsck.code !== 0) wrong.push(`stele fsck: ${fsck.stdout}${fsck.stderr}`);
await rm(root, { recursive: true, force: true });
const [p50, p95, last] = [0.5, 0.95, 1].map((q) => `${(quantile(times, q) / 1000).toFixed(2)} s`);
conclude(
  `${rounds} rounds of ${count} pushes, ${hanging} hanging, ${isKilling ? rounds : 0} kills: push to visible p50 ${p50}, p95 ${p95}, longest ${last}`,
  wrong,
);

function answeringPath(path: string): boolean {
  const n = Number(/\/r(\d+)\.git/.exec(path)?.[1]);
  return answering.includes(n);
}
