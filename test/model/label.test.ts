import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareSemanticVersions,
  foldLabel,
  highestInRange,
  isLabel,
  isRange,
  labelFromVersion,
  latestOf,
  nextLabel,
  placeOfLabel,
  parseSemanticVersion,
  type LabelCandidate,
  readerOf,
} from '../../src/model/label.ts';
import { hostileTexts, labels, ranges } from './arbitraries.ts';
import { timesAsMany } from '../sample.ts';

/** Candidates in order of publication. */
function published(...texts: string[]): LabelCandidate[] {
  return texts.map((label, order) => ({ label, order }));
}

function compare(a: string, b: string): number {
  return Math.sign(compareSemanticVersions(parseSemanticVersion(a)!, parseSemanticVersion(b)!));
}

describe('labels', () => {
  test.each([
    '1',
    '1.0.0',
    'v1',
    'a',
    '2026-01-01',
    '1.0.0-beta.1+build_5',
    'A'.repeat(128),
    'json',
    '1.0.0-latest',
    'x.jsonx',
  ])('%s is one', (text) => expect(isLabel(text)).toBe(true));
  test.each([
    '',
    '.',
    '..',
    '-1',
    '1-',
    '1.',
    '1..0',
    '1 0',
    '1/0',
    '1@0',
    '1:0',
    '^1',
    '~1',
    '1.0.0.json',
    '1.0.0.YAML',
    'a.yml',
    'latest',
    'Latest',
    'LATEST',
    'sha256',
    'SHA256x',
    'sha256-abc',
    'constructor',
    'valueOf',
    '1\n',
    '\0',
    'ä',
    '１',
    '1%2f',
    'A'.repeat(129),
    'A'.repeat(100_000),
  ])('%.40j is none', (text) => expect(isLabel(text)).toBe(false));

  test('are unique ignoring case', () => {
    expect(foldLabel('1.0.0-Beta')).toBe(foldLabel('1.0.0-bETA'));
  });

  test.each([
    ['1.0.0', '1.0.0'],
    ['v 1.0 (beta)', 'v-1.0-beta'],
    ['v2 beta (ünï)', 'v2-beta-uni'],
    ['１.０-Ångström', '1.0-Angstrom'],
    ['  2 ', '2'],
    ['1.0.0.json', 'v-1-0-0-json'],
    ['latest', 'v-latest'],
    ['SHA256:abc', 'v-SHA256-abc'],
    ['1...2', '1.2'],
    ['../../etc', 'etc'],
    ['версия 3', '3'],
    ['版', null],
    ['', null],
    ['...', null],
    [`${'1'.repeat(127)}.0`, '1'.repeat(127)],
    [`sha256${'a'.repeat(119)}-bb`, `v-sha256${'a'.repeat(119)}`],
  ])('are made of the version a document states: %.40j', (version, label) => {
    expect(labelFromVersion(version)).toBe(label);
  });

  test('what is made is a label, null only where nothing can be kept', () => {
    const versions = fc.oneof(
      hostileTexts,
      labels,
      fc.stringMatching(/^(?:sha256|latest|Latest)?[a.+_ -]{0,140}(?:\.json|\.yaml|\.yml)?$/),
    );
    fc.assert(
      fc.property(versions, (version) => {
        const label = labelFromVersion(version);
        if (label === null) expect(version.slice(0, 128)).not.toMatch(/[A-Za-z0-9]/);
        else expect(isLabel(label)).toBe(true);
      }),
      { numRuns: 500 * timesAsMany },
    );
  });

  test('a label stays itself', () => {
    fc.assert(
      fc.property(labels, (label) => {
        expect(labelFromVersion(label)).toBe(label);
      }),
    );
  });
});

