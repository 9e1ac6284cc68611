/** The longest pattern that is read, and the longest text that is made of one. */
const longest = 300;

/**
 * A short text that a regular expression matches, as far as it has only characters, classes,
 * groups, alternatives and counts; null for anything else. Runs no expression: a document's may
 * take forever.
 */
export function patternSample(pattern: string): string | null {
  if (pattern.length > longest) return null;
  let at = 0;

  function alternatives(): string | null {
    let first: string | null | undefined;
    do {
      if (pattern[at] === '|') at++;
      const text = sequence();
      first ??= text;
      if (text === null) return null;
    } while (pattern[at] === '|');
    return first;
  }

  function sequence(): string | null {
    let text = '';
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      const one = atom();
      if (one === null || text.length > longest) return null;
      text += one.repeat(Math.min(countOf(), longest));
    }
    return text;
  }

  function atom(): string | null {
    const character = pattern[at++]!;
    if (character === '^' || character === '$') return '';
    if (character === '.') return 'a';
    if (character === '\\') return escaped();
    if (character === '[') return fromClass();
    if (character !== '(') return '*+?{'.includes(character) ? null : character;
    if (pattern.startsWith('?:', at)) at += 2;
    else if (pattern[at] === '?') return null;
    const inside = alternatives();
    return pattern[at++] === ')' ? inside : null;
  }

  function escaped(): string | null {
    const character = pattern[at++] ?? '';
    return classes[character] ?? (/^[^\p{L}\p{N}]$/u.test(character) ? character : null);
  }

  function fromClass(): string | null {
    const end = /^\^?\]?(?:[^\]\\]|\\.)*/s.exec(pattern.slice(at))![0].length + at;
    const start = at;
    at = end + 1;
    if (end >= pattern.length || pattern[start] === '^') return null;
    const next = start + 1;
    return pattern[start] === '\\' ? (classes[pattern[next]!] ?? pattern[next]!) : pattern[start]!;
  }

  function countOf(): number {
    const [count = ''] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(pattern.slice(at)) ?? [];
    at += count.length;
    if (count.startsWith('?') || /^\{0(?:,0)?\}/.test(count)) return 0;
    return Math.max(1, Number(/\d+/.exec(count)?.[0] ?? 1));
  }

  const text = alternatives();
  return at < pattern.length ? null : text;
}

const classes: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ' };
