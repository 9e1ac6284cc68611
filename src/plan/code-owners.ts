import type { Repository } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';
import type { Snapshot } from '../source/snapshot.ts';

/** Where git hosts look for the file. The first that is there counts. */
const places = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'];

const maxBytes = 100_000;
/** The most lines that are tried, the last ones. */
const maxLines = 200;
const longestOwner = 100;

/**
 * The owners that a repository's CODEOWNERS names for these files: `@acme/payments`. As on git hosts, the last line that
 * matches counts, and of its owners the first is taken. An address of a person is none, since owners are published.
 */
export async function codeOwnersOf(
  registry: Registry,
  { org }: Repository,
  snapshot: Snapshot,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  const there = new Set((await snapshot.entries()).map(({ path }) => path));
  const place = places.find((each) => there.has(each));
  const [file] = place === undefined ? [] : await snapshot.read([place]);
  if (!file?.found || file.bytes.length > maxBytes) return owners;
  let left = [...paths];
  for (const { pattern, owner } of linesOf(new TextDecoder().decode(file.bytes))) {
    if (left.length === 0) break;
    // One by one: where a folder matches, gitignore's rules look at no later pattern, and those of CODEOWNERS do.
    const matched = await registry.compiler.ignored([pattern], left, registry.config.limits, { org, signal });
    if (matched === null) break;
    if (owner !== null) for (const [at, path] of left.entries()) if (matched[at] === 0) owners.set(path, owner);
    left = left.filter((_, at) => matched[at] !== 0);
  }
  return owners;
}

/** The patterns with their owners, the last first. Null: the line says that nobody owns it. */
function linesOf(text: string): { pattern: string; owner: string | null }[] {
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [pattern = '', ...named] = line
      .replace(/(?:^|\s)#.*$/, '')
      .trim()
      .split(/\s+/);
    // Sections are of GitLab, and say who must approve.
    if (pattern === '' || /^[[^!]/.test(pattern)) return [];
    return [{ pattern, owner: named.find((each) => each.startsWith('@') && each.length <= longestOwner) ?? null }];
  });
  return lines.slice(-maxLines).reverse();
}
