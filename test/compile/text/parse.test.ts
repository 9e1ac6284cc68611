import { describe, expect, it } from 'vitest';
import { parseFile } from '../../../src/compile/text/parse.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import { limits } from '../limits.ts';

function read(path: string, content: string | Uint8Array, changes = {}) {
  const parsed = parseFile(path, Buffer.from(content), { ...limits, ...changes });
  return { value: parsed.ok ? parsed.file.value : undefined, problems: parsed.problems.map(formatProblem), parsed };
}

const refused: [what: string, path: string, content: string | Uint8Array, problem: string][] = [
  [
    'UTF-16 with a mark',
    'a.yaml',
    Buffer.from('\ufeffa: 1', 'utf16le'),
    'a.yaml:1:1 error encoding: The file is encoded as UTF-16. Save it as UTF-8.',
  ],
  [
    'UTF-16 without one',
    'a.json',
    Buffer.from('{"a":1}', 'utf16le'),
    'a.json:1:1 error encoding: The file is encoded as UTF-16. Save it as UTF-8.',
  ],
  [
    'a byte that is no UTF-8',
    'a.yaml',
    Buffer.concat([Buffer.from('ü: \ufffd\nb: '), Buffer.from([0xe9])]),
    'a.yaml:2:4 error encoding: The file is not valid UTF-8 at this byte. Save it as UTF-8.',
  ],
  [
    'NUL in YAML',
    'a.yaml',
    'a: 1\nb: "\0"',
    'a.yaml:2:5 error control-character: The file contains the control character U+0000, which YAML does not allow. Remove it or write it as an escape.',
  ],
  [
    'NUL in JSON',
    'a.json',
    '{"a": "\0"}',
    'a.json:1:8 error json-syntax: The string contains an unescaped control character or line break. Escape it, for example as "\\n".',
  ],
  ['an empty file', 'a.yaml', '', 'a.yaml:1:1 error yaml-syntax: The file has no content, or only comments.'],
  [
    'comments alone',
    'a.yaml',
    '# nothing\n',
    'a.yaml:1:1 error yaml-syntax: The file has no content, or only comments.',
  ],
  ['an empty JSON file', 'a.json', ' \n', 'a.json:2:1 error json-syntax: The file is empty.'],
  [
    'a trailing comma',
    'a.json',
    '{\n  "a": 1,\n}',
    'a.json:3:1 error json-syntax: Trailing comma before "}". Remove the comma.',
  ],
  [
    'a comment in JSON',
    'a.json',
    '{ // no\n}',
    'a.json:1:3 error json-syntax: Expected a member name in double quotes here.',
  ],
  ['YAML in a .json file', 'a.json', 'a: 1', 'a.json:1:1 error json-syntax: Expected a JSON value here.'],
  [
    'JSON that ends too early',
    'a.json',
    '{"a": [1',
    'a.json:1:9 error json-syntax: Unexpected end of file: a bracket or brace is not closed.',
  ],
  [
    'a second document',
    'a.yaml',
    'a: 1\n---\nb: 2\n',
    'a.yaml:2:1 error yaml-documents: The file contains more than one YAML document; "---" starts a new one. Put each document into its own file.',
  ],
  [
    'an empty second document, which one-document readers refuse too',
    'a.yaml',
    'a: 1\n---\n',
    'a.yaml:2:1 error yaml-documents: The file contains more than one YAML document; "---" starts a new one. Put each document into its own file.',
  ],
  ['an alias of nothing', 'a.yaml', 'a: *b', 'a.yaml:1:4 error yaml-alias: The alias *b has no anchor &b before it.'],
  [
    'an alias inside its anchor',
    'a.yaml',
    'a: &a\n  - *a',
    'a.yaml:2:5 error yaml-alias: The alias *a is inside its own anchor. Cycles are not allowed.',
  ],
  [
    'a bracket that closes left of its key',
    'a.yaml',
    'a: {\n  b: 1\n}\n',
    'a.yaml:3:1 error yaml-syntax: This line must be indented more than the key of its value. Or is a bracket or quote above not closed?',
  ],
  [
    'a tab as indentation',
    'a.yaml',
    'a:\n\tb: 1\n',
    'a.yaml:2:1 error yaml-syntax: Tab characters must not be used in indentation.',
  ],
  [
    'a key without its colon',
    'a.yaml',
    'a: 1\nb\nc: 2\n',
    'a.yaml:3:2 error yaml-syntax: A key must be on one line. Perhaps the line above has no ":" after its key.',
  ],
  [
    'text after a value',
    'a.yaml',
    'a: "b" c\n',
    'a.yaml:1:8 error yaml-syntax: Expected a key here, or nothing. Indent the keys of a mapping alike, and quote text with ": " or " #".',
  ],
  [
    'another major version of YAML',
    'a.yaml',
    '%YAML 2.0\n---\na: 1\n',
    'a.yaml:2:1 error yaml-syntax: Unacceptable YAML version of the document.',
  ],
];

