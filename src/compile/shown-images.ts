import { isUrlPath } from '../model/address.ts';
import { imagePaths, maxImages } from '../model/image.ts';
import { isParsed, type UnparsedFile } from './kind.ts';
import type { ParsedFile } from './text/parse.ts';

/** Images as descriptions write them: Markdown's and HTML's. */
const written = /!\[[^\]\n]{0,500}\]\(\s*<?([^()\s<>]{1,1000})|<img\s[^<>]{0,1000}?src=["']([^"'<>]{1,1000})["']/gi;

/**
 * The paths where the images may be that the descriptions of these files show, in order and without
 * those that are in `files`. Extra paths do no harm: only images are shown.
 */
export function shownImages(
  files: ReadonlyMap<string, ParsedFile | UnparsedFile>,
  isUsed: (path: string) => boolean,
): string[] {
  const images = new Set<string>();
  for (const [path, file] of files) {
    if (!isUsed(path) || isUrlPath(path)) continue;
    if (!/!\[|<img\s/i.test(file.text ?? '')) continue;
    for (const text of isParsed(file) ? textsOf(file.value) : [file.text!]) {
      for (const [, markdown, html] of text.matchAll(written))
        for (const each of imagePaths(markdown ?? html!, path)) if (!files.has(each)) images.add(each);
      if (images.size >= maxImages * 2) break;
    }
  }
  return [...images].slice(0, maxImages * 2);
}

/** The strings in a value. Nodes that aliases share are read once. */
function* textsOf(value: unknown): Generator<string> {
  const seen = new Set<object>();
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') yield next;
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    left.push(...Object.values(next).reverse());
  }
}
