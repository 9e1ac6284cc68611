import { decodeBundle, tileWidth } from '../../model/transparency/tree.ts';
import { decodeLeaf, isVersion, type Leaf, type Told } from '../../model/transparency/leaf.ts';
import type { TreeLog } from '../../store/tree/tree-log.ts';

/** What the public log says by now. */
export interface LogView extends Told {
  /** Reads what was appended. */
  refresh(): Promise<void>;
  /** Where the leaf of a version is, by its whole name, or that of a key. */
  find(name: string): Promise<{ index: number; leaf: Buffer } | null>;
}

/** Bundles that are read at once. */
const atOnce = 16;
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
      const end = Math.min(tree.size(), (Math.floor(read / tileWidth) + atOnce) * tileWidth);
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
      const name = `${leaf.coordinate}@${leaf.label}`;
      const isNew = isVersion(leaf);
      const state = states.find((each) => each === leaf.event) ?? 'active';
      const place = isNew ? index : Math.floor((places.get(name) ?? index * states.length) / states.length);
      places.set(name, place * states.length + states.indexOf(state));
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

/** The leaves from one to the end of its bundle. */
async function leavesAt(tree: TreeLog, index: number): Promise<Buffer[]> {
  const bundle = Math.floor(index / tileWidth);
  const width = Math.min(tileWidth, tree.size() - bundle * tileWidth);
  const bytes = await tree.tile({ level: 'entries', index: bundle, width });
  return decodeBundle(bytes ?? new Uint8Array())!.slice(index % tileWidth);
}
