import { mkdir } from 'node:fs/promises';
import { isNoRepository, noRepository, notGit } from './explain.ts';
import type { Tag, Tip } from './source.ts';
import type { Transport } from './transport.ts';

const isId = /^[0-9a-f]{40}$/;

/** Asks a remote for the commit of a ref. `folder` is the working directory of git. */
export async function askTip(transport: Transport, folder: string, ref: string): Promise<Tip> {
  const { location, hasCredential } = transport;
  const quick = (await transport.refs(ref))?.find((one) => one.ref === ref);
  const id = quick?.peeled ?? quick?.oid ?? '';
  if (isId.test(id)) return { found: true, commit: id, ...branchOf(quick?.target) };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { ok, stdout } = await transport.run({
    folder,
    args: (url) => ['ls-remote', '--quiet', ...(ref === 'HEAD' ? ['--symref'] : []), '--', url, ref, `${ref}^{}`],
    expects: (stderr) => isNoRepository(stderr, location),
  });
  if (!ok) return { found: false, detail: noRepository(location.url, hasCredential) };
  const output = stdout.toString();
  const commit = parseTip(output, ref);
  if (commit !== null) return { found: true, commit, ...branchOf(/^ref: (.+)\tHEAD$/m.exec(output)?.[1]) };
  if (!(await transport.isGit(folder))) throw notGit(location.url);
  return { found: false, detail: `${location.url} has ${describe(ref)}.` };
}

/** The branch that a symbolic ref leads to. */
function branchOf(target: string | undefined): { branch?: string } {
  return target?.startsWith('refs/heads/') ? { branch: target.slice('refs/heads/'.length) } : {};
}

/** Asks a remote for its tags, ordered by name. */
export async function askTags(transport: Transport, folder: string): Promise<Tag[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { stdout } = await transport.run({ folder, args: (url) => ['ls-remote', '--quiet', '--tags', '--', url] });
  return parseTags(stdout.toString());
}

/** The message for a name that fails `isRefName`. */
export function forbiddenRef(ref: string): string {
  const name = JSON.stringify(ref.replace(/^refs\/heads\//, '').slice(0, 200));
  return `${name} is not a valid ${ref.startsWith('refs/heads/') ? 'branch' : 'ref'} name.`;
}

function describe(ref: string): string {
  if (ref === 'HEAD') return 'no commits on its default branch';
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (kind === undefined) return `no ref ${JSON.stringify(ref)}`;
  return `no ${kind === 'heads' ? 'branch' : 'tag'} ${JSON.stringify(name)}`;
}

/**
 * Parses the line of `git ls-remote` for exactly this ref, because patterns also match longer names
 * with the same end. An annotated tag has two lines (see `parseTags`).
 */
function parseTip(output: string, ref: string): string | null {
  const ids = new Map(output.split('\n').flatMap((line) => parseLine(line)));
  return ids.get(`${ref}^{}`) ?? ids.get(ref) ?? null;
}

/**
 * Parses `git ls-remote --tags`. An annotated tag has two lines: its own object, and the commit's
 * with `^{}`.
 */
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
