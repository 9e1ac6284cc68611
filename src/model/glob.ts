/**
 * Whether the text matches the pattern, in which `*` matches any run of characters. Takes linear
 * time in both lengths for any number of `*`, so a hostile pattern cannot slow it down.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  return matchName(pattern, text) !== null;
}

/**
 * Path patterns, as in `stele.yaml`: `*` matches any run of characters within one name. `**` stands
 * alone between slashes and matches any number of folders, including none. At the end it matches
 * everything inside, as in a .gitignore: `apis/**` matches `apis/a.yaml`, not a file `apis`. Every
 * other character matches itself. A star matches as little as it can.
 */

/** The maximum number of stars in a pattern, because `{1}` to `{9}` refer to their matches. */
const maxStars = 9;

/** Whether the text is a pattern rather than a path. */
export function isPathGlob(text: string): boolean {
  return text.includes('*');
}

/** Why the pattern is invalid, in words that follow "the path". Null when it is valid. */
export function pathGlobProblem(pattern: string): string | null {
  const segments = pattern.split('/');
  if (segments.includes('..')) return 'has a ".." beside a "*"';
  if (segments.some((segment) => segment.includes('**') && segment !== '**'))
    return 'has a "**" that does not stand alone between slashes';
  if (segments.filter((segment) => segment === '**').length > 1) return 'has more than one "**"';
  return starsIn(pattern) > maxStars ? `has more than ${maxStars} stars` : null;
}

/** The number of stars in a pattern. `**` counts as one. */
export function starsIn(pattern: string): number {
  return pattern.match(/\*+/g)?.length ?? 0;
}

/**
 * Creates a function that returns what each star matched in a path, in order, or null when the path
 * does not match. A pattern has at most one `**`, and both its ends are fixed, so matching takes
 * linear time.
 */
export function createPathGlob(pattern: string): (path: string) => string[] | null {
  const segments = pattern.split('/');
  const folders = segments.indexOf('**');
  const head = folders < 0 ? segments : segments.slice(0, folders);
  const tail = folders < 0 ? [] : segments.slice(folders + 1);
  const fewest = segments.length - (folders < 0 || tail.length === 0 ? 0 : 1);
  const prefix = pattern.slice(0, Math.max(0, pattern.indexOf('*')));
  return (path) => {
    if (!path.startsWith(prefix)) return null;
    const names = path.split('/');
    if (folders < 0 ? names.length !== fewest : names.length < fewest) return null;
    const end = names.length - tail.length;
    const first = matchNames(head, names.slice(0, head.length));
    const last = first && matchNames(tail, names.slice(end));
    if (first === null || last === null) return null;
    return folders < 0 ? first : [...first, names.slice(head.length, end).join('/'), ...last];
  };
}

/** Replaces `{1}`, `{2}`, … with what the stars matched. A placeholder without a star becomes empty. */
export function fillTemplate(template: string, captures: readonly string[]): string {
  return template.replace(/\{([1-9])\}/g, (_, number: string) => captures[Number(number) - 1] ?? '');
}

/** The highest placeholder number in a template, or 0. */
export function highestPlaceholder(template: string): number {
  return Math.max(0, ...Array.from(template.matchAll(/\{([1-9])\}/g), ([, number]) => Number(number)));
}

function matchNames(patterns: readonly string[], names: readonly string[]): string[] | null {
  const captures: string[] = [];
  for (const [index, pattern] of patterns.entries()) {
    const match = matchName(pattern, names[index]!);
    if (match === null) return null;
    captures.push(...match);
  }
  return captures;
}

/** What each `*` matched, as little as it can; null: the name does not match. Takes linear time. */
function matchName(pattern: string, name: string): string[] | null {
  const parts = pattern.split('*');
  if (parts.length === 1) return pattern === name ? [] : null;
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return null;
  const end = name.length - last.length;
  const captures: string[] = [];
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const index = name.indexOf(part, from);
    if (index < 0 || index + part.length > end) return null;
    captures.push(name.slice(from, index));
    from = index + part.length;
  }
  return [...captures, name.slice(from, end)];
}
