/** The parts of a commit object that Stele uses. */
export interface Commit {
  /** Id of its root tree. */
  tree: string;
  /** See Snapshot. */
  committedAt: string | null;
}

/**
 * Parses a commit object (git-cat-file(1)): header lines, an empty line, the message. Null when it
 * names no tree.
 */
export function parseCommit(bytes: Buffer): Commit | null {
  const end = bytes.indexOf('\n\n');
  const head = bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
  const tree = /^tree ([0-9a-f]{40})$/m.exec(head)?.[1];
  if (tree === undefined) return null;
  return { tree, committedAt: parseSeconds(/^committer .*>\s*(\d+)/m.exec(head)?.[1] ?? '') };
}

/** The ids of a commit object's parents. */
export function parseParents(bytes: Buffer): string[] {
  const [head = ''] = bytes.toString('latin1').split('\n\n', 1);
  return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, id]) => id!);
}

/**
 * Formats seconds since 1970 as ISO 8601 in UTC. Null when the text is not a number or lies after
 * the year 9999.
 */
export function parseSeconds(text: string): string | null {
  const date = new Date(/^\d{1,12}$/.test(text) ? 1000 * Number(text) : Number.NaN);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return null;
  return date.toISOString();
}
