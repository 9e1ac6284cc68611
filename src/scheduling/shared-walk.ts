/**
 * Makes something costly once for everyone who asks within `milliseconds` of its start. `clock` is a
 * monotonic clock in milliseconds. A rejection is shared too.
 */
export function shareWalk<T>(milliseconds: number, clock: () => number, walk: () => Promise<T>): () => Promise<T> {
  let latest: { startedAt: number; answer: Promise<T> } | null = null;
  return () => {
    const now = clock();
    if (latest === null || now - latest.startedAt >= milliseconds) latest = { startedAt: now, answer: walk() };
    return latest.answer;
  };
}
