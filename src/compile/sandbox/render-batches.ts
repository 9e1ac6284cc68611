import { problemAtFile } from '../../model/problem.ts';
import type { RenderedPage, SourcePage } from '../../sites/model/source-page.ts';
import { hasCode } from '../../sites/render/has-code.ts';
import type { CompileLimits, Turn } from '../compile.ts';
import { fileTooLarge } from '../text/parse.ts';
import type { Pool } from './pool.ts';
import { inHalves, splitIntoBatches } from './batches.ts';

/** Where pages are rendered: those without code in any sandbox, the others where the highlighter is. */
interface Runs {
  plain: Pool['run'];
  code: Pool['run'];
}

const maxBatch = { items: 40, bytes: 512 * 1024 };

/** Pages in batches: those with code, and the others. */
export function batchesOf(pages: readonly SourcePage[]): Record<keyof Runs, SourcePage[][]> {
  const { code = [], plain = [] } = Object.groupBy(pages, ({ bytes }) => (hasCode(bytes) ? 'code' : 'plain'));
  return { code: splitIntoBatches(code, maxBatch), plain: splitIntoBatches(plain, maxBatch) };
}

/** Renders pages in batches, several at once. */
export async function renderAll(
  runs: Runs,
  pages: readonly SourcePage[],
  limits: CompileLimits,
  turn: Turn,
): Promise<RenderedPage[]> {
  const small = pages.filter(({ bytes }) => bytes.byteLength <= limits.fileBytes);
  const { code, plain } = batchesOf(small);
  const done = await Promise.all([
    ...code.map((each) => renderBatch(runs.code, each, limits, turn)),
    ...plain.map((each) => renderBatch(runs.plain, each, limits, turn)),
  ]);
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
  const outcome = await run({ type: 'pages', pages, limits }, limits, turn);
  if ('answer' in outcome) {
    const { answer } = outcome;
    const isWhole = answer.type === 'paged' && answer.pages.length === pages.length;
    if (isWhole && answer.pages.every(({ path }, index) => path === pages[index]!.path)) return answer.pages;
    throw new Error('The sandbox rendered other pages.');
  }
  if (pages.length > 1) return inHalves(pages, (half) => renderBatch(run, half, limits, turn));
  const [{ path }] = pages as [SourcePage];
  const message = `Rendering the page needed more than ${limits.memoryMegabytes} MB of memory and was stopped.`;
  return [{ path, page: null, problems: [problemAtFile(outcome.died, path, message)] }];
}
