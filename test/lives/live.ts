import type { UserConfig } from '../../src/config.ts';
import { repositoryId } from '../../src/model/connection.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { createRoutes, matchRoute, readDescription } from '../../src/server/v1/api-description.ts';
import { login } from './approval-verbs.ts';
import { checkLife, differences } from './check.ts';
import { createDraw, type Draw } from './draw.ts';
import { expectedStanding, firstDoc, standingOf, syncAll, type Life, type Plan, type Repo } from './life.ts';
import { commitFaces, firstFace } from './audience-verbs.ts';
import { always, commit } from './git-verbs.ts';
import { beginGated, gatedUrl, noGated, readGated } from './gated-verbs.ts';
import { noReferences } from './reference-verbs.ts';
import { smallQuotas } from './quota-verbs.ts';
import { openLifeWorld } from './world.ts';
import { maxKeys } from './model.ts';
import { verbs } from './verbs.ts';

/** How a life went. `faults`: what was not as the model has it; the life ends with the first step that has one. */
export interface Lived {
  seed: number;
  /** The steps that were taken: their numbers. */
  taken: number[];
  said: string[];
  faults: string[];
}

const author = { actor: 'operator:test', origin: null };
const conf = 'https://git.test/acme/conf.git';
const hand = 'https://git.test/acme/hand.git';
const owned = 'https://git.test/acme/owned.git';
const faces = always[1].url;
const unlimited = { key: 1_000_000, address: 1_000_000, failures: 1_000_000 };

async function begin(seed: number): Promise<Life> {
  const config: UserConfig = {
    organizations: {
      acme: { repositories: [...always, { url: conf, visibility: 'public' }] },
      small: { quotas: smallQuotas },
    },
    quotas: { keys: maxKeys },
    sync: { interval: 0, hosts: ['git.test'] },
    rateLimit: unlimited,
    login,
    url: 'https://registry.test',
    credentials: { acme: { env: 'STELE_TEST_OWNER_TOKEN', host: 'git.test' } },
  };
  const world = await openLifeWorld(seed, config);
  world.nodes = [await world.open(), await world.open()];
  const makeKey = async (org: string) =>
    (await createKey(world.nodes[0]!.registry, { org, name: 'life', scopes: ['admin'] }, author)).text;
  const repo = (name: string, url: string, by: Repo['by']): [string, Repo] => {
    const isFollowed = by === 'configuration' || by === 'audience';
    return [
      name,
      {
        name,
        url,
        by,
        isFollowed,
        id: repositoryId(url, null),
        files: new Map(),
        commits: [],
        seen: new Map(),
        tags: [],
        slugs: new Map(),
      },
    ];
  };
  const life: Life = {
    world,
    resources: new Map(),
    drafts: new Map(),
    ruleset: { labels: [], isStrict: false },
    keys: [],
    rights: [],
    small: { key: await makeKey('small'), resources: new Map() },
    persons: [],
    groupRights: [],
    defaults: { compatibility: 'none' },
    organizations: new Set(),
    consumers: new Map(),
    moments: [],
    lock: new Map(),
    sites: new Map(),
    previews: [],
    repos: new Map([
      repo('conf', conf, 'configuration'),
      repo('hand', hand, 'hand'),
      repo('owned', owned, 'owner'),
      repo('faces', faces, 'audience'),
    ]),
    overlay: { note: null, removes: null },
    book: { text: '# Book\n', sites: [] },
    references: noReferences(),
    gated: noGated(repositoryId(gatedUrl, null)),
    logSize: 0,
    watches: [],
    published: [],
    answers: [],
    admin: await makeKey('acme'),
    partner: await makeKey('partner'),
    step: 0,
  };
  commit(life, life.repos.get('conf')!, new Map([['a.json', firstDoc('conf k', createDraw(seed))]]));
  const two = life.repos.get('faces')!;
  for (const slug of ['faces', 'faces-public']) two.slugs.set(slug, slug);
  commitFaces(life, two, firstFace(createDraw(seed, 1)), life.overlay);
  beginGated(life);
  syncAll(life);
  await world.look();
  await readGated(life);
  return life;
}

const names = Object.entries(verbs).flatMap(([name, { weight }]) => Array.from({ length: weight }, () => name));

