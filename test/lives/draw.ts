/** What a step draws: the same numbers for the same seed and step, whatever other steps did. */
export interface Draw {
  /** From 0 to below `below`. */
  number(below: number): number;
  of<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
}

export function createDraw(...seeds: number[]): Draw {
  let state = 0x9e3779b9;
  for (const seed of seeds) state = Math.imul(state ^ seed, 0x85ebca6b) + 0x165667b1;
  /** Mulberry32. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const number = (below: number): number => Math.floor(next() * below);
  return { number, of: (list) => list[number(list.length)]!, chance: (probability) => next() < probability };
}
