import { problemAtFile } from '../../model/problem.ts';
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
  turn: Turn,
): Promise<RenderedPage[]> {
  const small = pages.filter(({ bytes }) => bytes.byteLength <= limits.fileBytes);
  const done = await Promise.all(
    [...Map.groupBy(small, ({ bytes }) => (hasCode(bytes) ? runs.code : runs.plain))].flatMap(([run, group]) =>
      splitIntoBatches(group, maxBatch).map((batch) => renderBatch(run, batch, limits, turn)),
    ),
  );
  const byPath = new Map(done.flat().map((page) => [page.path, page]));
  return pages.map(({ path, bytes }) => {
    const tooLarge = fileTooLarge(path, bytes.byteLength, limits);
    return byPath.get(path) ?? { path, page: null, problems: [tooLarge] };
  });
}

async function renderBatch(
  run: Pool['run'],
  pages: readonly SourcePage[],
  limits: CompileLimits,
  turn: Turn,
): Promise<RenderedPage[]> {
  const outcome = await run({ type: 'pages', pages }, limits, turn);
  if ('answer' in outcome) {
    const rendered = outcome.answer.pages;
    if (rendered.map(({ path }) => path).join('\n') === pages.map(({ path }) => path).join('\n')) return rendered;
    throw new Error('The sandbox rendered other pages.');
  }
  if (pages.length > 1) return inHalves(pages, (half) => renderBatch(run, half, limits, turn));
  const [{ path }] = pages as [SourcePage];
  const message = `Rendering the page needed more than ${limits.memoryMegabytes} MB of memory and was stopped.`;
  return [{ path, page: null, problems: [problemAtFile(outcome.died, path, message)] }];
}

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
