import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainYaml } from '../../../src/compile/text/yaml-plain.ts';
import { readYaml } from '../../../src/compile/text/yaml-text.ts';
import { joinPointer } from '../../../src/compile/text/pointer.ts';

const limits = { depth: 50, nodes: 1000, aliases: 100 };

const usual: Record<string, string> = {
  'mappings and sequences':
    'a:\n  b: 1\n  c:\n  - x\n  - y: 1\n    z: 2\n  d:\n    - - 1\n      - 2\n    -\n      e: f\n',
  'nothing as a value': 'a:\nb: \nc:   # later\nd:\n  - \n  -\n  # more\n  - # none\n',
  'keys of every kind': "200: a\n\"q r\": b\n'it''s' : c\n/a/{b}: d\n$ref: e\na b: f\n-x: g\n__proto__: h\ntrue: i\n",
  'values by the core schema':
    'a: [1, -2, +3, 010, 1.50, .5, 5., true, False, NULL, ~, yes, 1.2.3, 0x, -, 2020-01-02]\nb: -0\nc: 1_000\n'.replace(
      ' -,',
      ' --,',
    ),
  'quoted text': `a: "x \\"y\\" \\u00e9\\n"\nb: 'it''s'\nc: "# no comment" # one\nd: ""\ne: 'a: b'\n`,
  'quoted text on several lines': `a: "one\n  two\n\n  three \\\n  four"\nb: 'one\n  two'\n`,
  'plain text on several lines': 'a: one\n  two # no more\nb:\n  one\n\n\n  two\n  - three\nc: x#y http://z\n',
  'block scalars':
    'a: |\n  one\n   two\n\n  three\nb: >-\n  one\n  two\n\n    three\nc: |+\n  x\n\n\nd:\n  - |-\n    x\n    # text\n  - >+\n    y\n\n# end\n',
  'flow collections': 'a: {"b":1, c: [x, {}], \'d\': [\n    1,\n    "a, b"\n  ]}\ne: []\nf: {a b: c:d, g: http://h}\n',
  'a start of the document': '# about\n\n---\na: b\n',
  'no line break at the end': 'a:\n  - b',
  'text as deep as its key': 'a: |\n  x\n\n\n',
};

const unusual: Record<string, string> = {
  anchors: 'a: &x 1\nb: *x\n',
  'merge keys': 'a:\n  <<: {b: 1}\n',
  tags: 'a: !!str 1\n',
  'duplicate keys': 'a: 1\na: 2\n',
  'keys that other parsers rewrite': '1.10: a\n',
  'numbers that do not fit a double': 'a: 12345678901234567890\n',
  tabs: 'a:\tb\n',
  'several documents': 'a: b\n---\nc: d\n',
  directives: '%YAML 1.1\n---\na: b\n',
  'text that is no mapping': 'a\n',
  'a mapping inside a value': 'a: b: c\n',
  'deeper text after a value': 'a: "b"\n  c: d\n',
  'an indentation of a block scalar': 'a: |2\n   b\n',
  'control characters': 'a: \u0007\n',
  'half of a surrogate pair': 'a: "\\ud800"\n',
  'nodes over a limit': `a: [${'1, '.repeat(1000)}1]\n`,
  'nesting over a limit': `a: ${'['.repeat(60)}${']'.repeat(60)}\n`,
};

describe('plain YAML', () => {
  it.each(Object.entries(usual))('is read as the library reads it: %s', (_name, text) => {
    expect(readPlainYaml(text, limits)).not.toBeNull();
    expectSame(text);
  });

  it.each(Object.entries(unusual))('is left to the library: %s', (_name, text) => {
    expect(readPlainYaml(text, limits)).toBeNull();
  });

  it('never accepts what the library rejects, and never reads it otherwise', () => {
    const texts = Object.values(usual).flatMap((text) => [text, text.slice(text.indexOf('\n') + 1)]);
    const structure = [
      '\n',
      ' ',
      '  ',
      ':',
      ': ',
      '- ',
      '"',
      "'",
      '#',
      ' #',
      '|',
      '>',
      '[',
      ']',
      '{',
      '}',
      ',',
      '\n  ',
    ];
    const others = [
      '&a ',
      '*a',
      '!x ',
      '? ',
      '---\n',
      '...\n',
      '\t',
      '~',
      '0x1',
      '1e3',
      '\r\n',
      '%',
      '@',
      '<<: ',
      '\\',
      '-',
    ];
    const bits = [...structure, ...others];
    const change = fc.record({ at: fc.nat(200), cut: fc.nat(3), bit: fc.constantFrom(...bits) });
    const mutated = fc
      .tuple(fc.constantFrom(...texts), fc.array(change, { maxLength: 3 }))
      .map(([text, changes]) =>
        changes.reduce((now, { at, cut, bit }) => replaceAt(now, at % (now.length + 1), cut, bit), text),
      );
    fc.assert(fc.property(mutated, expectSame), { numRuns: 500, seed: 7 });
  });
});

function replaceAt(text: string, at: number, cut: number, bit: string): string {
  return text.slice(0, at) + bit + text.slice(at + cut);
}

/** Expects the value, the order of members and the offsets that the library gives, or nothing. */
function expectSame(text: string): void {
  const plain = readPlainYaml(text, limits);
  if (plain === null) return;
  const library = readYaml(text, limits);
  if (!library.ok) throw new Error(`The library rejects ${JSON.stringify(text)}: ${library.issues[0]?.message}`);
  expect(library.issues, text).toEqual([]);
  expect(plain.value, text).toStrictEqual(library.value);
  expect(JSON.stringify(plain.value), text).toBe(JSON.stringify(library.value));
  for (const pointer of [...pointersIn(plain.value, ''), '/none', '/a/none/0'])
    expect([pointer, plain.find(pointer)], text).toEqual([pointer, library.find(pointer)]);
}

function pointersIn(value: unknown, pointer: string): string[] {
  if (typeof value !== 'object' || value === null) return [pointer];
  return [pointer, ...Object.entries(value).flatMap(([key, item]) => pointersIn(item, joinPointer(pointer, key)))];
}