describe('what cannot be read', () => {
  it.each(refused)('%s is refused at its place', (_, path, content, problem) => {
    const { parsed, problems } = read(path, content);
    expect(parsed.ok).toBe(false);
    expect(problems).toContain(problem);
  });

  it.each([
    ['brackets in YAML', 'a.yaml', '['.repeat(1_000_000)],
    ['brackets in JSON', 'a.json', '['.repeat(1_000_000)],
    ['members in JSON', 'a.json', '{"a":'.repeat(1_000_000)],
    ['sequences in one line', 'a.yaml', '- '.repeat(1_000_000)],
    [
      'mappings by indentation',
      'a.yaml',
      Array.from({ length: 1000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
    ],
  ])('a million nested %s stop at the depth limit', (_, path, content) => {
    expect(read(path, content).problems).toEqual([
      expect.stringContaining('error limit-depth: The document is nested deeper than 200 levels.'),
    ]);
  });

  // None of them ends, so reading them to their end would say so.
  it.each([
    ['pairs without text', 'a.yaml', `[${':,'.repeat(30_000)}`],
    ['keys without text', 'a.yaml', `[${'? ,'.repeat(30_000)}`],
    ['empty mappings', 'a.json', `[${'{},'.repeat(30_000)}`],
    ['anchors', 'a.yaml', `${'- &a\n'.repeat(30_000)}- [`],
    ['documents', 'a.yaml', `${'---\n'.repeat(30_000)}- [`],
  ])('very many %s stop at the node limit while they are read', (_, path, content) => {
    expect(read(path, content, { nodes: 10_000 }).problems).toEqual([
      expect.stringContaining('error limit-nodes: The document has more than 10000 nodes'),
    ]);
  });

  it('merge keys cannot expand a document either', () => {
    const members = Array.from({ length: 2000 }, (_, index) => `k${index}: 1`).join(', ');
    const uses = Array.from({ length: 500 }, (_, index) => `m${index}: {<<: *a}`);
    const { problems } = read('a.yaml', [`a: &a {${members}}`, ...uses].join('\n'));
    expect(problems).toEqual([
      expect.stringContaining('limit-nodes: Aliases and merge keys expand the document to more than 4 times'),
    ]);
  });

  it('an alias bomb stops at the node limit, before it is expanded', () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [index, name] of [...'bcdefghijk'].entries())
      lines.push(`${name}: &${name} [${Array(9).fill(`*${'abcdefghijk'[index]}`).join()}]`);
    const { parsed, problems } = read('a.yaml', lines.join('\n'));
    expect(parsed.ok).toBe(false);
    expect(problems[0]).toContain('limit-nodes');
  });

  it('aliases, nodes and bytes have limits of their own', () => {
    expect(read('a.yaml', 'a: &a 1\nb: [*a, *a, *a]', { aliases: 2 }).problems[0]).toContain(
      'a.yaml:2:13 error limit-aliases',
    );
    expect(read('a.yaml', 'a: [1, 2, 3, 4]', { nodes: 4 }).problems[0]).toContain('limit-nodes');
    expect(read('a.json', '[1, 2, 3, 4]', { nodes: 4 }).problems[0]).toContain('a.json:1:9 error limit-nodes');
    expect(read('a.json', '[1, 2, 3, 4]', { fileBytes: 5 }).problems[0]).toContain('limit-file-bytes');
  });
});

