import { compileRegex, type Matches } from './pattern.ts';

const cases: Readonly<Record<string, (digits: string) => string>> = {
  flat: (d) => `[a-z][a-z${d}]*`,
  camel: (d) => `[a-z][a-z${d}]*(?:[A-Z${d}](?:[a-z${d}]+|$))*`,
  pascal: (d) => `[A-Z][a-z${d}]*(?:[A-Z${d}](?:[a-z${d}]+|$))*`,
  kebab: (d) => `[a-z][a-z${d}]*(?:-[a-z${d}]+)*`,
  cobol: (d) => `[A-Z][A-Z${d}]*(?:-[A-Z${d}]+)*`,
  snake: (d) => `[a-z][a-z${d}]*(?:_[a-z${d}]+)*`,
  macro: (d) => `[A-Z][A-Z${d}]*(?:_[A-Z${d}]+)*`,
};

/** Prepares the options of `casing`: a case, whether digits are allowed, and a separator. */
export function caseCheck(options: Readonly<Record<string, unknown>>): Matches {
  const word = (cases[String(options['type'])] ?? cases['flat']!)(options['disallowDigits'] === true ? '' : '0-9');
  const separator = (options['separator'] ?? {}) as { char?: string; allowLeading?: boolean };
  if (separator.char === undefined) return compileRegex(`^${word}$`, '').matches;
  const between = `[${separator.char.replace(/[\\\]^-]/g, String.raw`\$&`)}]`;
  const { matches } = compileRegex(
    `^${separator.allowLeading === true ? `${between}?` : ''}${word}(?:${between}${word})*$`,
    '',
  );
  return (text, budget) => (separator.allowLeading === true && text === separator.char) || matches(text, budget);
}
