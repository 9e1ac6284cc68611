/**
 * Returns why a path expression of a Spectral ruleset is invalid, or null. It must start with `$`
 * or an alias (`#Name`), and its brackets, parentheses and quotes must close. Nothing else is
 * checked.
 */
export function checkPath(path: string, aliases: ReadonlySet<string>): string | null {
  const shown = JSON.stringify(path.slice(0, 200));
  if (path.startsWith('#')) {
    const name = /^#([A-Za-z][A-Za-z0-9_-]*)/.exec(path)?.[1];
    if (name === undefined || !aliases.has(name)) return `${shown} uses an alias that the ruleset does not define.`;
  } else if (!path.startsWith('$'))
    return `${shown} is not a valid path expression: it must start with "$" or an alias.`;
  return isBalanced(path)
    ? null
    : `${shown} is not a valid path expression: a bracket, a parenthesis or a quote is not closed.`;
}

const closing: Readonly<Record<string, string>> = { '[': ']', '(': ')' };

function isBalanced(path: string): boolean {
  const open: string[] = [];
  let quote: string | null = null;
  for (let at = 0; at < path.length; at++) {
    const char = path[at]!;
    if (quote !== null) {
      if (char === '\\') at++;
      else if (char === quote) quote = null;
    } else if (char === '/' && isRegexStart(path, at)) {
      at = endOfRegex(path, at);
    } else if (open.length > 0 && (char === '"' || char === "'" || char === '`')) quote = char;
    else if (char in closing) open.push(closing[char]!);
    else if (char === ']' || char === ')') {
      if (open.pop() !== char) return false;
    }
  }
  return open.length === 0 && quote === null;
}

/** A slash starts a regular expression after an opening parenthesis, a comma or an operator. */
function isRegexStart(path: string, at: number): boolean {
  return /[(,~=!&|?]\s*$/.test(path.slice(Math.max(0, at - 4), at));
}

function endOfRegex(path: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < path.length; at++) {
    if (path[at] === '\\') at++;
    else if (path[at] === '[') inClass = true;
    else if (path[at] === ']') inClass = false;
    else if (path[at] === '/' && !inClass) return at;
  }
  return path.length;
}
