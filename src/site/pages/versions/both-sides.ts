import type { Change } from '../../../model/comparison.ts';

/** A line of both sides. Null: not there. */
export interface SideRow {
  before: string | null;
  after: string | null;
  isChanged: boolean;
}

/** A part of a document that changed, its lines before and after in pairs. Null: lines that are the same and left out. */
export interface BothSides {
  name: string;
  rows: (SideRow | null)[];
}

/** The parts of a document's Markdown, in lines: operations and schemas by their names, and what precedes them as ''. */
export type Parts = ReadonlyMap<string, readonly string[]>;

/** Lines around what changed. */
const context = 3;
/** Longer parts are not shown: comparing takes the product of both lengths. */
const maxLines = 400;

/** The parts in the Markdown of a document, which has a heading of the third level for each. */
export function partsIn(markdown: string): Parts {
  const parts = new Map<string, string[]>();
  let lines: string[] = [];
  parts.set('', lines);
  for (const line of markdown.split('\n')) {
    const [, heading] = /^### (.*)$/.exec(line) ?? [];
    if (heading !== undefined) {
      const text = heading.replace(/\\([!-/:-@[-`{-~])/g, '$1');
      parts.set(/^[A-Z]+ \/.*?(?=: |$)/.exec(text)?.[0] ?? text, (lines = []));
    } else if (line.startsWith('## ')) lines = [];
    else if (line !== '') lines.push(line.replace(/^( *)- /, '$1'));
  }
  return parts;
}

/**
 * Both sides of what some changes are in, where both have it: the operation (''; the document), and the schemas that
 * their pointers name.
 */
export function bothSides(operation: string, changes: readonly Change[], before: Parts, after: Parts): BothSides[] {
  const schemas = changes.flatMap(({ pointers }) =>
    [pointers.before, pointers.after].flatMap((pointer) => {
      const [, name] = /^\/(?:components\/schemas|definitions|\$defs)\/([^/]+)/.exec(pointer ?? '') ?? [];
      return name === undefined ? [] : [name.replaceAll('~1', '/').replaceAll('~0', '~')];
    }),
  );
  return [...new Set([operation, ...schemas])].flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === undefined || now === undefined || Math.max(old.length, now.length) > maxLines) return [];
    const rows = pair(old, now);
    return rows.some(({ isChanged }) => isChanged) ? [{ name, rows: nearChanges(rows) }] : [];
  });
}

/** The lines of two texts in pairs, by their longest common subsequence. */
function pair(old: readonly string[], now: readonly string[]): SideRow[] {
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let a = old.length - 1; a >= 0; a--)
    for (let b = now.length - 1; b >= 0; b--)
      common[a]![b] = old[a] === now[b] ? common[a + 1]![b + 1]! + 1 : Math.max(common[a + 1]![b]!, common[a]![b + 1]!);
  const rows: SideRow[] = [];
  let [a, b] = [0, 0];
  while (a < old.length || b < now.length) {
    if (a < old.length && b < now.length && old[a] === now[b]) {
      rows.push({ before: old[a++]!, after: now[b++]!, isChanged: false });
      continue;
    }
    const [from, to] = [a, b];
    while ((a < old.length || b < now.length) && !(a < old.length && b < now.length && old[a] === now[b])) {
      if (b >= now.length || (a < old.length && common[a + 1]![b]! >= common[a]![b + 1]!)) a++;
      else b++;
    }
    for (let at = 0; at < Math.max(a - from, b - to); at++)
      rows.push({
        before: from + at < a ? old[from + at]! : null,
        after: to + at < b ? now[to + at]! : null,
        isChanged: true,
      });
  }
  return rows;
}

/** The rows that changed and those around them. */
function nearChanges(rows: readonly SideRow[]): (SideRow | null)[] {
  const isNear = (at: number) =>
    rows.slice(Math.max(0, at - context), at + context + 1).some(({ isChanged }) => isChanged);
  return rows.flatMap((row, at) => (isNear(at) ? [row] : at === 0 || isNear(at - 1) ? [null] : []));
}
