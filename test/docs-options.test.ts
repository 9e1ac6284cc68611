import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { writeOptions } from '../scripts/options.ts';

const page = readFileSync(new URL('../docs/options.md', import.meta.url), 'utf8');

test('docs/options.md has a row for each option, and no other: write it anew with scripts/options.ts', async () => {
  expect(await writeOptions(page)).toBe(page);
});

test('each option in docs/options.md has a user, in a sentence', () => {
  const rows = [...page.matchAll(/^\| `([^`]+)`.*\| ([^|]*?) *\|$/gm)];
  expect(rows.length).toBeGreaterThan(250);
  expect(rows.filter(([, , need]) => !/^\S.{4,}\.$/.test(need!)).map(([, name]) => name)).toEqual([]);
});
