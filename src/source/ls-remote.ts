import { mkdir } from 'node:fs/promises';
import { isNoRepository, noRepository } from './explain.ts';
import type { Tag, Tip } from './source.ts';
import type { Transport } from './transport.ts';

/** Where the remote's ref stands. `folder` is where git is started. */
export async function askTip(transport: Transport, folder: string, ref: string): Promise<Tip> {
  const { location, hasCredential } = transport;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { ok, stdout } = await transport.run({
    folder,
    args: (url) => ['ls-remote', '--quiet', '--', url, ref, `${ref}^{}`],
    expects: (stderr) => isNoRepository(stderr, location),
  });
  if (!ok) return { found: false, detail: noRepository(location.url, hasCredential) };
  const commit = parseTip(stdout.toString(), ref);
  return commit === null ? { found: false, detail: `${location.url} has ${describe(ref)}.` } : { found: true, commit };
}

/** The remote's tags, in order of name. */
export async function askTags(transport: Transport, folder: string): Promise<Tag[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { stdout } = await transport.run({ folder, args: (url) => ['ls-remote', '--quiet', '--tags', '--', url] });
  return parseTags(stdout.toString());
}

/** Why nothing is asked about a name that no ref can have (see isRefName). */
export function forbiddenRef(ref: string): string {
  const name = JSON.stringify(ref.replace(/^refs\/heads\//, '').slice(0, 200));
  return `${name} cannot be the name of a ${ref.startsWith('refs/heads/') ? 'branch' : 'ref'}.`;
}

function describe(ref: string): string {
  if (ref === 'HEAD') return 'no commits on its default branch';
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (kind === undefined) return `no ref ${JSON.stringify(ref)}`;
  return `no ${kind === 'heads' ? 'branch' : 'tag'} ${JSON.stringify(name)}`;
}

/**
 * Reads the line of `git ls-remote` for exactly this ref; patterns also match longer names that end alike. An annotated tag has two, as in
 * `parseTags`.
 */
function parseTip(output: string, ref: string): string | null {
  const ids = new Map(output.split('\n').flatMap((line) => parseLine(line)));
  return ids.get(`${ref}^{}`) ?? ids.get(ref) ?? null;
}

/** Reads the lines of `git ls-remote --tags`. An annotated tag has two: its own object's, and, with `^{}`, the commit's. */
function parseTags(output: string): Tag[] {
  const commits = new Map<string, string>();
  for (const [ref, commit] of output.split('\n').flatMap((line) => parseLine(line))) {
    const match = /^refs\/tags\/(.+?)(\^\{\})?$/s.exec(ref);
    if (match && (match[2] !== undefined || !commits.has(match[1]!))) commits.set(match[1]!, commit);
  }
  return [...commits].map(([name, commit]) => ({ name, commit })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function parseLine(line: string): [ref: string, commit: string][] {
  const match = /^([0-9a-f]{40})\t(.+)$/s.exec(line);
  return match ? [[match[2]!, match[1]!]] : [];
}
