import { setTimeout as wait } from 'node:timers/promises';
import { eventsOfRepository } from '../../src/events/events.ts';
import { pullRef, type Check, type PullCheck } from '../../src/model/check.ts';
import { repositoryRef, type Repository } from '../../src/model/connection.ts';
import type { Resource } from '../../src/model/resource.ts';
import { receiveHook } from '../../src/sync/receive-hook.ts';
import { keyOf } from './approval-verbs.ts';
import type { Draw } from './draw.ts';
import { breaksOf, contractIn, copyOf, editNames, edits, firstContract, mergeTrees, noTree, textsOf, type Contract, type Entry, type Tree } from './gated-model.ts'; // prettier-ignore
import { syncAll, type Life, type Plan, type Verbs } from './life.ts';
import { versionBefore } from './model.ts';

/** A pull request: its commits, and what they touched. */
interface OpenPull {
  number: number;
  head: string;
  /** The commit of the branch from which it goes on. */
  base: string;
  baseTree: Tree;
  tree: Tree;
  wrote: Map<string, Set<string>>;
}

interface GatedVersion {
  label: string;
  place: number;
  contract: Contract;
  text: string;
}

/** The repository whose contracts want approval. What was published of it is what was read; the rest is of the pushes. */
export interface Gated {
  url: string;
  id: string;
  tip: string;
  tree: Tree;
  /** The newest whose `stele.yaml` could be read. */
  read: Tree;
  /** What earlier pushes had. */
  past: Tree[];
  count: number;
  versions: Map<string, GatedVersion[]>;
  /** Who wrote a contract, and the number of the last such commit. */
  wrote: Map<string, Map<string, number>>;
  /** Who may count as an author: everybody who ever did anything with what stands beside a contract, or with the settings. */
  touched: Map<string, Set<string>>;
  settled: Set<string>;
  /** Which contracts a slug was given to. */
  hosted: Map<string, Set<string>>;
  approved: { slug: string; breaks: readonly string[] }[];
  pull: OpenPull | null;
  /** What tags have, by their versions, and the number of the newest commit then. */
  tags: Map<string, { tree: Tree; at: number }>;
}

const crew = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gil', 'hal'] as const;
export const gatedUrl = 'https://git.test/acme/gated.git';

export const noGated = (id: string): Gated => ({
  url: gatedUrl,
  id,
  tip: '',
  tree: noTree(),
  read: noTree(),
  past: [],
  count: 0,
  versions: new Map(),
  wrote: new Map(),
  touched: new Map(),
  settled: new Set(),
  hosted: new Map(),
  approved: [],
  pull: null,
  tags: new Map(),
});

const add = (map: Map<string, Set<string>>, key: string, who: Iterable<string>): void => {
  const names = map.getOrInsertComputed(key, () => new Set());
  for (const each of who) names.add(each);
};

const isSame = (one: Iterable<unknown>, other: Iterable<unknown>) =>
  JSON.stringify([...one]) === JSON.stringify([...other]);

/** Whether the file of a contract is another one, or has another text. */
function isWritten(before: Tree, after: Tree, title: string): boolean {
  const fileIn = ({ files }: Tree) => [...files].filter(([, contract]) => contract.title === title);
  return !isSame(fileIn(before), fileIn(after));
}

