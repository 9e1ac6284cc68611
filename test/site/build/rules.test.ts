import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { selectVersion, type Resource, type Version } from '../../../src/model/resource.ts';
import { chooseCoding } from '../../../src/server/read/read-request.ts';
import { rangesOf } from '../../../src/site/build/rules-table.ts';

function version(label: string, state = 'active'): Version {
  return { label, manifest: `sha256:${label}`, content: 'sha256:', publishedAt: '', status: { state } } as Version;
}

const range = fc.tuple(fc.constantFrom('', '^', '~'), fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }));

test('every range that begins at or below a published minor means what it means on the server, and no other is listed', () => {
  const core = fc.tuple(fc.nat(2), fc.nat(3), fc.nat(3)).map((numbers) => numbers.join('.'));
  const label = fc.tuple(core, fc.constantFrom('', '', '', '-beta.1')).map((parts) => parts.join(''));
  const state = fc.constantFrom('active', 'active', 'deprecated', 'yanked', 'withdrawn');
  const some = fc.uniqueArray(fc.tuple(label, state), { selector: ([each]) => each, minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(some, range, (given, [sign, numbers]) => {
      const versions = given.map(([each, then]) => version(each, then));
      const asked = sign + numbers.join('.');
      const selected = selectVersion({ versions } as Resource, { kind: 'version', version: asked });
      const listed = rangesOf({ versions }).get(asked) ?? null;
      const [major, minor, patch] = numbers;
      const [ofMajor, ofMinor] = [numbers.slice(0, 1), numbers.slice(0, 2)].map((start) =>
        given.map(([each]) => each).filter((each) => !each.includes('-') && each.startsWith(`${start.join('.')}.`)),
      );
      const highest = (labels: string[], at: number) =>
        Math.max(-1, ...labels.map((each) => Number(each.split('.')[at])));
      const isCounted =
        minor === undefined || (minor <= highest(ofMajor!, 1) && (patch ?? 0) <= Math.max(0, highest(ofMinor!, 2)));
      const meant = selected === null || selected.exact || major === undefined ? null : selected.version.label;
      if (listed !== null || isCounted) expect(listed).toBe(meant);
    }),
  );
});

test('@^1.0 of a resource that has no 1.0', () => {
  const found = rangesOf({ versions: [version('1.2.0'), version('1.4.1')] });
  for (const each of ['1', '^1.0', '^1.1', '^1.3', '^1.0.0', '^1.4.0', '~1.4'])
    expect(found.get(each), each).toBe('1.4.1');
  expect(found.get('~1.2')).toBe('1.2.0');
  for (const each of ['1.0', '~1.0', '^1.5', '^1.4.2', '^2']) expect(found.has(each), each).toBe(false);
});

test('numbers that nobody counts up to cost nothing', () => {
  expect(rangesOf({ versions: [version('1.999999999999999.0'), version('1.0.20260101')] }).size).toBeLessThan(1500);
});

test('a label that is spelled like a range is itself, and what was withdrawn is in no range', () => {
  const found = rangesOf({ versions: [version('1'), version('1.0.0'), version('1.1.0', 'withdrawn')] });
  expect(found.has('1')).toBe(false);
  expect(found.get('^1')).toBe('1.0.0');
  expect(found.has('1.1')).toBe(false);
});

test('what nginx looks up of Accept-Encoding is what the server chooses', () => {
  const endings = { br: '.br', zstd: '.zst', gzip: '.gz', identity: '' };
  const rules = readFileSync(new URL('../../../content/nginx/http.conf', import.meta.url), 'utf8');
  const [, chosen] = /\$stele_coding \{\n(.*?)\n\}/s.exec(rules)!;
  const rows = [...chosen!.matchAll(/^ {2}"(.*)" "(.*)";$/gm)].map(([, names, ending]) => [names!, ending!] as const);
  expect(rows.length).toBeGreaterThan(10);
  for (const [names, ending] of rows) expect([names, ending]).toEqual([names, endings[chooseCoding(names)!]]);
});
