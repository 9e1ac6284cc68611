import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { openGitServer } from '../servers/git-http.ts';
import { serveStele, type Serving } from './stele.ts';

/** How it ended. All lists are empty where all is well. */
export interface Shuffled {
  events: number;
  /** Repositories whose tip is not what is latest. */
  behind: string[];
  /** Versions that both processes, or one of them twice, say to have published. */
  twice: string[];
  /** Versions whose bytes are not those of their commit. */
  wrong: string[];
  published: number;
}

const secret = 'a secret that only this test has';

/**
 * Pushes to repositories, at random also by force, and by deleting the branch and making it again, while two processes on one store are told of every push
 * three times, in any order, at any time, by genuine and forged hooks.
 */
export async function shuffleEvents({
  repositories: count,
  events,
}: {
  repositories: number;
  events: number;
}): Promise<Shuffled> {
  const root = await mkdtemp(join(tmpdir(), 'stele-shuffle-'));
  await using server = await openGitServer({ root });
  const random = createRandom(7);
  const repositories = Array.from({ length: count }, (_, n) =>
    createFixtureRepository(join(root, 'acme', `r${n}.git`)),
  );
  const versions = repositories.map(() => 0);
  const commits = new Map<string, string>();
  const push = (n: number, parent?: string | null) => {
    const version = `1.0.${++versions[n]!}`;
    const document = { openapi: '3.1.0', info: { title: `R${n}`, version }, paths: {} };
    const files = { 'openapi.json': JSON.stringify(document) };
    commits.set(
      `@acme/apis/r${n}@${version}`,
      repositories[n]!.commit({ files, ...(parent !== undefined && { parent }) }),
    );
  };
  for (const n of repositories.keys()) push(n);
  const followed = repositories.map((_, n) => ({ url: `${server.url}/acme/r${n}.git`, visibility: 'public' }));
  const settings = {
    organizations: { acme: { repositories: followed } },
    hosts: { gitea: { url: server.url, webhookSecret: { env: 'HOOK_SECRET' } } },
    sync: { interval: 2, concurrency: 4 },
    rateLimit: { address: 100_000 },
  };
  const config = join(root, 'config.mjs');
  await writeFile(config, `export default ${JSON.stringify(settings)};`);
  const env = { HOOK_SECRET: secret };
  const serve = () => serveStele(['--data', join(root, 'data'), '--config', config], { env });
  const processes = [await serve(), await serve()];
  try {
    const sending: Promise<void>[] = [];
    const pushes = Math.ceil(events / 3);
    for (let n = 0; n < pushes; n++) {
      const which = Math.floor(random() * count);
      const dice = random();
      if (dice < 0.05) repositories[which]!.setBranch('main', null);
      push(which, dice < 0.15 ? repositoriesFirst(commits, which) : undefined);
      for (let copy = 0; copy < 3; copy++) {
        const target = processes[Math.floor(random() * 2)]!;
        sending.push(send(target, which, random() * 3000, random() < 0.1));
      }
      await delay(10);
    }
    await Promise.all(sending);
    const behind = async () => findBehind(processes, repositories.length, versions);
    for (let tries = 0; tries < 1200 && (await behind()).length > 0; tries++) await delay(250);
    const lines = processes.flatMap(({ log }) =>
      log.filter(({ msg, outcome }) => msg === 'document' && outcome === 'published'),
    );
    const names = lines.map(({ resource, label }) => `${String(resource)}@${String(label)}`);
    return {
      events: sending.length,
      behind: await behind(),
      twice: names.filter((name, index) => names.indexOf(name) !== index),
      wrong: await findWrong(processes[0]!, [...new Set(names)], commits),
      published: names.length,
    };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await rm(root, { recursive: true, force: true });
  }
}

/** The first commit of a repository: a push on top of it rewrites what came after. */
function repositoriesFirst(commits: ReadonlyMap<string, string>, n: number): string {
  return commits.get(`@acme/apis/r${n}@1.0.1`)!;
}

async function send({ url }: Serving, n: number, wait: number, isForged: boolean): Promise<void> {
  await delay(wait);
  const body = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: `acme/r${n}` } });
  const signature = createHmac('sha256', isForged ? 'forged' : secret)
    .update(body)
    .digest('hex');
  const headers = { 'content-type': 'application/json', 'x-gitea-event': 'push', 'x-gitea-signature': signature };
  const { status } = await fetch(`${url}/v1/hooks/gitea`, { method: 'POST', headers, body });
  const wanted = isForged ? 401 : 202;
  if (status !== wanted) throw new Error(`A hook was answered ${status} instead of ${wanted}.`);
}

/** The repositories whose newest version is not the latest, in either process. */
async function findBehind(
  processes: readonly Serving[],
  count: number,
  versions: readonly number[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { url } of processes) {
    for (let n = 0; n < count; n++) {
      const response = await fetch(`${url}/@acme/apis/r${n}`);
      const { info } = response.ok
        ? ((await response.json()) as { info: { version: string } })
        : { info: { version: '' } };
      if (info.version !== `1.0.${versions[n]}`) found.push(`r${n} at ${info.version} instead of 1.0.${versions[n]}`);
    }
  }
  return found;
}

/** The versions that are not from the commit that states them. */
async function findWrong(
  { url }: Serving,
  names: readonly string[],
  commits: ReadonlyMap<string, string>,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    const { commit } = (await (await fetch(`${url}/${name}/provenance`)).json()) as { commit: string };
    if (commit !== commits.get(name)) found.push(`${name} from ${commit}`);
  }
  return found;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
