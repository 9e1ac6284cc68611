/** Seconds after which a reader should ask again for a page that is being made. */
export const retryAfter = 3;

/** What readers of such a page see. */
export const beingMade = 'This page is being made for the first time. It takes up to a minute for a long document.';

/** The page, or null if that takes more than `patience` milliseconds. It is made all the same. */
export async function inTime<T>(page: Promise<T>, patience: number): Promise<T | null> {
  if (patience === Infinity) return page;
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), patience);
  return Promise.race([page, late]).finally(() => clearTimeout(timer));
}