describe('what is read and reported', () => {
  it.each([
    [
      'a JSON member twice',
      'a.json',
      '{"a": 1,\n "a": 2}',
      'a.json:2:2 error duplicate-key: Duplicate key "a". Remove one of the two.',
    ],
    [
      'the same member by another spelling',
      'a.json',
      '{"a": 1, "\\u0061": 2}',
      'a.json:1:10 error duplicate-key: Duplicate key "a". Remove one of the two.',
    ],
    [
      'a YAML key twice',
      'a.yaml',
      'a: 1\nb: 2\na: 3',
      'a.yaml:3:1 error duplicate-key: Duplicate key "a". Remove one of the two.',
    ],
    [
      'a number beyond a double',
      'a.json',
      '[1e400]',
      'a.json:1:2 error number-range: The number 1e400 is too large: JSON parsers read it as infinity. Use a smaller number or a string.',
    ],
    [
      'a number beyond a double in YAML',
      'a.yaml',
      'a: -1e400',
      'a.yaml:1:4 error number-range: The number -1e400 is too large: JSON parsers read it as infinity. Use a smaller number or a string.',
    ],
    [
      'infinity',
      'a.yaml',
      'a: .inf',
      'a.yaml:1:4 error number-range: JSON has no value .inf. Use a finite number or a string.',
    ],
    [
      'not a number',
      'a.yaml',
      'a: .NaN',
      'a.yaml:1:4 error number-range: JSON has no value .NaN. Use a finite number or a string.',
    ],
    [
      'an integer beyond 2^53',
      'a.json',
      '[9223372036854775807]',
      'a.json:1:2 warning number-precision: The integer 9223372036854775807 is beyond 2^53, and most parsers read it as 9223372036854776000. Use a smaller number or a string.',
    ],
    [
      'half a surrogate pair',
      'a.json',
      '["\\ud800"]',
      'a.json:1:2 error lone-surrogate: The string contains half of a surrogate pair. Write both halves, or remove it.',
    ],
    [
      'a tag of its own',
      'a.yaml',
      'a: !include b.yaml',
      'a.yaml:1:4 error yaml-tag: The YAML tag !include cannot be converted to JSON. Remove it.',
    ],
    [
      'bytes',
      'a.yaml',
      'a: !!binary aGk=',
      'a.yaml:1:4 error yaml-tag: The YAML tag binary cannot be converted to JSON. Remove it.',
    ],
    [
      'a core tag that does not fit',
      'a.yaml',
      'a: !!int b',
      'a.yaml:1:4 error yaml-tag: The YAML tag int cannot be converted to JSON. Remove it.',
    ],
    [
      'a core tag with another meaning',
      'a.yaml',
      '%TAG !! tag:example.com,2000:\n---\na: !!int 1',
      'a.yaml:3:4 error yaml-tag: The YAML tag !!int cannot be converted to JSON. Remove it.',
    ],
    [
      'an escape of no character',
      'a.yaml',
      'a: "\\U00110000"',
      'a.yaml:1:4 error yaml-syntax: The string contains an escape beyond \\U0010FFFF. Remove it.',
    ],
    [
      'another version of YAML',
      'a.yaml',
      '%YAML 1.1\n---\na: yes',
      'a.yaml:1:1 warning yaml-version: The file declares %YAML 1.1 but is read as YAML 1.2: "yes" and "on" are strings, and "010" is 10.',
    ],
    [
      'a number that a double holds as 0',
      'a.json',
      '[0, 1e-400]',
      'a.json:1:5 warning number-precision: The number 1e-400 is too small and is read as 0.',
    ],
    [
      'a key that is no scalar',
      'a.yaml',
      '? [a]\n: 1',
      'a.yaml:1:3 error yaml-key: The key must be a string: JSON has no objects or arrays as keys.',
    ],
    [
      'a key that readers of YAML take for another number',
      'a.yaml',
      '1.10: a',
      'a.yaml:1:1 warning yaml-key: The key 1.10 is read as the string "1.10", but other parsers read 1.1. Put it in quotes.',
    ],
    [
      'a merge of a scalar',
      'a.yaml',
      'a:\n  <<: 1',
      'a.yaml:2:7 error yaml-merge: The value of "<<" must be a mapping or a list of mappings.',
    ],
  ])('%s', (_, path, content, problem) => {
    const { parsed, problems } = read(path, content);
    expect(parsed.ok).toBe(true);
    expect(problems).toEqual([problem]);
  });
});