/** Commits edits to a branch, and says what they were. */
function write(gated: Gated, life: Life, draw: Draw, on: { branch?: string; parent?: string }, tree: Tree) {
  const wrote = new Map<string, Set<string>>();
  const said: string[] = [];
  let { parent } = on;
  let commit = '';
  const isSquashed = draw.chance(0.2);
  const people = new Set<string>();
  const several = draw.of([1, 1, 2, 3]);
  for (let left = several; left > 0; left--) {
    const name = draw.of(editNames);
    const path = draw.of([...tree.entries.keys()]);
    const who = [draw.of(crew), ...(draw.chance(0.2) ? [draw.of(crew)] : [])];
    const before = copyOf(tree);
    const titles = edits[name]![1](tree, path, draw, gated.count++, [...gated.versions.keys()]);
    if (titles.length === 0) continue;
    for (const each of who) people.add(each);
    // Who changes what the settings say of a file wrote nothing of it.
    for (const title of titles) add(wrote, title, isWritten(before, tree, title) ? who : []);
    if (!isSame(before.entries, tree.entries) || before.isGarbled !== tree.isGarbled)
      for (const each of who) gated.settled.add(each);
    said.push(`${who.join(' and ')}: ${name} ${path}`);
    if (isSquashed && left > 1) continue;
    const by = isSquashed ? [...people] : who;
    const named = [by[0]!, ...by].map((each) => ({ name: each, email: `${each}@acme.test` }));
    commit = life.world.source.push(gatedUrl, textsOf(tree, gated.count), {
      ...on,
      ...(parent && { parent }),
      people: named,
    });
    parent = commit;
  }
  // Of what is squashed, each is an author of all, and what goes with it may be where its text comes from.
  for (const title of wrote.keys()) add(gated.touched, title, [...people, ...touchedOf(gated, wrote)]);
  return { wrote, said, commit };
}

/** Who may count as an author of any of it. */
const touchedOf = (gated: Gated, wrote: ReadonlyMap<string, unknown>): string[] =>
  [...wrote.keys()].flatMap((title) => [...(gated.touched.get(title) ?? [])]);

/** Notes what became part of the branch. */
function land(gated: Gated, tree: Tree, wrote: ReadonlyMap<string, Set<string>>, merger: readonly string[] = []): void {
  gated.past = [...gated.past, copyOf(gated.tree)].slice(-4);
  gated.tree = tree;
  const everybody = [...[...wrote.values()].flatMap((who) => [...who]), ...merger];
  // What goes in the same commit may be where its text comes from.
  for (const title of wrote.keys()) add(gated.touched, title, everybody);
  for (const [title, who] of wrote)
    for (const each of who) gated.wrote.getOrInsertComputed(title, () => new Map()).set(each, gated.count);
  for (const [path, { slug }] of tree.entries) add(gated.hosted, slug, [tree.files.get(path)!.title]);
}

const coordinateOf = (slug: string) => `@acme/apis/${slug}`;

const isAbove = (slug: string, { versions }: Gated, label: string) => {
  const labels = (versions.get(slug) ?? []).map((each) => each.label);
  return !labels.includes(label) && labels.every((each) => versionBefore([{ label: each, place: 0 }], label) !== null);
};

const last = (gated: Gated, slug: string, label: string) => versionBefore(gated.versions.get(slug) ?? [], label);

/** Publishes what the branch has, and compares all that came of it with what was promised. */
function publishes(life: Life, draw: Draw, says: string): Plan {
  const { gated, world } = life;
  const ends = draw.of(['sync', 'sync', 'sync', 'restart', 'killed'] as const);
  const writes = draw.number(12);
  return {
    says: ends === 'sync' ? says : `${says} (${ends})`,
    // It looks at every repository.
    ...(ends === 'restart' && { touches: syncAll(life) }),
    expected: { faults: [], lines: [] },
    async ask() {
      const logged = world.documents.length;
      world.age();
      const saved = await savedChecks(life);
      const seen = (await generations(life))[0]?.sequence ?? 0;
      const sync = () => world.call('POST', `/v1/repositories/${gated.id}/sync?wait=30`, { key: life.admin, body: {} });
      const gates = new Map<string, Resource>();
      for (const slug of gated.versions.keys()) gates.set(slug, await resourceOf(life, slug));
      if (ends === 'restart') await world.restart();
      if (ends === 'killed') {
        const node = world.nodes[world.turn]!;
        node.die(writes, writes % 2 === 0);
        await sync().catch(() => undefined);
        await world.replace(node);
        world.pass(4 * 60_000);
        world.errors.length = 0;
      }
      const { json } = await sync();
      // A tag has a line of its own, also where its slug is given to another file.
      const tagged = new Set([...gated.tree.entries].flatMap(([path, { slug, isTagged }]) => isTagged ? [path, coordinateOf(slug)] : [])); // prettier-ignore
      const documents = (json['documents'] ?? []) as { path: string; resource: string; detail: string | null }[];
      const ofBranch = documents.filter(
        ({ path, resource, detail }) => !detail?.startsWith('Tag ') && !tagged.has(path) && !tagged.has(resource),
      );
      const lines = ofBranch.map(({ resource }) => resource);
      const faults = json['state'] === 'succeeded' ? [] : [`The sync ${JSON.stringify(json)}`];
      faults.push(...(await faultsOfDetached(life, { seen, logged, saved })));
      faults.push(...(await faultsOfPublished(life, gates)));
      if (!gated.tree.isGarbled) gated.read = copyOf(gated.tree);
      return { faults, lines: lines.filter((each, at) => lines.indexOf(each) !== at) };
    },
  };
}