/** Lives these steps of a life; a step that does not apply is passed over. `only`: words of the verbs that are drawn. */
export async function live(seed: number, steps: readonly number[], only = ''): Promise<Lived> {
  const drawn = names.filter((each) => new RegExp(only).test(each));
  const life = await begin(seed);
  const lived: Lived = { seed, taken: [], said: [], faults: [] };
  await using _ = life.world;
  for (const step of steps) {
    const draw = createDraw(seed, step);
    const name = draw.of(drawn);
    life.world.asked.clear();
    life.step = step;
    life.world.turn = draw.number(2);
    const plan = verbs[name]!.plan(life, draw);
    // What the other process did a moment ago a read need not know, but a change over /v1 does.
    life.world[verbs[name]!.asks === undefined ? 'pass' : 'passUnseen'](1000);
    if (plan === null) continue;
    lived.taken.push(step);
    lived.said.push(`${step} ${name}: ${plan.says}`);
    // Now and then the process is killed while it works, and asked again when it is back.
    if (plan.isRepeatable && draw.chance(0.08)) {
      lived.said.push(`${step} killed while it worked, and asked again`);
      await dieWhile(life, plan, draw);
      lived.faults.push(...(await take(life, plan, afterDeath)));
    } else lived.faults.push(...(await take(life, plan)));
    for (const operation of changing(life.world.asked))
      if (!said(name).includes(operation)) lived.faults.push(`${name} asks for ${operation}, and does not say so`);
    if (lived.faults.length > 0) return lived;
  }
  lived.faults.push(...(await checkLife(life)));
  return lived;
}

/** What a verb says that it asks for. To ask again is to ask what another verb did. */
const said = (name: string): readonly string[] =>
  name === 'ask again' ? Object.values(verbs).flatMap(({ asks = [] }) => asks) : (verbs[name]!.asks ?? []);

const routes = createRoutes(readDescription().operations);

/** The operations of these requests that are not GET. */
function changing(requests: ReadonlySet<string>): string[] {
  return [...requests].flatMap((request) => {
    const [method, path] = request.split(' ') as [string, string];
    return method === 'GET' ? [] : (matchRoute(routes, path)?.route.operations.get(method.toLowerCase())?.id ?? []);
  });
}

/** Longer than what a process that was killed may hold. */
const takenOver = 4 * 60_000;

async function dieWhile(life: Life, plan: Plan, draw: Draw): Promise<void> {
  const { world, answers, keys } = life;
  const node = world.nodes[world.turn]!;
  const [heard, given] = [answers.length, keys.length];
  node.die(draw.number(10), draw.chance(0.5));
  await plan.ask().catch(() => undefined);
  // Who is dead says nothing.
  answers.length = heard;
  keys.length = given;
  await world.replace(node);
  world.pass(takenOver);
  // What a dying process logs is no fault.
  world.errors.length = 0;
}

/** Who died after what it did, and before it said so, finds it done: 200 where 201 is expected. */
function afterDeath(answer: unknown): unknown {
  if (answer === 201) return 200;
  const isCreated = typeof answer === 'object' && answer !== null && 'status' in answer && answer.status === 201;
  return isCreated ? { ...answer, status: 200 } : answer;
}

async function take(life: Life, plan: Plan, plain = (answer: unknown): unknown => answer): Promise<string[]> {
  const found: string[] = [];
  const got = await plan.ask().catch((error: unknown) => ({ thrown: error instanceof Error ? error.stack : error }));
  found.push(...differences(plain(got), plain(plan.expected)));
  for (const slug of plan.touches ?? []) {
    const [standing, wanted] = [await standingOf(life, slug), expectedStanding(life.resources.get(slug)!)];
    found.push(...differences(standing, wanted, `${slug}: `));
  }
  return found;
}

/** The shortest life found with a fault: steps are left out, many at first, as long as one remains. */
export async function shrink(lived: Lived, only?: string): Promise<Lived> {
  let shortest = lived;
  for (let size = Math.ceil(lived.taken.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < shortest.taken.length;) {
      const { seed, taken } = shortest;
      const shorter = await live(seed, [...taken.slice(0, from), ...taken.slice(from + size)], only);
      if (shorter.faults.length > 0) shortest = shorter;
      else from += size;
    }
  return shortest;
}
