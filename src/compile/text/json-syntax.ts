import type { TextIssue } from './text.ts';

/** Messages of `JSON.parse` with clearer ones. */
const clearer: readonly [message: RegExp, clear: string][] = [
  [
    /^Bad control character/,
    'The string contains an unescaped control character or line break. Escape it, for example as "\\n".',
  ],
  [/^Bad (?:escaped|Unicode)/, 'Invalid escape sequence in a string.'],
  [/^Expected (?:property name|double-quoted property)/, 'Expected a member name in double quotes here.'],
  [/^Unexpected token/, 'Expected a JSON value here.'],
  [/^Unexpected number/, 'Invalid number. JSON allows decimal numbers without leading zeros or "+".'],
  [/^Unexpected non-whitespace/, 'Unexpected text after the end of the document.'],
];

/** Where a text stops being JSON (RFC 8259), and why. */
export function jsonSyntaxIssue(text: string): TextIssue {
  const message = syntaxError(text) ?? '';
  const offset = positionIn(message) ?? endOfPrefix(text);
  return { rule: 'json-syntax', severity: 'error', message: explain(text, message, offset), offset };
}

function explain(text: string, message: string, offset: number): string {
  if (/^[ \t\r\n]*$/.test(text)) return 'The file is empty.';
  if (offset >= text.length)
    return /string|escape/i.test(message)
      ? 'Unexpected end of file inside a string.'
      : 'Unexpected end of file: a bracket or brace is not closed.';
  const next = text.charAt(offset);
  if (/[\]}]/.test(next) && /,\s*$/.test(text.slice(Math.max(0, offset - 1000), offset)))
    return `Trailing comma before "${next}". Remove the comma.`;
  return clearer.find(([pattern]) => pattern.test(message))?.[1] ?? `${message.replace(/ in JSON at .*/, '')}.`;
}

function syntaxError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

function positionIn(message: string): number | null {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? null : Number(position);
}

/** The length of the longest beginning of a text that JSON can begin with. */
function endOfPrefix(text: string): number {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const message = syntaxError(text.slice(0, middle));
    const isBeginning =
      message === null || message.startsWith('Unexpected end') || (positionIn(message) ?? 0) >= middle;
    if (isBeginning) low = middle;
    else high = middle - 1;
  }
  return low;
}
