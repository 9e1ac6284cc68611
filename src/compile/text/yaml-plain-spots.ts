import { parsePointer } from './pointer.ts';

/** The offsets of a node: of a scalar only where it starts. */
export type Spot = number | Container;

export interface Container {
  start: number;
  /** Names of a mapping, with the offsets of the keys; null for a sequence. */
  names: string[] | null;
  keys: number[];
  spots: Spot[];
  /** Places of names, once a wide mapping was searched. */
  index?: Map<string, number>;
}

/** Members above which a mapping gets an index. */
const wide = 20;

function placeOf(container: Container, token: string): number {
  const { names } = container;
  if (names === null) return /^\d+$/.test(token) && Number(token) < container.spots.length ? Number(token) : -1;
  if (names.length <= wide) return names.indexOf(token);
  container.index ??= new Map(names.map((name, place) => [name, place]));
  return container.index.get(token) ?? -1;
}

/** Locates a pointer. Where there is no such node, returns its deepest ancestor. */
export function findSpot(root: Spot, pointer: string): { key: number; value: number } {
  let spot = root;
  let found = { key: startOf(root), value: startOf(root) };
  for (const token of parsePointer(pointer)) {
    if (typeof spot === 'number') break;
    const place = placeOf(spot, token);
    if (place < 0) break;
    const { keys, names, spots } = spot;
    spot = spots[place]!;
    found = { key: names === null ? startOf(spot) : keys[place]!, value: startOf(spot) };
  }
  return found;
}

function startOf(spot: Spot): number {
  return typeof spot === 'number' ? spot : spot.start;
}