const nodeOf = ({ world }: Life) => world.nodes[world.turn % world.nodes.length]!;

async function resourceOf(life: Life, slug: string): Promise<Resource> {
  return (await nodeOf(life).registry.refs.read<Resource>(`resources/acme/apis/${slug}`))!.value;
}

/** Of the repository's record, the newest first. */
const generations = (life: Life) =>
  Array.fromAsync(nodeOf(life).registry.refs.history<Repository>(repositoryRef('acme', life.gated.id)));

/** The checks that say that something ended: record and name. */
async function savedChecks(life: Life): Promise<string[]> {
  const { registry } = nodeOf(life);
  const names = await Array.fromAsync(registry.refs.list('checks/acme/'));
  const records = await Promise.all(names.map((name) => registry.refs.read<{ checks: Check[] }>(name)));
  const ended = (record: (typeof records)[number]) =>
    (record?.value.checks ?? []).filter(({ commit, state }) => commit === life.gated.tip && state === 'neutral');
  return records.flatMap((record, at) =>
    ended(record).map(({ name }) => `${names[at]} ${name.slice('stele '.length)}`),
  );
}

/** Whatever stops being published is named in check, log and event, once. */
async function faultsOfDetached(
  life: Life,
  { seen, logged, saved }: { seen: number; logged: number; saved: readonly string[] },
): Promise<string[]> {
  const { gated, world } = life;
  const slugsOf = ({ entries }: Tree) => new Set([...entries.values()].map(({ slug }) => slug));
  const now = slugsOf(gated.tree.isGarbled ? gated.read : gated.tree);
  const ended = [...slugsOf(gated.read).difference(now)].filter((slug) => gated.versions.has(slug));
  const wanted = ended.map(coordinateOf).sort().join();
  const history = (await generations(life)).filter(({ sequence }) => sequence >= seen).toReversed();
  const events = history.slice(1).flatMap((after, at) => eventsOfRepository({ url: '', before: history[at]!, after }));
  const told = events.flatMap(({ event }) => (event.type === 'dev.stele.source.detached' ? [event.subject] : []));
  const lines = world.documents.slice(logged).filter(({ outcome }) => outcome === 'detached');
  const checks = (await savedChecks(life)).filter((each) => !saved.includes(each)).map((each) => each.split(' ')[1]!);
  const ways = {
    events: told,
    log: [...new Set(lines.map(({ resource }) => String(resource)))],
    checks: [...new Set(checks)],
  };
  // What waits for its first tag was connected, unless approval forbade it.
  const isNew = ({ slug, isTagged }: Entry) => isTagged && !gated.versions.has(slug);
  const untold = new Set([...gated.read.entries.values()].filter(isNew).map(({ slug }) => coordinateOf(slug)));
  return Object.entries(ways).flatMap(([way, all]) => {
    const names = all.filter((name) => !untold.has(name)).sort();
    return names.join() === wanted ? [] : [`${way} say that these ended: ${names.join()} instead of ${wanted}`];
  });
}

