/**
 * Works on the items, some at once. Takes no more of them after a failure, with which it rejects.
 */
export async function inParallel<T>(
  items: AsyncIterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  const worker = async (): Promise<void> => {
    try {
      while (!isOver) {
        const next = await iterator.next();
        if (next.done) return;
        await work(next.value);
      }
    } catch (error) {
      isOver = true;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
