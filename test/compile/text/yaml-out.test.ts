import { parseYaml } from '@redocly/openapi-core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeYaml } from '../../../src/compile/text/represent.ts';
import { timesAsMany } from '../../sample.ts';

const treacherous = [
  '',
  ' ',
  '~',
  'null',
  'Null',
  'NULL',
  'yes',
  'No',
  'ON',
  'off',
  'y',
  'N',
  'true',
  'False',
  '=',
  '<<',
  '-',
  '- a',
  '?',
  '? a',
  ':',
  'a:',
  'a: b',

  '0',
  '1',
  '-1',
  '+1',
  '010',
  '0o17',
  '0x1F',
  '0b11',
  '1_000',
  '1e3',
  '1.5',
  '.5',
  '-.5',
  '1.',
  '.inf',
  '-.INF',
  '.nan',
  '190:20:30',
  '12:30:45',
  '12:30:45.5',

  '2001-01-01',
  '2001-12-14t21:59:43.10-05:00',
  '2001-12-14 21:59:43',
  '%YAML',
  '---',
  '...',
  '--- a',
  '#',
  '# a',
  'a #b',
  'a#b',
  '&a',
  '*a',
  '!a',
  '!!str a',

  '|',
  '>',
  '|-',
  "'",
  '"',
  "it's",
  '"a"',
  '@a',
  '`a',
  '[a]',
  '{a}',
  'a, b',
  '[',
  ']',
  '{',
  '}',
  ',',
  'a\n',
  '\na',
  'a\n\nb',
  'a\n b',
  ' a\nb',
  'a \nb',
  'a\tb',
  '\ta',

  'a\r\nb',
  'a\rb',
  'a\u0085b',
  'a\u2028b',
  '\ufeffa',
  'a\u0000b',
  'a\u007fb',
  'a\u009fb',
  '\ud83d\ude00',
  'a\n\n\n',
  '\n',
  '\n\n',
  'infinity',
  'NaN',
  'nan',
  'Inf',
];

const text = fc.oneof(
  fc.constantFrom(...treacherous),
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.array(fc.constantFrom(...treacherous, 'word', '\n', '  '), { maxLength: 5 }).map((parts) => parts.join('')),
);
const key = fc.oneof(text, fc.constant('__proto__'), fc.constant('k'.repeat(2000)));
const number = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => value + 0);
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('mapping'),
  ),
  list: fc.array(tie('document'), { maxLength: 5 }),
  mapping: fc.array(fc.tuple(key, tie('document')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
}));

/** JSON's view of a value: what `-0` and the members' order are not. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('writeYaml', () => {
  it.each([
    ['YAML 1.2', (source: string) => parse(source, { uniqueKeys: false }) as unknown],
    ['YAML 1.1', (source: string) => parse(source, { version: '1.1', uniqueKeys: false }) as unknown],
    ['js-yaml, as redocly has it', (source: string) => parseYaml(source) as unknown],
  ])('is read as the same value by a reader of %s', (_, read) => {
    fc.assert(
      fc.property(document, (value) => {
        expect(plain(read(writeYaml(value)))).toEqual(plain(value));
      }),
      { numRuns: 500 * timesAsMany },
    );
  });

  it('quotes E0 and e10, which readers of YAML 1.1 take for numbers', () => {
    expect(writeYaml({ E0: 'e10', e: 'E-7' })).toBe('"E0": "e10"\ne: "E-7"\n');
  });

  it('leaves quotes out where nobody needs them', () => {
    expect(
      writeYaml({
        openapi: '3.1.0',
        info: { title: 'Pets (v2)', description: 'One.\n\nTwo: a\n' },
        paths: {},
        tags: [{ name: 'no' }, []],
      }),
    ).toBe(
      [
        'openapi: "3.1.0"',
        'info:',
        '  title: Pets (v2)',
        '  description: |',
        '    One.',
        '',
        '    Two: a',
        'paths: {}',
        'tags:',
        '- name: "no"',
        '- []',
        '',
      ].join('\n'),
    );
  });

  it('writes exponents as YAML 1.1 reads them', () => {
    expect(writeYaml([1e21, 1e-7, 1.5e300, 1e15])).toBe('- 1.0e+21\n- 1.0e-7\n- 1.5e+300\n- 1000000000000000\n');
  });
});