/** Nothing is published under any name with a break that nobody else approved; what breaks nothing is. */
async function faultsOfPublished(life: Life, gates: ReadonlyMap<string, Resource>): Promise<string[]> {
  const { gated } = life;
  const faults: string[] = [];
  const fresh: (GatedVersion & { slug: string })[] = [];
  const slugs = new Set([...gated.versions.keys(), ...[...gated.tree.entries.values()].map(({ slug }) => slug)]);
  for (const slug of slugs) {
    const { status, json } = await life.world.call('GET', `/v1/apis/${slug}/versions?limit=100`, { key: life.admin });
    const labels = status === 200 ? (json['items'] as { version: string }[]).map(({ version }) => version) : [];
    for (const label of labels.toReversed()) {
      if (gated.versions.get(slug)?.some((each) => each.label === label)) continue;
      const { text } = await life.world.call('GET', `/@acme/apis/${slug}@${label}.json`, { key: life.admin });
      fresh.push({ slug, label, place: gated.count, text, contract: contractIn(text) });
    }
  }
  // versions.md: what a branch goes back to counts as published then.
  for (const [path, { slug, isTagged }] of gated.tree.isGarbled ? [] : gated.tree.entries) {
    const { part: _, note: __, ...now } = gated.tree.files.get(path)!;
    const own = gated.versions.get(slug)?.find(({ label, contract: { part: ___, note: ____, ...was } }) => (label === now.version || label.startsWith(`${now.version}+`)) && isSame([was], [now])); // prettier-ignore
    const version = own && (await resourceOf(life, slug)).versions.find(({ label }) => label === own.label);
    if (!isTagged && version?.returnedAfter !== undefined) own!.place = gated.count;
  }
  const wants = async (slug: string) => (gates.get(slug) ?? (await resourceOf(life, slug))).approval === 'required';
  const isApproved = (slug: string, breaks: readonly string[]) => {
    const all = new Set(gated.approved.flatMap((each) => (each.slug === slug ? each.breaks : [])));
    return breaks.every((each) => all.has(each));
  };
  const fileOf = (slug: string) => [...gated.tree.entries].find(([, entry]) => entry.slug === slug)?.[0];
  for (const { slug, label, contract } of fresh) {
    const isGated = await wants(slug);
    const before = last(gated, slug, label);
    const breaks = before === null ? [] : breaksOf(before.contract, contract);
    if (isGated && !isApproved(slug, breaks))
      faults.push(`${slug}@${label} breaks ${breaks.join()}, which nobody approved`);
    const isNew = gated.versions.get(slug)?.at(-1)?.contract.title !== contract.title;
    for (const [former, { connection, approval }] of isNew ? gates : []) {
      // Where an approval put another contract there, this one left it then.
      const newest = fresh.findLast((each) => each.slug === former) ?? gated.versions.get(former)?.at(-1);
      const was = newest?.contract.title === contract.title ? last(gated, former, label) : null;
      const isLeft = connection !== null && fileOf(former) !== connection.path;
      if (former === slug || !isLeft || approval !== 'required' || was?.contract.title !== contract.title) continue;
      const lost = breaksOf(was.contract, contract);
      if (!isGated) faults.push(`${slug}@${label} wants no approval, and is what ${former} was`);
      else if (!isApproved(former, lost))
        faults.push(`${slug}@${label} breaks ${lost.join()} of ${former}, which nobody approved`);
    }
  }
  faults.push(...(await faultsOfMissing(life, fresh, wants)));
  for (const { slug, ...version } of fresh) {
    gated.versions.getOrInsertComputed(slug, () => []).push(version);
    gated.approved = gated.approved.filter((each) => each.slug !== slug);
  }
  return faults;
}

/** What breaks nothing, and is no other contract than its resource had, is published. */
async function faultsOfMissing(
  life: Life,
  fresh: readonly { slug: string; contract: Contract }[],
  wants: (slug: string) => Promise<boolean>,
): Promise<string[]> {
  const { gated } = life;
  const faults: string[] = [];
  for (const [path, { slug, isTagged }] of gated.tree.entries) {
    const contract = gated.tree.files.get(path)!;
    const { title, version } = contract;
    if (isTagged || gated.tree.isGarbled || !isAbove(slug, gated, version)) continue;
    const alike = [...gated.versions].filter(
      ([of, list]) => of !== slug && list.some((each) => each.contract.title === title),
    );
    const own = last(gated, slug, version);
    const others = alike.map(([of]) => last(gated, of, version));
    const isPlain = [own, ...others].every((each) => each === null || breaksOf(each.contract, contract).length === 0);
    const isThere = fresh.some((each) => each.slug === slug && each.contract.version === version);
    const mayWait = alike.length > 0 && (!others.every(Boolean) || !gated.versions.has(slug) || !(await wants(slug)));
    if (isPlain && !mayWait && !isThere) faults.push(`${slug}@${version} breaks nothing, and is not published`);
  }
  return faults;
}

