/**
 * The parts of the package `yaml` that are generators, as plain functions: its lexer passes each lexeme
 * through five generators, and its parser starts several for each. Plain functions do the same in two
 * thirds of the time. What the package says and means stays as it is; `plain-yaml.test.ts` compares
 * both. Throws if the package is not written as expected, so that a newer one cannot be changed by halves.
 */
export function plainYaml(path: string, code: string): string {
  return path.endsWith('lexer.js') ? plainLexer(code) : plainParser(code);
}

function plainLexer(code: string): string {
  const [above, below] = splitAt(code, '    *parseNext(next)');
  const lex = replaceOnce(
    above,
    'next = yield* this.parseNext(next);',
    `{
            next = this.parseNext(next);
            const { given } = this;
            for (let at = 0; at < given.length; at++) yield given[at];
            given.length = 0;
        }`,
  );
  // Called without `yield*`, so it does nothing: a line break after a directive is read later.
  const calls = replaceOnce(below, '            this.pushNewline();\n', '');
  return replaceOnce(lex, 'constructor() {', 'constructor() {\n        this.given = [];') + withoutYield(calls);
}

function plainParser(code: string): string {
  const [above, below] = splitAt(code, '    *next(source) {');
  const named = replaceOnce(
    replaceOnce(withoutYield(below), '    next(source) {', '    takeNext(source) {'),
    '    end() {',
    '    takeEnd() {',
  );
  const own = `    next(source) {
        this.takeNext(source);
        return this.take();
    }
    end() {
        this.takeEnd();
        return this.take();
    }
    take() {
        if (this.given.length === 0) return nothing;
        const { given } = this;
        this.given = [];
        return given;
    }
`;
  const declared = replaceOnce(above, 'class Parser {', 'const nothing = [];\nclass Parser {');
  return (
    replaceOnce(declared, 'constructor(onNewLine) {', 'constructor(onNewLine) {\n        this.given = [];') +
    own +
    named
  );
}

/** Methods that add to a list what they would yield. */
function withoutYield(code: string): string {
  const made = code
    .replaceAll(/^ {4}\*(\w+)\(/gm, '    $1(')
    .replaceAll('yield* ', '')
    .replaceAll(/\byield ([^;]*);$/gm, 'this.given.push($1);');
  if (/\byield\b|^ {4}\*/m.test(made)) throw new Error('The package "yaml" has changed: see scripts/plain-yaml.ts.');
  return made;
}

function splitAt(code: string, mark: string): [string, string] {
  const at = code.indexOf(mark);
  if (at < 0) throw new Error(`The package "yaml" has changed: it has no ${JSON.stringify(mark)}.`);
  return [code.slice(0, at), code.slice(at)];
}

function replaceOnce(code: string, from: string, to: string): string {
  if (code.split(from).length !== 2)
    throw new Error(`The package "yaml" has changed: it does not have ${JSON.stringify(from)} once.`);
  return code.replace(from, () => to);
}
