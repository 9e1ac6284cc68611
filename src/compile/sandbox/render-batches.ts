import { problemAtFile } from '../../model/problem.ts';
import { inGroups } from '../../scheduling/turns.ts';
import type { RenderedPage, SourcePage } from '../../sites/model/source-page.ts';
import { hasCode } from '../../sites/render/has-code.ts';
import type { CompileLimits, Turn } from '../compile.ts';
import { fileTooLarge } from '../text/parse.ts';
import type { Pool } from './pool.ts';

const maxBatch = { items: 40, bytes: 512 * 1024 };

/** Renders pages in batches, several at once: those without code in any sandbox, the others where the highlighter is. */
export async function renderAll(
  runs: Record<'plain' | 'code', Pool['run']>,
  pages: readonly SourcePage[],
  limits: CompileLimits,
  turn?: Turn,
): Promise<RenderedPage[]> {
  const small = pages.filter(({ bytes }) => bytes.byteLength <= limits.fileBytes);
  const tooMuch = `Rendering the page needed more than ${limits.memoryMegabytes} MB of memory and was stopped.`;
  const groups = Map.groupBy(small, ({ bytes }) => (hasCode(bytes) ? runs.code : runs.plain));
  const done = await Promise.all(
    [...groups].map(([run, group]) =>
      inBatches(
        group,
        maxBatch,
        async (batch) => {
          const outcome = await run({ type: 'pages', pages: batch }, limits, turn);
          if (!('answer' in outcome)) return null;
          const { pages: rendered } = outcome.answer;
          if (rendered.length === batch.length && rendered.every(({ path }, at) => path === batch[at]!.path))
            return rendered;
          throw new Error('The sandbox rendered other pages.');
        },
        ({ path }) => [{ path, page: null, problems: [problemAtFile('sandbox-memory', path, tooMuch)] }],
      ),
    ),
  );
  const byPath = new Map(done.flat().map((page) => [page.path, page]));
  return pages.map(({ path, bytes }) => {
    const tooLarge = fileTooLarge(path, bytes.byteLength, limits);
    return byPath.get(path) ?? { path, page: null, problems: [tooLarge] };
  });
}

/**
 * Does work in batches of at most so many items, and about so many bytes. `work` returns null for a
 * batch that exceeds the limits: then it is done for both halves, so that only an item that exceeds
 * them alone fails, with what `alone` says of it.
 */
export async function inBatches<T extends { bytes: Uint8Array }, R>(
  items: readonly T[],
  max: { items: number; bytes: number },
  work: (batch: readonly T[]) => Promise<R[] | null>,
  alone: (item: T) => R[],
): Promise<R[]> {
  const doAll = async (some: readonly (readonly T[])[]): Promise<R[]> => (await Promise.all(some.map(doOne))).flat();
  const doOne = async (batch: readonly T[]): Promise<R[]> => {
    const done = await work(batch);
    if (done !== null) return done;
    const middle = Math.ceil(batch.length / 2);
    return batch.length === 1 ? alone(batch[0]!) : doAll([batch.slice(0, middle), batch.slice(middle)]);
  };
  return doAll(inGroups(items, max, ({ bytes }) => bytes.length));
}