/** Tells the registry of a pull request, and waits until it has looked at it. */
async function hook(life: Life, { number, head }: OpenPull, isOpen: boolean): Promise<string> {
  const { registry, queue } = nodeOf(life);
  const pull = { number, base: 'main', ref: `refs/pull/${number}/head` };
  const host = registry.hosts.find(({ name }) => name === 'gitea')!;
  await receiveHook(registry, queue, host, { kind: 'pull', repository: 'acme/gated', pull, isOpen }, null);
  for (let tries = 0; tries < 600; tries++) {
    const { value } = (await registry.refs.read<PullCheck>(pullRef('acme', life.gated.id, pull)))!;
    if (isOpen ? value.state === 'checked' && value.head === head : value.state === 'closed') return value.state;
    await wait(50);
  }
  return 'not checked';
}

function tag({ gated, world }: Life, version: string, commit: string): void {
  world.source.tag(gatedUrl, `v${version}`, commit);
  gated.tags.set(version, { tree: copyOf(gated.tree), at: gated.count });
}

const branchOf = (number: number) => ({ branch: `refs/pull/${number}/head` });

/** governance.md, Approval: contracts that move, change their slugs, and are written by many. */
export const gatedVerbs: Verbs = {
  'push what wants approval': {
    weight: 16,
    asks: ['syncRepository'],
    plan(life, draw) {
      const { gated } = life;
      const tree = copyOf(gated.tree);
      const { wrote, said, commit } = write(gated, life, draw, {}, tree);
      if (commit === '') return null;
      gated.tip = commit;
      land(gated, tree, wrote);
      for (const [path, { isTagged }] of tree.entries) if (isTagged) tag(life, tree.files.get(path)!.version, commit);
      return publishes(life, draw, `push ${said.join(', ')}`);
    },
  },
  'revert what wants approval': {
    weight: 3,
    asks: ['syncRepository'],
    plan(life, draw) {
      const { gated } = life;
      const tree = draw.of(gated.past);
      if (tree === undefined || tree.entries.size === 0) return null;
      const before = copyOf(gated.tree);
      const who = draw.of(crew);
      const people = [{ name: who, email: `${who}@acme.test` }];
      gated.tip = life.world.source.push(gatedUrl, textsOf(tree, ++gated.count), { people });
      // Whatever goes in the same commit may be where a document's text comes from.
      const all = new Set([...before.files.values(), ...tree.files.values()].map(({ title }) => title));
      const everybody = [...gated.touched.values()].flatMap((each) => [...each]);
      for (const title of all) add(gated.touched, title, [...everybody, who]);
      gated.settled.add(who);
      land(gated, copyOf(tree), new Map());
      return publishes(life, draw, `${who} goes back to an earlier push`);
    },
  },
  'open or update a pull request': {
    weight: 8,
    plan(life, draw) {
      const { gated } = life;
      const number = gated.pull?.number ?? gated.count + 1;
      const from = gated.pull ?? { head: gated.tip, base: gated.tip, baseTree: copyOf(gated.tree), tree: gated.tree, wrote: new Map() }; // prettier-ignore
      const tree = copyOf(from.tree);
      if (tree.entries.size === 0) return null;
      const { wrote, said, commit } = write(gated, life, draw, { ...branchOf(number), parent: from.head }, tree);
      if (commit === '') return null;
      for (const [title, who] of from.wrote) add(wrote, title, who);
      const pull = { ...from, number, head: commit, tree, wrote };
      gated.pull = pull;
      // What a pull request holds has authors, also once it is closed.
      const everybody = [...wrote.values()].flatMap((who) => [...who]);
      for (const title of wrote.keys()) add(gated.touched, title, [...everybody, ...touchedOf(gated, wrote)]);
      for (const [path, { slug }] of tree.entries) add(gated.hosted, slug, [tree.files.get(path)!.title]);
      return {
        says: `pull request ${number}: ${said.join(', ')}`,
        ask: () => hook(life, pull, true),
        expected: 'checked',
      };
    },
  },
  'update the branch of a pull request': {
    weight: 3,
    plan(life, draw) {
      const { gated } = life;
      const { pull } = gated;
      const tree = pull && mergeTrees(pull.baseTree, gated.tree, pull.tree);
      if (!pull || !tree || pull.base === gated.tip) return null;
      const who = draw.of(crew);
      const people = [{ name: who, email: `${who}@acme.test` }];
      const options = { ...branchOf(pull.number), parent: pull.head, merges: gated.tip, people };
      pull.head = life.world.source.push(gatedUrl, textsOf(tree, ++gated.count), options);
      Object.assign(pull, { base: gated.tip, baseTree: copyOf(gated.tree), tree });
      for (const { title } of tree.files.values()) add(gated.touched, title, [who]);
      gated.settled.add(who);
      return { says: `${who} updates its branch`, ask: () => hook(life, pull, true), expected: 'checked' };
    },
  },
  'merge, squash or close a pull request': {
    weight: 6,
    asks: ['syncRepository'],
    plan(life, draw) {
      const { gated } = life;
      const { pull } = gated;
      if (pull === null) return null;
      const how = draw.of(['merge', 'merge', 'squash', 'close'] as const);
      const tree = mergeTrees(pull.baseTree, gated.tree, pull.tree);
      const who = draw.of(crew);
      gated.pull = null;
      if (how === 'close' || tree === null || tree.entries.size === 0)
        return { says: 'close it', ask: () => hook(life, pull, false), expected: 'closed' };
      const authors = [...new Set([...pull.wrote.values()].flatMap((each) => [...each]))];
      const named = how === 'merge' ? [who] : [who, ...authors];
      const people = named.map((each) => ({ name: each, email: `${each}@acme.test` }));
      const merges = how === 'merge' ? { merges: pull.head } : {};
      gated.tip = life.world.source.push(gatedUrl, textsOf(tree, ++gated.count), { people, ...merges });
      gated.settled.add(who);
      for (const { title } of tree.files.values()) add(gated.touched, title, [who, ...authors]);
      land(gated, tree, pull.wrote, [who]);
      const plan = publishes(life, draw, `${who}: ${how} it`);
      const isClosedFirst = draw.chance(0.5);
      return {
        ...plan,
        async ask() {
          if (isClosedFirst) await hook(life, pull, false);
          const answer = await plan.ask();
          if (!isClosedFirst) await hook(life, pull, false);
          return answer;
        },
      };
    },
  },
  'decide about what wants approval': {
    weight: 14,
    asks: ['decideApproval', 'syncRepository'],
    plan(life, draw) {
      const { gated, world } = life;
      const who = draw.of(crew);
      const verdict = draw.chance(0.85) ? 'approved' : 'rejected';
      const number = draw.number(1000);
      const plan = publishes(life, draw, `${who}: ${verdict} one that waits`);
      return {
        ...plan,
        async ask() {
          const faults: string[] = [];
          for (const each of crew) await keyOf(life, each);
          const key = await keyOf(life, who);
          const { json } = await world.call('GET', '/v1/approvals?limit=100', { key });
          type Item = {
            id: string;
            resource: string;
            version: string;
            mayDecide: boolean;
            source: string;
            changes: Shown[];
          };
          const items = ((json['items'] ?? []) as Item[]).filter(({ resource }) =>
            gated.versions.has(resource.split('/').at(-1)!),
          );
          for (const item of items) faults.push(...whetherTheyMay(gated, item, who));
          const item = items[number % Math.max(1, items.length)];
          if (item !== undefined) {
            const { status } = await world.call('POST', `/v1/approvals/${item.id}`, {
              key,
              body: { verdict, reason: 'A life.' },
            });
            if (status !== (item.mayDecide ? 200 : 403))
              faults.push(`${who} may ${item.mayDecide ? '' : 'not '}decide: ${status}`);
            const slug = item.resource.split('/').at(-1)!;
            if (status === 200 && verdict === 'approved')
              gated.approved.push({ slug, breaks: item.changes.map(nameOfBreak) });
          }
          const after = (await plan.ask()) as { faults: string[]; lines: string[] };
          return { faults: [...faults, ...after.faults], lines: after.lines };
        },
      };
    },
  },
};

