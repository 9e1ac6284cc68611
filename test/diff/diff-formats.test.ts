import { expect, test } from 'vitest';
import { formatDiff } from '../../src/cli/check/finding-formats.ts';
import { compare, taking } from './given.ts';

const changed = compare(
  taking({ type: 'string', maxLength: 9 }),
  taking({ type: 'string', maxLength: 5, title: '`<b>' }),
);

const names = { before: 'old.yaml', after: 'new.yaml' };

test('a comparison as lines', () => {
  expect(formatDiff(changed, 'text', names).split('\n')).toEqual([
    'breaking  The request body has maxLength 5 instead of 9. [POST /things] (request-body-max-length-decreased)',
    'docs      The request body has title "`<b>". [POST /things] (body-title-changed)',
    'From old.yaml to new.yaml:',
    'Breaking changes: 1 breaking, 1 in texts.',
  ]);
  const same = { before: 'vendored.yaml', after: 'vendored.yaml' };
  expect(formatDiff(compare(taking({}), taking({})), 'text', same)).toBe('No changes.');
});

test('what may break has its lines, where the place is known', () => {
  const [breaking, docs] = changed.changes;
  const placed = { ...changed, changes: [{ ...breaking!, place: { line: 2, column: 3 } }, { ...docs!, place: { line: 1, column: 1 } }] }; // prettier-ignore
  expect(formatDiff(placed, 'text', { ...names, text: 'a: 1\n  b: 2\n' }).split('\n')).toEqual([
    expect.stringMatching(/^breaking /),
    '  new.yaml:2:3',
    '    1 | a: 1',
    '  > 2 |   b: 2',
    '      |   ^',
    expect.stringMatching(/^docs /),
    '  new.yaml:1:1',
    'From old.yaml to new.yaml:',
    expect.any(String),
  ]);
});

test('a comparison as Markdown, which cannot be broken out of', () => {
  expect(formatDiff(changed, 'markdown', names)).toBe(
    [
      '**Breaking changes: 1 breaking, 1 in texts**, from `old.yaml` to `new.yaml`.',
      '',
      '**Breaking: 1**',
      '',
      '- The request body has maxLength 5 instead of 9. (`POST /things`) `request-body-max-length-decreased`',
      '',
      '**Texts: 1**',
      '',
      '- The request body has title "\\`\\<b\\>". (`POST /things`) `body-title-changed`',
    ].join('\n'),
  );
});
