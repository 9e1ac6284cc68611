import { isRegistryError } from '../../model/errors.ts';
import type { Resource } from '../../model/resource.ts';
import { encodeLeaf, isLogged, leavesBetween, leavesOfAll, type Leaf } from '../../model/transparency/leaf.ts';
import type { LoggedChange } from '../../store/log/trail.ts';
import type { TreeLog } from '../../store/tree-log.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import type { Registry } from '../registry.ts';

/** Changes and records that are read before what they lead to is appended. */
const atOnce = 1000;

interface AppendOptions {
  /** The keys that sign the log, as verifier keys, the present one first. */
  keys: readonly [string, ...string[]];
  /** By organization: how far this process has read beyond what the tree says, where nothing was public. */
  read: Map<string, number>;
  /** Whose changes are looked for. Null: all organizations'. */
  organizations: readonly string[] | null;
}

/**
 * Appends what became public since the log was last written. Each organization's log is read from where
 * the tree left it, so that nothing is missed, and what is there before the first leaf is listed as it is.
 * Another process may do the same: who was slower reads on and decides again. What a crash left half done is
 * appended twice, which says nothing wrong. An organization whose log is damaged keeps no other back.
 */
export async function appendLeaves(
  registry: Registry,
  tree: TreeLog,
  { keys, read, organizations }: AppendOptions,
): Promise<void> {
  await tree.refresh();
  while (tree.isNew()) if (!(await begin(registry, tree, keys[0]))) await tree.refresh();
  while (isReplaced(tree.key(), keys)) {
    const [at, decidedOn] = [registry.now().toISOString(), tree.cursors()];
    const leaf = encodeLeaf({ event: 'key', key: keys[0], at });
    if (!(await tree.append([leaf], { decidedOn, cursors: {}, at, key: keys[0] }))) await tree.refresh();
  }
  for (const org of organizations ?? (await listOrganizations(registry))) {
    for (;;) {
      const decidedOn = tree.cursors();
      const written = decidedOn[org] ?? 0;
      const cursor = written < 0 ? written : Math.max(written, read.get(org) ?? 0);
      const found = await readOrSkip(registry, org, cursor);
      if (found === null) break;
      const { leaves, entry } = found;
      read.set(org, entry);
      // How far a log without public changes was read is written only now and then: it costs a key.
      if (leaves.length === 0 && cursor >= 0 && entry - written < atOnce) break;
      const at = registry.now().toISOString();
      if (await tree.append(leaves.map(encodeLeaf), { decidedOn, cursors: { [org]: entry }, at })) continue;
      read.delete(org);
      await tree.refresh();
    }
  }
}

/**
 * Whether the key that the log announces is one from before. One that this process does not know is that of nodes which
 * have the next key already.
 */
function isReplaced(announced: string | null, [present, ...before]: readonly string[]): boolean {
  return announced !== present && (announced === null || before.includes(announced));
}

/** What to append of an organization, whose log was read so far (-1: not begun). Null if the log is damaged. */
async function readOrSkip(registry: Registry, org: string, cursor: number): Promise<Read | null> {
  try {
    return cursor < 0 ? await readAll(registry, org) : await readChanges(registry, org, cursor);
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
    registry.log('error', 'organization left out of the public log', { org, error: error.message });
    return null;
  }
}

/** Begins the log with its key. Resolves to false if another process did. */
async function begin(registry: Registry, tree: TreeLog, key: string): Promise<boolean> {
  const decidedOn = tree.cursors();
  const cursors: Record<string, number> = {};
  for (const org of await listOrganizations(registry)) {
    const found = await readOrSkip(registry, org, -1);
    cursors[org] = found?.leaves.length === 0 ? found.entry : -1;
  }
  const at = registry.now().toISOString();
  return tree.append([encodeLeaf({ event: 'key', key, at })], { decidedOn, cursors, at, key });
}

/** Leaves, and the entry up to which an organization's log was read for them. */
interface Read {
  leaves: Leaf[];
  entry: number;
}

/** What an organization has published before. */
async function readAll(registry: Registry, org: string): Promise<Read> {
  const at = registry.now().toISOString();
  for (;;) {
    const entry = await registry.refs.follow([`@${org}`]);
    const resources = await registry.refs.all<Resource>(`resources/${org}/`);
    // Nothing came in between, so that nothing is in the log twice.
    if ((await registry.refs.follow([`@${org}`])) === entry)
      return { leaves: resources.flatMap(({ value }) => leavesOfAll(value, at)), entry };
  }
}

/** What changed after an entry. */
async function readChanges(registry: Registry, org: string, after: number): Promise<Read> {
  if (await isTakenBack(registry, org, after)) return readAll(registry, org);
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
  const leaves = changes.flatMap((change) => leavesBetween(...values.get(change)!, change.at));
  return { leaves, entry };
}

/** Whether the store was taken back to a state before an entry that was read. */
async function isTakenBack({ refs }: Registry, org: string, entry: number): Promise<boolean> {
  if ((await refs.follow([`@${org}`])) >= entry) return false;
  // Another process may have read entries that this one does not know yet.
  await refs.refresh(`resources/${org}/`);
  return (await refs.follow([`@${org}`])) < entry;
}

/** Reads the values of a record before and after some of its changes. */
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
