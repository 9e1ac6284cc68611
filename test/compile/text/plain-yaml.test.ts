import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { CST, Lexer, Parser } from 'yaml';
import { plainYaml } from '../../../scripts/plain-yaml.ts';

/** A build has these parts of the package as plain functions: they read every text as the package does. */
const folder = join(dirname(createRequire(import.meta.url).resolve('yaml')), 'parse');

function load(name: string, modules: Record<string, unknown>): Record<string, unknown> {
  const code = plainYaml(`${name}.js`, readFileSync(join(folder, `${name}.js`), 'utf8'));
  const exports = {};
  // oxlint-disable-next-line typescript/no-implied-eval -- the package's own code
  new Function('require', 'exports', code)((each: string) => modules[each], exports);
  return exports;
}

const lexer = load('lexer', { './cst.js': CST });
const parser = load('parser', { './cst.js': CST, './lexer.js': lexer, process: { env: {} } });
const PlainLexer = lexer['Lexer'] as typeof Lexer;
const PlainParser = parser['Parser'] as typeof Parser;

/** Everything that a reader sees: lexemes, tokens, and where the parser is after each lexeme. */
function read(text: string, lexing: Lexer, parsing: Parser): string {
  const seen: unknown[] = [];
  for (const lexeme of lexing.lex(text)) {
    const tokens = [...parsing.next(lexeme)];
    seen.push(lexeme, parsing.offset, parsing.stack.length, tokens);
  }
  seen.push([...parsing.end()]);
  return JSON.stringify(seen);
}

const odd = `\ufeff%YAML 1.2 # directive
%TAG ! tag:a.example,2000:
--- !x &a # comment
a: &b !!str "one \\x41 \\
  two"
'b ''c': [1, {d: e, "f": g}, *b , ? h : i]
? - explicit
  - key
: |+2
    block

  text

c: >-
  folded
  text
-  wrong
d:
\t- tab
e: [unclosed, {a
f: }
...
--- second
text over
 lines: # no
...
`;

test('lexemes, tokens and errors are those of the package, for each beginning of an odd text', () => {
  for (const text of [odd, odd.replaceAll('\n', '\r\n'), odd.replaceAll('\n', '\r')])
    for (let end = 0; end <= text.length; end++) {
      const part = text.slice(0, end);
      expect(read(part, new PlainLexer(), new PlainParser())).toBe(read(part, new Lexer(), new Parser()));
    }
});

test('a real document is read the same', () => {
  const text = readFileSync(new URL('../../../content/apis/management.yaml', import.meta.url), 'utf8').slice(0, 40_000);
  expect(read(text, new PlainLexer(), new PlainParser()) === read(text, new Lexer(), new Parser())).toBe(true);
});

test('a package that is written in another way is not changed by halves', () => {
  expect(() => plainYaml('lexer.js', 'class Lexer {}')).toThrow('has changed');
});
