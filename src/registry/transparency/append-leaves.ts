import { decodeBundle, tileWidth } from '../../model/transparency/tree.ts';
import {
  becamePublic,
  decodeLeaf,
  isVersion,
  type Leaf,
  type Told,
  type VersionLeaf,
  encodeLeaf,
  isLogged,
  leavesBetween,
  leavesOfAll,
} from '../../model/transparency/leaf.ts';
import type { TreeLog } from '../../store/tree/tree-log.ts';
import { onRefusal } from '../../model/errors.ts';
import type { Resource, Version } from '../../model/resource.ts';
import { readEntry } from '../../store/log/entry.ts';
import type { LoggedChange } from '../../store/log/history.ts';
import type { Cursor } from '../../store/tree/batch.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import type { Registry } from '../registry.ts';
import { hasKey } from './log-key.ts';

/** What the public log says by now. */
interface LogView extends Told {
  /** Reads what was appended. */
  refresh(): Promise<void>;
  /** Where the leaf of a version is, by its whole name, or that of a key. */
  find(name: string): Promise<{ index: number; leaf: Buffer } | null>;
}

const bundlesAtOnce = 16;
const states = ['active', 'deprecated', 'yanked', 'withdrawn'] as const;

/** Reads out of a log what it says. Nothing is read before it is asked for. */
export function createLogView(tree: TreeLog): LogView {
  /** Of a version its index and its state, in one number; of a key its index. */
  const places = new Map<string, number>();
  const latest = new Map<string, string | null>();
  let read = 0;
  let reading: Promise<void> = Promise.resolve();

  async function readOn(): Promise<void> {
    while (read < tree.size()) {
      const end = Math.min(tree.size(), (Math.floor(read / tileWidth) + bundlesAtOnce) * tileWidth);
      const starts = Array.from({ length: Math.ceil(end / tileWidth) - Math.floor(read / tileWidth) }, (_, at) =>
        Math.max(read, (Math.floor(read / tileWidth) + at) * tileWidth),
      );
      const bundles = await Promise.all(starts.map((from) => leavesAt(tree, from)));
      for (const leaf of bundles.flat()) note(decodeLeaf(leaf), read++);
    }
  }

  function note(leaf: Leaf | null, index: number): void {
    if (leaf === null) return;
    if (leaf.event === 'key') places.set(leaf.key, index * states.length);
    else if (leaf.event === 'latest') latest.set(leaf.coordinate, leaf.label);
    else {
      const name = nameIn(leaf);
      const place = isVersion(leaf) ? index : Math.floor((places.get(name) ?? index * states.length) / states.length);
      places.set(name, place * states.length + states.indexOf(stateIn(leaf)));
    }
  }

  function refresh(): Promise<void> {
    reading = reading.catch(() => undefined).then(readOn);
    return reading;
  }

  return {
    refresh,
    async find(name) {
      await refresh();
      const place = places.get(name);
      if (place === undefined) return null;
      const index = Math.floor(place / states.length);
      return { index, leaf: (await leavesAt(tree, index))[0]! };
    },
    stateOf: (name) => (places.has(name) ? states[places.get(name)! % states.length]! : null),
    latestOf: (coordinate) => latest.get(coordinate) ?? null,
  };
}

const nameIn = ({ coordinate, label }: VersionLeaf): string => `${coordinate}@${label}`;
const stateIn = ({ event }: VersionLeaf): Version['status']['state'] =>
  states.find((each) => each === event) ?? 'active';

/** What the log says once leaves are appended to it, which are added here. */
function goOnTelling(before: Told): Told & { add(leaf: Leaf): void } {
  const stateOf = new Map<string, Version['status']['state']>();
  const latest = new Map<string, string | null>();
  return {
    add(leaf) {
      if (leaf.event === 'key') return;
      if (leaf.event === 'latest') latest.set(leaf.coordinate, leaf.label);
      else stateOf.set(nameIn(leaf), stateIn(leaf));
    },
    stateOf: (name) => stateOf.get(name) ?? before.stateOf(name),
    latestOf: (name) => (latest.has(name) ? latest.get(name)! : before.latestOf(name)),
  };
}

