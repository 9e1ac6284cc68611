import { expect, test } from 'vitest';
import type { Version } from '../../../src/model/resource.ts';
import { rangesOf } from '../../../src/site/build/rules-table.ts';

function version(label: string, state = 'active'): Version {
  return { label, manifest: `sha256:${label}`, content: 'sha256:', publishedAt: '', status: { state } } as Version;
}

test('ranges that begin at the numbers of a version, each with what it means now', () => {
  const versions = ['1.0.0', '1.2.0', '2.0.0-beta.1', 'edge'].map((label) => version(label));
  expect(Object.fromEntries(rangesOf({ versions }))).toEqual({
    '1': '1.2.0',
    '1.0': '1.0.0',
    '1.2': '1.2.0',
    '^1': '1.2.0',
    '^1.0': '1.2.0',
    '^1.0.0': '1.2.0',
    '^1.2': '1.2.0',
    '^1.2.0': '1.2.0',
    '~1': '1.2.0',
    '~1.0': '1.0.0',
    '~1.0.0': '1.0.0',
    '~1.2': '1.2.0',
    '~1.2.0': '1.2.0',
  });
});

test('a label that is spelled like a range is itself, and what was withdrawn is in no range', () => {
  const found = rangesOf({ versions: [version('1'), version('1.0.0'), version('1.1.0', 'withdrawn')] });
  expect(found.has('1')).toBe(false);
  expect(found.get('^1')).toBe('1.0.0');
  expect(found.has('1.1')).toBe(false);
});