describe('values', () => {
  it.each([
    ['a byte order mark is no content', 'a.yaml', '\ufeffa: 1', { a: 1 }],
    [
      'YAML 1.2, not 1.1',
      'a.yaml',
      'a: yes\nb: 010\nc: 12:30:45\nd: 2001-01-01\ne: 0o17',
      { a: 'yes', b: 10, c: '12:30:45', d: '2001-01-01', e: 15 },
    ],
    ['numbers as keys keep their text', 'a.yaml', '200: a\n0200: b', { 200: 'a', '0200': 'b' }],
    [
      'merge keys give way to the mapping itself',
      'a.yaml',
      'x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}',
      { x: { a: 1, b: 2 }, y: { a: 1, b: 3 } },
    ],
    [
      'the first of several merged mappings wins',
      'a.yaml',
      'x: [&x {a: 1}, &y {a: 2, b: 2}]\ny: {<<: [*x, *y]}',
      { x: [{ a: 1 }, { a: 2, b: 2 }], y: { a: 1, b: 2 } },
    ],
    ['a quoted "<<" is a key', 'a.yaml', '"<<": {a: 1}', { '<<': { a: 1 } }],
    ['JSON in a .yaml file', 'a.yaml', '{\n\t"a": [1, true, null]\n}', { a: [1, true, null] }],
    ['JSON after spaces', 'a.json', '  {"a":\n1\n}', { a: 1 }],
    [
      'core tags',
      'a.yaml',
      'a: !!str 1\nb: !!int "2"\nc: ! 3\nd: !!null\ne: !!seq [!<tag:yaml.org,2002:bool> true]',
      { a: '1', b: 2, c: '3', d: null, e: [true] },
    ],
    ['text is not made NFC', 'a.yaml', '"e\u0301": e\u0301', { 'e\u0301': 'e\u0301' }],
    ['a long key', 'a.yaml', `${'k'.repeat(2000)}: 1`, { ['k'.repeat(2000)]: 1 }],
    ['an alias as a key', 'a.yaml', '- &x 1.10\n- {*x : a}', [1.1, { '1.10': 'a' }]],
    ['CRLF', 'a.yaml', 'a: 1\r\nb: |\r\n  x\r\n  y\r\n', { a: 1, b: 'x\ny\n' }],
    ['an anchor defined again', 'a.yaml', 'a: &x 1\nb: *x\nc: &x 2\nd: *x', { a: 1, b: 1, c: 2, d: 2 }],
  ])('%s', (_, path, content, value) => {
    expect(read(path, content)).toMatchObject({ value, parsed: { ok: true } });
  });

  it.each(['a.yaml', 'a.json'])('`__proto__` is a member like any other (%s)', (path) => {
    const { value } = read(path, '{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}}');
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  it('nothing in a value is shared', () => {
    const { value } = read('a.yaml', 'a: &a {x: 1}\nb: *a');
    const { a, b } = value as { a: object; b: object };
    expect(a).toEqual(b);
    expect(a).not.toBe(b);
  });
});

describe('places', () => {
  const yaml =
    'info:\n  title: x\npaths:\n  /a/{b}:\n    - one\n    - {two: 2}\nx: &x\n  y: 1\nz: *x\nm:\n  <<: *x\nblock: |- # a > b\n  |\nempty:\n';
  const json = '{\n  "info": {"title": "x"},\n  "paths": {\n    "/a/{b}": ["one",\n      {"two": 2}]\n  }\n}';

  it.each([
    ['', 'value', 1, 1],
    ['/info/title', 'key', 2, 3],
    ['/info/title', 'value', 2, 10],
    ['/paths/~1a~1{b}', 'key', 4, 3],
    ['/paths/~1a~1{b}/1/two', 'key', 6, 8],
    ['/paths/~1a~1{b}/1/two', 'value', 6, 13],
    ['/paths/~1a~1{b}/7/two', 'value', 5, 5],
    ['/z', 'value', 9, 4],
    ['/z/y', 'value', 8, 6],
    ['/block', 'value', 12, 8],
    ['/empty', 'value', 14, 1],
    ['/m/y', 'key', 8, 3],
    ['/none/at/all', 'value', 1, 1],
  ] as const)('YAML: %s (%s) stands at %i:%i', (pointer, on, line, column) => {
    const { parsed } = read('a.yaml', yaml);
    expect(parsed.ok && parsed.file.locate(pointer, on)).toEqual({ line, column });
  });

  it.each([
    ['', 'value', 1, 1],
    ['/info/title', 'key', 2, 12],
    ['/info/title', 'value', 2, 21],
    ['/paths/~1a~1{b}', 'key', 4, 5],
    ['/paths/~1a~1{b}/1', 'value', 5, 7],
    ['/paths/~1a~1{b}/1/two', 'value', 5, 15],
    ['/paths/none', 'value', 3, 12],
  ] as const)('JSON: %s (%s) stands at %i:%i', (pointer, on, line, column) => {
    const { parsed } = read('a.json', json);
    expect(parsed.ok && parsed.file.locate(pointer, on)).toEqual({ line, column });
  });
});