/** A change as whoever decides is shown it. */
interface Shown {
  pointer: string;
  message: string;
}

/** What `breaksOf` calls a change: what is approved is what was shown. */
function nameOfBreak({ pointer, message }: Shown): string {
  const [, path = '', method] = /^\/paths\/~1([^/]+)\/(get|post)$/.exec(pointer) ?? [];
  if (method === undefined) return /"([^"]+)"/.exec(message)?.[1] ?? message;
  return method === 'get' ? path : `/${path}`;
}

/** What waits there. Undefined: nobody can tell which file of a tag it is. */
function waiting(
  gated: Gated,
  slug: string,
  { source, version, changes }: { source: string; version: string; changes: readonly Shown[] },
): Contract | undefined {
  const { tree, read, pull, tags } = gated;
  const [kind, label = ''] = source.split(' ');
  if (kind === 'tag') {
    const { files } = tags.get(label)?.tree ?? tree;
    const before = last(gated, slug, version);
    const namesOf = (names: readonly string[]) => [...names].sort().join();
    const shown = namesOf(changes.map(nameOfBreak));
    // A tag's line goes on with the file that its resource had, whatever slug that has at the tag.
    const alike = [...files.values()].filter((each) => before !== null && namesOf(breaksOf(before.contract, each)) === shown); // prettier-ignore
    return alike.length === 1 ? alike[0] : undefined;
  }
  const from = kind === 'pull' ? pull?.tree : tree.isGarbled ? read : tree;
  const path = from && [...from.entries].find(([, entry]) => entry.slug === slug)?.[0];
  return path === undefined ? undefined : from!.files.get(path);
}

