import { expect, test } from 'vitest';
import type { Change } from '../../../src/model/comparison.ts';
import { bothSides, partsIn } from '../../../src/site/pages/diff-page.ts';

const document = (limit: string, extra: string[] = []) =>
  [
    'About the API.',
    '## pets',
    '### GET /pets: List pets',
    'Parameters:',
    '- `a`',
    '- `b`',
    '- `c`',
    `- \`limit\` integer, ${limit}`,
    ...extra,
    '### GET /rates',
    'Responses:',
    '## Schemas',
    '### Pet\\_one',
    `- \`name\` string, ${limit}`,
  ].join('\n');

const change = (before: string | null, after: string | null): Change => ({
  verdict: 'breaking',
  code: 'x',
  message: 'x',
  before: null,
  after: null,
  pointers: { before, after },
  operations: [],
  reach: 1,
  direction: null,
});

test('both sides of an operation are lines in pairs, with those around what changed', () => {
  const [before, after] = [partsIn(document('at most 100')), partsIn(document('at most 50', ['- `sort` string']))];
  expect(bothSides('GET /pets', [change('/paths/~1pets/get', null)], before, after)).toEqual([
    {
      name: 'GET /pets',
      rows: [
        null,
        ...['a', 'b', 'c'].map((name) => ({ before: `\`${name}\``, after: `\`${name}\``, isChanged: false })),
        { before: '`limit` integer, at most 100', after: '`limit` integer, at most 50', isChanged: true },
        { before: null, after: '`sort` string', isChanged: true },
      ],
    },
  ]);
  expect(bothSides('GET /rates', [], before, after)).toEqual([]);
});

test('a schema that a pointer names is shown, and what one side lacks is not', () => {
  const [before, after] = [partsIn(document('required')), partsIn(document('optional'))];
  const pointer = '/components/schemas/Pet_one/properties/name';
  expect(bothSides('Several operations', [change(pointer, pointer)], before, after)).toEqual([
    {
      name: 'Pet_one',
      rows: [{ before: '`name` string, required', after: '`name` string, optional', isChanged: true }],
    },
  ]);
  expect(bothSides('GET /pets', [], before, partsIn('Nothing.'))).toEqual([]);
});

test('what changed stands beside what was there, between the lines that are the same', () => {
  const textOf = (...lines: string[]) => partsIn(['### Pet', ...lines].join('\n'));
  const [part] = bothSides('Pet', [], textOf('gone', 'b', 'c', 'd', 'e'), textOf('b', 'x', 'y', 'd', 'e', 'new'));
  expect(part!.rows.map((row) => row && [row.before, row.after, row.isChanged])).toEqual([
    ['gone', null, true],
    ['b', 'b', false],
    ['c', 'x', true],
    [null, 'y', true],
    ['d', 'd', false],
    ['e', 'e', false],
    [null, 'new', true],
  ]);
});

test('a part that says nothing on either side, of which Node makes no difference, is not shown', () => {
  const [before, after] = [partsIn('### A'), partsIn('### A')];
  expect(bothSides('', [change('/$defs/A', '/$defs/A')], before, after)).toEqual([]);
});
