import { problemAtFile } from '../../model/problem.ts';
import type { RenderedPage, SourcePage } from '../../sites/model/source-page.ts';
import { hasCode } from '../../sites/render/has-code.ts';
import type { CompileLimits, Turn } from '../compile.ts';
import { fileTooLarge } from '../text/parse.ts';
import type { Pool } from './pool.ts';

/** Where pages are rendered: those without code in any sandbox, the others where the highlighter is. */
interface Runs {
  plain: Pool['run'];
  code: Pool['run'];
}

const batch = { pages: 40, bytes: 512 * 1024 };

/** How many batches some pages are: with code, and without. */
export function batchesOf(pages: readonly SourcePage[]): [withCode: number, plain: number] {
  const groups = Map.groupBy(pages, ({ bytes }) => hasCode(bytes));
  return [split(groups.get(true) ?? []).length, split(groups.get(false) ?? []).length];
}

/** Renders pages in batches, several at once. */
export async function renderAll(
  { plain, code }: Runs,
  pages: readonly SourcePage[],
  limits: CompileLimits,
  turn: Turn,
): Promise<RenderedPage[]> {
  const small = pages.filter(({ bytes }) => bytes.byteLength <= limits.fileBytes);
  const groups = Map.groupBy(small, ({ bytes }) => hasCode(bytes));
  const done = await Promise.all([
    ...split(groups.get(true) ?? []).map((each) => renderBatch(code, each, limits, turn)),
    ...split(groups.get(false) ?? []).map((each) => renderBatch(plain, each, limits, turn)),
  ]);
  const byPath = new Map(done.flat().map((page) => [page.path, page]));
  return pages.map(({ path, bytes }) => {
    const tooLarge = fileTooLarge(path, bytes.byteLength, limits);
    return byPath.get(path) ?? { path, page: null, problems: [tooLarge] };
  });
}

/** Splits a batch that exceeds the limits, so that only pages that exceed them alone fail. */
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
  if (pages.length > 1) {
    const middle = Math.ceil(pages.length / 2);
    const halves = [pages.slice(0, middle), pages.slice(middle)];
    return (await Promise.all(halves.map((half) => renderBatch(run, half, limits, turn)))).flat();
  }
  const [{ path }] = pages as [SourcePage];
  const message = {
    'sandbox-timeout': `Rendering the page took more than ${limits.seconds} seconds of CPU time and was stopped.`,
    'sandbox-memory': `Rendering the page needed more than ${limits.memoryMegabytes} MB of memory and was stopped.`,
  }[outcome.died];
  return [{ path, page: null, problems: [problemAtFile(outcome.died, path, message)] }];
}

function split(pages: readonly SourcePage[]): SourcePage[][] {
  const batches: SourcePage[][] = [];
  let bytes = 0;
  for (const page of pages) {
    const last = batches.at(-1);
    if (last === undefined || last.length >= batch.pages || bytes + page.bytes.byteLength > batch.bytes) {
      batches.push([page]);
      bytes = page.bytes.byteLength;
    } else {
      last.push(page);
      bytes += page.bytes.byteLength;
    }
  }
  return batches;
}
