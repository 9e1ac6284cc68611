import { expect, test } from 'vitest';
import { checkSite, followRedirects, redirectAnchor } from '../../../src/sites/registry/check-site.ts';

const redirects = { a: 'b', b: 'c#part', c: 'd', x: 'y', y: 'x', into: 'x' };

test.each([
  ['a', 'd.md'],
  ['b', 'd.md'],
  ['d', 'd.md'],
  ['other', 'other.md'],
  ['x', null],
  ['into', null],
])('redirects from %s lead to %s', (page, goal) => {
  expect(followRedirects(redirects, `${page}.md`)).toBe(goal);
});

test('the anchor is that of the first redirect', () => {
  expect(redirectAnchor(redirects, 'b.md')).toBe('part');
  expect(redirectAnchor(redirects, 'a.md')).toBeUndefined();
});

test('5,000 redirects one after the other, and as many broken links, are checked in a moment', () => {
  const names = Array.from({ length: 5000 }, (_, n) => `page-${n}`);
  const links = names.map((name) => ({ to: `${name}.md`, anchor: '', written: name, isImage: false, line: 1 }));
  const facts = { title: 'a', description: '', headings: [], links, embeds: [] };
  const settings = {
    theme: {},
    navigation: null,
    versions: [],
    redirects: Object.fromEntries(names.map((name, n) => [name, `page-${n + 1}`])),
  };
  const before = process.cpuUsage();
  const problems = checkSite({
    settings,
    pages: { 'index.md': { facts } },
    files: {},
    embeds: {},
    absent: new Set<string>(),
  } as unknown as Parameters<typeof checkSite>[0]);
  const { user, system } = process.cpuUsage(before);
  expect(problems.length).toBeGreaterThan(5000);
  // It took minutes.
  expect((user + system) / 1e6).toBeLessThan(3);
});
