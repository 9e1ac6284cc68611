/** Splits items into batches of at most so many items, and about so many bytes. */
export function splitIntoBatches<T extends { bytes: Uint8Array }>(
  items: readonly T[],
  max: { items: number; bytes: number },
): T[][] {
  const batches: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = batches.at(-1);
    const isFull = last === undefined || last.length >= max.items || bytes + item.bytes.length > max.bytes;
    if (isFull) batches.push([item]);
    else last.push(item);
    bytes = item.bytes.length + (isFull ? 0 : bytes);
  }
  return batches;
}

/** Does the work for both halves of a batch that exceeds the limits, so that only items that exceed them alone fail. */
export async function inHalves<T, R>(items: readonly T[], work: (half: readonly T[]) => Promise<R[]>): Promise<R[]> {
  const middle = Math.ceil(items.length / 2);
  return (await Promise.all([items.slice(0, middle), items.slice(middle)].map(work))).flat();
}