describe('semantic versions', () => {
  // semver.org, §11 and its examples, each preceding the next.
  const ascending = [
    '0.0.0-0',
    '0.0.0',
    '0.9.0',
    '1.0.0-0',
    '1.0.0-2',
    '1.0.0-10',
    '1.0.0-99999999999999999999999',
    '1.0.0--',
    '1.0.0-1a',
    '1.0.0-A',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '2.0.0',
    '2.1.0',
    '2.1.1',
    '2.10.0',
    '10.0.0',
    '99999999999999999999999.999999999999999999.99999999999999999',
  ];

  test('precede each other as the specification says', () => {
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) expect(compare(a, b), `${a} and ${b}`).toBe(Math.sign(i - j));
    }
  });

  test('build metadata and a leading v do not count', () => {
    expect(compare('1.0.0+a', '1.0.0+b')).toBe(0);
    expect(compare('v1.0.0', '1.0.0')).toBe(0);
    expect(parseSemanticVersion('1.0.0-rc.1+5')).toEqual({ core: [1n, 0n, 0n], prerelease: ['rc', '1'] });
  });

  // semver.org, the examples that go with its suggested regular expression.
  test.each([
    '1',
    '1.2',
    '1.2.3-0123',
    '1.2.3-0123.0123',
    '1.1.2+.123',
    '+invalid',
    '-invalid',
    'alpha',
    'alpha.beta.1',
    '1.0.0-alpha_beta',
    '1.0.0-alpha..1',
    '01.1.1',
    '1.01.1',
    '1.1.01',
    '1.2.3.DEV',
    '1.2-SNAPSHOT',
    '1.2-RC-SNAPSHOT',
    '-1.0.3-gamma+b7718',
    '9.8.7+meta+meta',
    '9.8.7-whatever+meta+meta',
    'vv1.0.0',
    'V1.0.0',
    ' 1.0.0',
    '1.0.0\n',
    '',
  ])('%j is none', (text) => expect(parseSemanticVersion(text)).toBeNull());

  test.each([
    '0.0.4',
    '1.1.2-prerelease+meta',
    '1.1.2+meta-valid',
    '1.0.0-alpha0.valid',
    '1.0.0-alpha.0valid',
    '1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay',
    '2.0.0+build.1848',
    '1.2.3----RC-SNAPSHOT.12.9.1--.12+788',
    '1.0.0+0.build.1-rc.10000aaa-kk-0.1',
    '1.0.0-0A.is.legal',
  ])('%s is one', (text) => expect(parseSemanticVersion(text)).not.toBeNull());

  test('the order is total: antisymmetric and transitive', () => {
    const version = fc
      .tuple(
        fc.nat(2),
        fc.nat(2),
        fc.nat(2),
        fc.array(fc.constantFrom('0', '1', '10', 'a', 'A', '-', '1a'), { maxLength: 3 }),
      )
      .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre.length > 0 ? `-${pre.join('.')}` : ''}`);
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(compare(a, b) + compare(b, a)).toBe(0);
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
        expect(compare(a, b) === 0).toBe(a === b);
      }),
      { numRuns: 300 * timesAsMany },
    );
  });
});

describe('latest', () => {
  test.each([
    ['the highest release', ['1.0.0', '2.0.0', '1.5.0'], '2.0.0'],
    ['a release before a higher pre-release', ['1.0.0', '2.0.0-rc.1'], '1.0.0'],
    ['the highest pre-release while there is nothing else', ['1.0.0-rc.2', '1.0.0-rc.10', '1.0.0-beta'], '1.0.0-rc.10'],
    ['the newest publication among equals', ['1.0.0', '1.0.0+2', '1.0.0+3'], '1.0.0+3'],
    ['the newest among equals, whatever their metadata', ['1.0.0+9', '1.0.0+2'], '1.0.0+2'],
    ['a semantic version before any other label', ['0.0.1', 'zebra', '2026-01-01'], '0.0.1'],
    ['a pre-release before a label that is no semantic version', ['0.0.1-a', 'zebra'], '0.0.1-a'],
    ['the newest publication where no label is a semantic version', ['2026-02-01', 'beta', '2025-01-01'], '2025-01-01'],
    ['the one there is', ['x'], 'x'],
    ['numbers by value', ['9.0.0', '10.0.0'], '10.0.0'],
  ])('is %s', (_, texts, label) => {
    expect(latestOf(published(...texts))?.label).toBe(label);
    expect(latestOf(published(...texts).reverse())?.label).toBe(label);
  });

  test.each([
    ['2025.10.01', ['2025.10.01', '2025.02.04']],
    ['2.2', ['2.2', '2.1.0']],
    ['2.2', ['2.1.0', '2.2', '2.2-beta']],
    ['v10', ['v10', 'v9', 'v9+abc1234']],
    ['1.2.3.10', ['1.2.3.10', '1.2.3.9']],
    ['1.0.0+b', ['1.0', '1', '1.0.0+b']],
    ['2.1', ['2.2', 'spring', '2.1']],
    ['2025-01-01', ['2025.10.01', '2025-01-01']],
  ])('of dotted numbers is the highest, where all stable labels are such: %s', (label, texts) => {
    const versions = published(...texts);
    expect(latestOf(versions, readerOf(texts.map((text) => ({ label: text }))))?.label).toBe(label);
  });

  test('of nothing is nothing', () => expect(latestOf([])).toBeNull());

  test('is the same in whatever order it is asked', () => {
    const some = fc.uniqueArray(fc.oneof(labels, fc.stringMatching(/^[0-2]\.[0-2]\.0(?:-[ab1])?(?:\+[12])?$/)), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        some.chain((texts) =>
          fc.tuple(
            fc.constant(published(...texts)),
            fc.shuffledSubarray(published(...texts), { minLength: texts.length }),
          ),
        ),
        ([candidates, shuffled]) => {
          const latest = latestOf(candidates)!;
          expect(latestOf(shuffled)).toEqual(latest);
          const version = parseSemanticVersion(latest.label);
          for (const { label } of candidates) {
            const other = parseSemanticVersion(label);
            if (other === null || (version && version.prerelease.length === 0 && other.prerelease.length > 0)) continue;
            expect(version && compareSemanticVersions(version, other)).toBeGreaterThanOrEqual(0);
          }
        },
      ),
    );
  });
});

describe('ranges', () => {
  test.each(['1', '0', '1.4', '^1', '^1.2', '^1.2.3', '~1', '~1.4', '~1.4.0', '^0.0.3', '12.0'])('%s is one', (text) =>
    expect(isRange(text)).toBe(true),
  );
  test.each([
    '',
    '1.4.0',
    '01',
    '1.04',
    '^',
    '^^1',
    '>1',
    '>=1.0.0',
    '1.x',
    '*',
    '1.',
    '.1',
    '^1.2.3.4',
    '^1.2.3-rc',
    '-1',
    '1 ',
    '9'.repeat(17),
  ])('%j is none', (text) => expect(isRange(text)).toBe(false));

  const versions = published(
    '0.0.3',
    '0.0.4',
    '0.2.3',
    '0.2.9',
    '0.3.0',
    '1.0.0',
    '1.2.0',
    '1.2.3',
    '1.2.10',
    '1.4.1',
    '1.4.2-rc.1',
    '1.10.0',
    '2.0.0-rc.1',
    '3.0.0',
    'main',
  );
  test.each([
    ['0', '0.3.0'],
    ['1', '1.10.0'],
    ['1.2', '1.2.10'],
    ['1.3', null],
    ['2', null],
    ['4', null],
    ['^1', '1.10.0'],
    ['^1.2', '1.10.0'],
    ['^1.11', null],
    ['^1.2.4', '1.10.0'],
    ['^0', '0.3.0'],
    ['^0.2', '0.2.9'],
    ['^0.2.4', '0.2.9'],
    ['^0.0', '0.0.4'],
    ['^0.0.3', '0.0.3'],
    ['^0.0.5', null],
    ['~1', '1.10.0'],
    ['~1.2', '1.2.10'],
    ['~1.2.4', '1.2.10'],
    ['~1.2.11', null],
    ['~0.2', '0.2.9'],
    ['^3.0.0', '3.0.0'],
    ['main', null],
    ['1.4.1', null],
  ])('%s is %s', (range, label) => {
    expect(highestInRange(range, versions)?.label ?? null).toBe(label);
  });

  test('take in nothing that precedes them, and the highest of what they take in', () => {
    const some = fc.uniqueArray(fc.stringMatching(/^[0-3]\.[0-3]\.[0-3](?:-rc)?$/), { maxLength: 20 });
    const few = fc
      .tuple(fc.constantFrom('', '^', '~'), fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }))
      .map(([sign, parts]) => sign + parts.slice(0, sign === '' ? 2 : 3).join('.'));
    fc.assert(
      fc.property(fc.oneof(few, ranges), some, (range, texts) => {
        const found = highestInRange(range, published(...texts))?.label ?? null;
        expect(found).toBe(expectedOf(range, texts));
      }),
      { numRuns: 300 * timesAsMany },
    );
  });

  /** The same by enumeration: the lower bound and the first version that is too high, as node-semver documents them. */
  function expectedOf(range: string, texts: readonly string[]): string | null {
    const [, sign, digits] = /^([~^]?)(.*)$/.exec(range)!;
    const parts = digits!.split('.').map(Number);
    const [major, minor, patch] = [parts[0]!, parts[1], parts[2]];
    const floor = `${major}.${minor ?? 0}.${patch ?? 0}`;
    let ceiling = `${major + 1}.0.0`;
    if (minor !== undefined && (sign !== '^' || major === 0)) ceiling = `${major}.${minor + 1}.0`;
    if (sign === '^' && major === 0 && minor === 0 && patch !== undefined) ceiling = `0.0.${patch + 1}`;
    const inside = texts.filter(
      (text) => !text.includes('-') && compare(text, floor) >= 0 && compare(text, ceiling) < 0,
    );
    return inside.sort(compare).at(-1) ?? null;
  }
});

describe('the next label', () => {
  test.each([
    [[], '1.0.0'],
    [['main'], '1.0.0'],
    [['1.0.0'], '1.0.1'],
    [['1.0.9', '1.0.10'], '1.0.11'],
    [['2.0.0', '1.5.0'], '2.0.1'],
    [['1.0.0', '2.0.0-rc.1'], '2.0.0'],
    [['v3.1.4+7'], '3.1.5'],
    [['0.0.99999999999999999999'], '0.0.100000000000000000000'],
  ])('after %j is %s', (texts, label) => {
    expect(nextLabel(published(...texts))).toBe(label);
  });

  test('after dotted numbers is the next number', () => {
    const next = (...texts: string[]) => nextLabel(published(...texts), readerOf(texts.map((label) => ({ label }))));
    expect(next('2.1.0', '2.2')).toBe('2.3');
    expect(next('2025.02.04', '2025.10.09')).toBe('2025.10.10');
    expect(next('2.1', '2.2-beta')).toBe('2.2');
    expect(next('v3')).toBe('4');
  });

  test('is new, and higher than all', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[0-3]\.[0-3]\.[0-9](?:-[a-c])?$/), { minLength: 1 }), (texts) => {
        for (const text of texts) expect(compare(nextLabel(published(...texts)), text)).toBe(1);
      }),
    );
  });
});

describe('the place of a label', () => {
  const lists = fc.array(
    fc.oneof(
      fc.record({ what: fc.constant('add' as const) }),
      fc.record({ what: fc.constant('insert' as const), at: fc.nat() }),
      fc.record({ what: fc.constant('replace' as const), at: fc.nat() }),
      fc.record({ what: fc.constant('foresee' as const) }),
      fc.record({ what: fc.constant('again' as const), at: fc.nat() }),
    ),
    { minLength: 100, maxLength: 200 },
  );

  test('is that of a search through all, whatever was done to the list before', () => {
    fc.assert(
      fc.property(lists, (steps) => {
        const all: { label: string }[][] = [Array.from({ length: 200 }, (_, n) => ({ label: `v1.${n}` }))];
        for (const [n, step] of steps.entries()) {
          const list = all.at(-1)!;
          const added = { label: `V2.${n}` };
          let now: { label: string }[] = list;
          if (step.what === 'add') now = [...list, added];
          if (step.what === 'insert') now = list.toSpliced(step.at % list.length, 0, added);
          if (step.what === 'replace') now = list.with(step.at % list.length, { ...list[step.at % list.length]! });
          if (step.what === 'again') now = all[step.at % all.length]!;
          const asked = step.what === 'foresee' ? [...list, added] : now;
          for (const label of [`v1.${n}`, `v2.${n}`, `V2.${n - 1}`, `v2.${n >> 1}`, 'v3'])
            expect(placeOfLabel(asked, label)).toBe(
              asked.findIndex((each) => each.label.toLowerCase() === label.toLowerCase()),
            );
          if (step.what !== 'again') all.push(now);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('of a new label in a long list is found without a look at each', () => {
    let looks = 0;
    const item = (label: string) => ({
      get label() {
        looks++;
        return label;
      },
    });
    let list = Array.from({ length: 5000 }, (_, n) => item(`1.${n}.0`));
    expect(placeOfLabel(list, '2.0.0')).toBe(-1);
    for (let n = 0; n < 20; n++) {
      list = [...list, item(`2.${n}.0`)];
      looks = 0;
      expect(placeOfLabel(list, `3.${n}.0`)).toBe(-1);
      expect(placeOfLabel(list, '1.7.0')).toBe(7);
      expect(looks).toBeLessThan(500);
    }
  });
});