/** The leaves from one to the end of its bundle. */
async function leavesAt(tree: TreeLog, index: number): Promise<Buffer[]> {
  const bundle = Math.floor(index / tileWidth);
  const width = Math.min(tileWidth, tree.size() - bundle * tileWidth);
  const bytes = await tree.tile({ level: 'entries', index: bundle, width });
  return decodeBundle(bytes ?? new Uint8Array())!.slice(index % tileWidth);
}

/** Changes and records that are read before what they lead to is appended. */
const atOnce = 1000;

interface AppendOptions {
  /** The keys that sign the log, as verifier keys, the present one first. */
  keys: readonly [string, ...string[]];
  /** Whether to announce the present key, if the log announces one from before. */
  announces: boolean;
  view: LogView;
  /** By organization: how far this process has read its log, and found it to be the one that the tree tells of. */
  read: Map<string, number>;
  /** Whose changes are looked for. Null: all organizations'. */
  organizations: readonly string[] | null;
  /** Whether all that is public is compared with what the log says, and not only what changed since. */
  compares: boolean;
}

/**
 * Appends what became public since the log was last written. Each organization's log is read from where
 * the tree left it. Where that is not known, or the log is another one since a restore, what is public is compared with what
 * the public log says, and what is missing is listed. Another process may do the same: who was slower reads on and decides
 * again. What a crash left half done is appended twice, which says nothing wrong. An organization whose log is damaged
 * keeps no other back.
 */
export async function appendLeaves(registry: Registry, tree: TreeLog, options: AppendOptions): Promise<void> {
  const { keys, announces, organizations } = options;
  await tree.refresh();
  while (tree.isNew()) if (!(await begin(registry, tree, options))) await tree.refresh();
  while (announces && isReplaced(tree.key(), keys)) {
    const [at, decidedOn] = [registry.now().toISOString(), tree.cursors()];
    const leaf = encodeLeaf({ event: 'key', key: keys[0], at });
    if (!(await tree.append([leaf], { decidedOn, cursors: new Map(), at, key: keys[0] }))) await tree.refresh();
  }
  for (const org of organizations ?? (await listOrganizations(registry)))
    while (!(await appendOf(registry, tree, org, options))) await tree.refresh();
}

/** Appends what became public of an organization. Resolves to false if another process wrote to the log meanwhile. */
async function appendOf(registry: Registry, tree: TreeLog, org: string, options: AppendOptions): Promise<boolean> {
  const { view, read } = options;
  for (let { compares } = options; ; compares = false) {
    const decidedOn = tree.cursors();
    const written = decidedOn.get(org) ?? { entry: 0, digest: null };
    const known = read.get(org) ?? -1;
    const from = written.entry < 0 ? -1 : Math.max(written.entry, known);
    const goesOn = await orSkip(registry, org, () => continues(registry, org, from > known ? written : null, from));
    if (goesOn === null) return true;
    if (!goesOn && written.entry > 0)
      registry.log('warn', 'the public log records entries that the log of an organization does not have', {
        org,
        entry: written.entry,
      });
    const isAnew = compares || !goesOn;
    if (isAnew) await view.refresh();
    const found = await orSkip(registry, org, () =>
      isAnew ? readAll(registry, org, view) : readChanges(registry, org, from, view),
    );
    if (found === null) return true;
    const { leaves, entry } = found;
    // How far a log without public changes was read is written only now and then: it costs a key.
    if (leaves.length === 0 && goesOn && entry - written.entry < atOnce) {
      read.set(org, entry);
      if (!isAnew) return true;
      continue;
    }
    const at = registry.now().toISOString();
    const cursors = new Map([[org, { entry, digest: await digestOfEntry(registry, org, entry) }]]);
    if (!(await tree.append(leaves.map(encodeLeaf), { decidedOn, cursors, at }))) {
      read.delete(org);
      return false;
    }
    read.set(org, entry);
  }
}

/** Reads the log of an organization; null: it is damaged, which is logged. */
async function orSkip<T>(registry: Registry, org: string, work: () => Promise<T>): Promise<T | null> {
  const skip = onRefusal('corrupt', ({ message: error }) => {
    registry.log('error', 'organization left out of the public log', { org, error });
    return null;
  });
  return work().catch(skip);
}

