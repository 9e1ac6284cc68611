import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noCounts } from '../../../src/model/comparison.ts';
import { changesOf, comparedWith, releaseBefore } from '../../../src/model/compared-with.ts';
import { compareSemanticVersions, parseSemanticVersion } from '../../../src/model/label.ts';
import type { Resource, Version } from '../../../src/model/resource.ts';

/** Versions in order of publication; after a space the status, after `from=` what each was compared with, after `at=` when it was published. */
function resourceOf(...texts: string[]): Resource {
  const versions = texts.map((text) => {
    const [label, ...more] = text.split(' ') as [string, ...string[]];
    const from = more.find((each) => each.startsWith('from='))?.slice('from='.length);
    const publishedAt = more.find((each) => each.startsWith('at='))?.slice('at='.length);
    const state = more.find((each) => !each.includes('=')) ?? 'active';
    const changes = from === undefined ? {} : { changes: { from, verdict: 'none', counts: noCounts(), digest: '' } };
    return { label, status: { state }, ...changes, ...(publishedAt && { publishedAt }) } as unknown as Version;
  });
  return { versions } as unknown as Resource;
}

const before = (...texts: string[]) => {
  const resource = resourceOf(...texts);
  return comparedWith(resource, resource.versions.at(-1)!)?.label ?? null;
};

test.each([
  ['a first version has none', ['1.0.0'], null],
  ['an old line goes on', ['1.0.0', '2.0.0', '1.0.1'], '1.0.0'],
  ['the highest, not the last', ['1.0.0', '2.0.0', '1.0.1', '2.1.0'], '2.0.0'],
  ['a release is not compared with its own beta', ['1.0.0', '2.0.0-beta.1', '2.0.0'], '1.0.0'],
  ['after pre-releases alone there is none', ['1.0.0-beta.1', '1.0.0'], null],
  ['a pre-release follows the version before it', ['1.0.0', '2.0.0-beta.1', '2.0.0-beta.2'], '2.0.0-beta.1'],
  ['the first pre-release follows a release', ['1.0.0', '2.0.0-beta.1'], '1.0.0'],
  ['a patch in between does not count', ['1.0.0', '2.0.0-beta.1', '1.0.1', '2.0.0-beta.2'], '2.0.0-beta.1'],
  ['yanked versions are passed over', ['1.0.0', '2.0.0 yanked', '2.1.0'], '1.0.0'],
  ['withdrawn ones, too', ['1.0.0', '2.0.0 withdrawn', '1.0.1', '2.1.0'], '1.0.1'],
  ['a revision follows the revision before', ['0.9.0', '1.0.0+1', '1.0.0+2'], '1.0.0+1'],
  ['below all others there is none', ['2.0.0', '3.0.0', '1.0.0'], null],
  ['a label without an order is passed over', ['1.0.0', 'main', '1.1.0'], '1.0.0'],
  ['and follows the last', ['2.0.0', '1.0.0', 'main'], '1.0.0'],
  ['the first with an order follows those without', ['2026-01', '2026-02', '1.0.0'], '2026-02'],
  ['dotted numbers have an order', ['2.1', '3.0', '2.2'], '2.1'],
  ['what was compared then stays, though it is yanked', ['1.0.0', '1.1.0 yanked', '1.2.0 from=1.1.0'], '1.1.0'],
  ['and is not there any more when it is withdrawn', ['1.0.0', '1.1.0 withdrawn', '1.2.0 from=1.1.0'], '1.0.0'],
  ['an import is put in between', ['1.0.0', '1.1.0 at=3', '1.2.0 from=1.0.0 at=2'], '1.1.0'],
  ['one that was yanked then is not put in between', ['1.0.0', '1.1.0 at=1', '1.2.0 from=1.0.0 at=2'], '1.0.0'],
  ['a beta of an older program counts no more', ['1.0.0', '2.0.0-b', '2.0.0 from=2.0.0-b'], '1.0.0'],
])('%s', (_, texts, label) => expect(before(...texts)).toBe(label));

test('more than a hundred betas do not hide the release before them', () => {
  const betas = Array.from({ length: 150 }, (_, n) => `2.0.0-beta.${n}`);
  expect(before('1.0.0', ...betas, '2.0.0')).toBe('1.0.0');
});

test('for a pre-release the clients that count are those of the release before it', () => {
  const resource = resourceOf('1.0.0', '2.0.0-beta.1', '1.1.0');
  expect(releaseBefore(resource, { label: '2.0.0-beta.2' })?.label).toBe('1.1.0');
  expect(releaseBefore(resource, { label: '1.2.0' })?.label).toBe('1.1.0');
});

test('changes are shown while they are those since the version that it is compared with', () => {
  const shown = (...texts: string[]) => {
    const resource = resourceOf(...texts);
    return changesOf(resource, resource.versions.at(-1)!)?.from ?? null;
  };
  expect(shown('1.0.0', '1.1.0 from=1.0.0')).toBe('1.0.0');
  expect(shown('1.0.0 withdrawn', '1.1.0 from=1.0.0')).toBeNull();
  expect(shown('1.0.0', '2.0.0-b', '2.0.0 from=2.0.0-b')).toBeNull();
});

test('a release is always compared with the highest release below it, whatever was published', () => {
  const texts = fc.uniqueArray(
    fc
      .tuple(fc.stringMatching(/^[0-2]\.[0-2]\.[0-2](?:-[ab])?$/), fc.constantFrom('active', 'deprecated', 'yanked'))
      .map((parts) => parts.join(' ')),
    { selector: (text) => text.split(' ')[0], minLength: 2, maxLength: 10 },
  );
  fc.assert(
    fc.property(texts, (all) => {
      const own = parseSemanticVersion(all.at(-1)!.split(' ')[0]!)!;
      const below = all
        .slice(0, -1)
        .filter((text) => !text.endsWith('yanked'))
        .map((text) => text.split(' ')[0]!)
        .filter((label) => own.prerelease.length > 0 || !label.includes('-'))
        .filter((label) => compareSemanticVersions(parseSemanticVersion(label)!, own) < 0)
        .sort((a, b) => compareSemanticVersions(parseSemanticVersion(a)!, parseSemanticVersion(b)!));
      expect(before(...all)).toBe(below.at(-1) ?? null);
    }),
    { numRuns: 500 },
  );
});