/** Who wrote any of it may not decide, and who did nothing may. */
function whetherTheyMay(
  gated: Gated,
  item: { resource: string; version: string; source: string; mayDecide: boolean; changes: readonly Shown[] },
  who: string,
): string[] {
  const slug = item.resource.split('/').at(-1)!;
  const contract = waiting(gated, slug, item);
  // What nobody can read yet may have other authors.
  if (contract === undefined || (gated.tree.isGarbled && item.source === 'branch')) return [];
  // What is older than the version that it is compared with was not written for this one.
  const since = last(gated, slug, item.version)?.place ?? Infinity;
  const [kind, label = ''] = item.source.split(' ');
  // Nor is what came to the branch after the tag, or beside the pull request.
  const until = kind === 'tag' ? gated.tags.get(label)!.at : Infinity;
  const at = gated.wrote.get(contract.title)?.get(who) ?? 0;
  const wrote = kind === 'pull' ? gated.pull?.wrote.get(contract.title)?.has(who) === true : at > since && at <= until;
  const titles = [contract.title, ...(gated.hosted.get(slug) ?? [])];
  const mayBe = gated.settled.has(who) || titles.some((title) => gated.touched.get(title)?.has(who));
  if (wrote && item.mayDecide) return [`${who} wrote ${slug}@${item.version}, and may decide about it`];
  if (!mayBe && !item.mayDecide) return [`${who} wrote nothing of ${slug}@${item.version}, and may not decide`];
  return [];
}

/** What the first push published. */
export const readGated = (life: Life): Promise<string[]> => faultsOfPublished(life, new Map());

/** The first push. */
export function beginGated(life: Life): void {
  const { gated } = life;
  for (const title of ['bill', 'ship']) {
    gated.tree.files.set(`${title}.json`, firstContract(title));
    gated.tree.entries.set(`${title}.json`, { slug: title, approval: true, isTagged: false });
    add(gated.hosted, title, [title]);
  }
  gated.read = copyOf(gated.tree);
  gated.tip = life.world.source.push(gatedUrl, textsOf(gated.tree, 0), {
    people: [{ name: 'zoe', email: 'zoe@acme.test' }],
  });
}