/** Whether the key that the log announces is one from before. One that is not known here is the next, of other nodes. */
function isReplaced(announced: string | null, keys: readonly string[]): boolean {
  return announced !== keys[0] && (announced === null || hasKey(keys, announced));
}

/** Begins the log with its key. Resolves to false if another process did. */
async function begin(registry: Registry, tree: TreeLog, { keys: [key], view }: AppendOptions): Promise<boolean> {
  const decidedOn = tree.cursors();
  const cursors = new Map<string, Cursor>();
  for (const org of await listOrganizations(registry)) {
    const found = await orSkip(registry, org, () => readAll(registry, org, view));
    const isBegun = found?.leaves.length === 0;
    const entry = isBegun ? found.entry : -1;
    cursors.set(org, { entry, digest: await digestOfEntry(registry, org, entry) });
  }
  const at = registry.now().toISOString();
  return tree.append([encodeLeaf({ event: 'key', key, at })], { decidedOn, cursors, at, key });
}

/** Leaves, and the entry up to which an organization's log was read for them. */
interface Read {
  leaves: Leaf[];
  entry: number;
}

/** What an organization has published, and the log does not say. */
async function readAll(registry: Registry, org: string, view: LogView): Promise<Read> {
  const at = registry.now().toISOString();
  for (;;) {
    const entry = await registry.refs.newestEntry(org);
    const resources = await registry.refs.all<Resource>(`resources/${org}/`);
    // Nothing came in between, so that nothing is in the log twice.
    if ((await registry.refs.newestEntry(org)) === entry)
      return { leaves: resources.flatMap(({ value }) => leavesOfAll(value, at, view)), entry };
  }
}

async function readChanges(registry: Registry, org: string, after: number, view: LogView): Promise<Read> {
  const changes: LoggedChange[] = [];
  let entry = after;
  for await (const change of registry.refs.changesSince(org, after)) {
    if (change.entry !== entry && changes.length >= atOnce) break;
    entry = change.entry;
    const isResource = change.name.startsWith('resources/');
    if (isResource && isLogged(change.value as Resource)) changes.push(change);
  }
  const byName = Map.groupBy(changes, ({ name }) => name);
  const values = new Map<LoggedChange, [before: Resource | null, after: Resource]>();
  for (const [name, some] of byName) await readValues(registry, name, some, values);
  // What was public before may have changed since the log told of it.
  if (changes.some((change) => becamePublic(...values.get(change)!))) await view.refresh();
  const told = goOnTelling(view);
  const leaves = changes.flatMap((change) => {
    const own = leavesBetween(...values.get(change)!, change.at, told);
    own.forEach(told.add);
    return own;
  });
  return { leaves, entry };
}

/**
 * Whether an organization's log goes on from where it was read. `written`: what the tree says of that place, which this
 * process has not read itself. A store that was taken back to an earlier state has another entry there, or none.
 */
async function continues(registry: Registry, org: string, written: Cursor | null, entry: number): Promise<boolean> {
  const { refs } = registry;
  if (entry < 0) return false;
  if ((await refs.newestEntry(org)) < entry) {
    // Another process may have read entries that this one does not know yet.
    await refs.refresh(`resources/${org}/`);
    if ((await refs.newestEntry(org)) < entry) return false;
  }
  const isKnown = written === null || written.digest === null;
  return isKnown || written.digest === (await digestOfEntry(registry, org, entry));
}

async function digestOfEntry({ bucket }: Registry, org: string, entry: number): Promise<Cursor['digest']> {
  return entry < 1 ? null : ((await readEntry(bucket, `@${org}`, entry))?.digest ?? null);
}

async function readValues(
  registry: Registry,
  name: string,
  changes: readonly LoggedChange[],
  values: Map<LoggedChange, [Resource | null, Resource]>,
): Promise<void> {
  const oldest = changes[0]!.generation;
  const generations = new Map<number, Resource>();
  for await (const { generation, value } of registry.refs.history<Resource>(name)) {
    generations.set(generation, value);
    if (generation < oldest) break;
  }
  for (const change of changes)
    values.set(change, [generations.get(change.generation - 1) ?? null, generations.get(change.generation)!]);
}
