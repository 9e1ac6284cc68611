/** ` Did you mean "x"?` if one of the names is similar, else the empty string. */
export function closest(written: string, names: Iterable<string>): string {
  const limit = Math.min(3, Math.floor(written.length / 3));
  let best: { name: string; distance: number } | null = null;
  for (const name of names) {
    if (Math.abs(name.length - written.length) > limit) continue;
    const distanceToName = distance(written.toLowerCase(), name.toLowerCase());
    if (distanceToName <= limit && (best === null || distanceToName < best.distance))
      best = { name, distance: distanceToName };
  }
  return best === null ? '' : ` Did you mean ${JSON.stringify(best.name)}?`;
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
