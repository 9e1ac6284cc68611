import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import {
  chooseLatest,
  chooseLatestWith,
  findVersion,
  nameOf,
  neighbours,
  resourceRef,
  selectVersion,
  type Resource,
  type Status,
  type Version,
} from '../../src/model/resource.ts';

const since = '2026-01-01T00:00:00.000Z';
const statuses: Record<'active' | 'deprecated' | 'yanked' | 'withdrawn', Status> = {
  active: { state: 'active' },
  deprecated: { state: 'deprecated', reason: 'old', since },
  yanked: { state: 'yanked', reason: 'wrong', since },
  withdrawn: { state: 'withdrawn', reason: 'secret', since },
};

/** A version; its status after a space: `1.0.0 yanked`. */
function versionOf(text: string): Version {
  const [label, state] = text.split(' ') as [string, keyof typeof statuses | undefined];
  return {
    label,
    manifest: digestOf(`manifest ${label}`),
    content: digestOf(`content ${label}`),
    publishedAt: since,
    status: statuses[state ?? 'active'],
  };
}

function resourceOf(texts: readonly string[], changes: Partial<Resource> = {}): Resource {
  return {
    org: 'acme',
    type: 'apis',
    slug: 'payments',
    name: 'Payments',
    description: '',
    visibility: 'public',
    ruleset: null,
    connection: null,
    latest: null,
    latestPinned: false,
    validation: null,
    versions: texts.map(versionOf),
    createdAt: since,
    deletedAt: null,
    ...changes,
  };
}

describe('latest', () => {
  test.each([
    [['1.0.0', '1.1.0'], '1.1.0'],
    [['1.0.0', '1.1.0 deprecated'], '1.1.0'],
    [['1.0.0', '1.1.0 yanked'], '1.0.0'],
    [['1.0.0', '1.1.0 withdrawn'], '1.0.0'],
    [['1.0.0 yanked', '2.0.0-rc.1'], '2.0.0-rc.1'],
    [['1.0.0 yanked', '1.1.0 withdrawn'], null],
    [[], null],
  ])('of %j is %s', (texts, label) => {
    expect(chooseLatest(resourceOf(texts))).toBe(label);
  });

  test('stays where it was pinned, unless that is no longer offered', () => {
    const pinned = { latest: '1.0.0', latestPinned: true };
    expect(chooseLatest(resourceOf(['1.0.0', '2.0.0'], pinned))).toBe('1.0.0');
    expect(chooseLatest(resourceOf(['1.0.0 deprecated', '2.0.0'], pinned))).toBe('1.0.0');
    expect(chooseLatest(resourceOf(['1.0.0 yanked', '2.0.0'], pinned))).toBe('2.0.0');
    expect(chooseLatest(resourceOf(['1.0.0', '2.0.0'], { latest: '1.0.0' }))).toBe('2.0.0');
    expect(chooseLatest(resourceOf(['2.0.0'], { latest: '9.9.9', latestPinned: true }))).toBe('2.0.0');
  });

  test('is never a version that asked not to be', () => {
    const resource = resourceOf(['1.0.0', '2.0.0']);
    resource.versions[1]!.neverLatest = true;
    expect(chooseLatest(resource)).toBe('1.0.0');
    expect(chooseLatest({ ...resource, latest: '2.0.0', latestPinned: true })).toBe('2.0.0');
  });

  test('with one more version is what all versions together give', () => {
    const label = fc.stringMatching(/^(?:v?[0-3]\.[0-3]\.[0-3](?:-[ab])?(?:\+[xy])?|[a-c])$/);
    const text = fc
      .tuple(label, fc.constantFrom('active', 'active', 'deprecated', 'yanked', 'withdrawn'), fc.boolean())
      .map(([name, state, neverLatest]) => ({ ...versionOf(`${name} ${state}`), ...(neverLatest && { neverLatest }) }));
    const selector = (version: Version) => version.label;
    const versions = fc.uniqueArray(text, { selector, minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(versions, fc.nat(), (all, pinned) => {
        const added = all.at(-1)!;
        const given = resourceOf([], { versions: all.slice(0, -1) });
        const pin = given.versions[pinned % (all.length * 2)];
        const before = { ...given, latestPinned: pin !== undefined, latest: pin?.label ?? chooseLatest(given) };
        expect(chooseLatestWith(before, added)).toBe(chooseLatest({ ...before, versions: all }));
      }),
    );
  });

  test('does not move back when a lower version is published', () => {
    const texts = fc.uniqueArray(fc.stringMatching(/^[0-9]\.[0-9]\.[0-9]$/), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(texts, fc.stringMatching(/^0\.0\.0-[a-z]{1,5}$/), (labels, lower) => {
        expect(chooseLatest(resourceOf([...labels, lower]))).toBe(chooseLatest(resourceOf(labels)));
      }),
    );
  });
});

describe('a selector', () => {
  const resource = resourceOf(['1.0.0', '1.2.0', '1.3.0 yanked', '2.0.0 withdrawn', '1', '1.4.0-rc.1', 'Main'], {
    latest: '1.2.0',
  });

  test.each([
    ['1.0.0', '1.0.0', true],
    ['1.3.0', '1.3.0', true],
    ['2.0.0', '2.0.0', true],
    ['1', '1', true],
    ['^1', '1.2.0', false],
    ['1.0', '1.0.0', false],
    ['~1.2', '1.2.0', false],
    ['1.3', null, false],
    ['2', null, false],
    ['^1.4', null, false],
    ['3.0.0', null, false],
    ['Main', 'Main', true],
    ['main', null, false],
    ['constructor', null, false],
  ])('%s means %s', (version, label, exact) => {
    const selected = selectVersion(resource, { kind: 'version', version });
    expect(selected && [selected.version.label, selected.exact]).toEqual(label === null ? null : [label, exact]);
  });

  test('latest is what the resource says, not what it could say', () => {
    expect(selectVersion(resource, { kind: 'latest' })?.version.label).toBe('1.2.0');
    expect(selectVersion(resourceOf(['1.0.0']), { kind: 'latest' })).toBeNull();
  });

  test('a digest is that of the manifest, in whatever state its version is', () => {
    for (const { label, manifest } of resource.versions) {
      expect(selectVersion(resource, { kind: 'digest', digest: manifest })?.version.label).toBe(label);
    }
    expect(selectVersion(resource, { kind: 'digest', digest: resource.versions[0]!.content })).toBeNull();
  });

  test('a label is found ignoring case, since it is unique so', () => {
    expect(findVersion(resource, 'mAIN')?.label).toBe('Main');
    expect(findVersion(resource, '1.0')).toBeNull();
  });
});

describe('neighbours', () => {
  test('are the versions published before and after that are still there', () => {
    const resource = resourceOf(['1.0.0', '3.0.0 withdrawn', '2.0.0 yanked', '1.5.0']);
    const around = resource.versions.map((version) => {
      const { predecessor, successor } = neighbours(resource, version);
      return [predecessor?.label ?? null, successor?.label ?? null];
    });
    expect(around).toEqual([
      [null, '2.0.0'],
      ['1.0.0', '2.0.0'],
      ['1.0.0', '1.5.0'],
      ['2.0.0', null],
    ]);
    expect(resource.versions.map(({ label }) => label)).toEqual(['1.0.0', '3.0.0', '2.0.0', '1.5.0']);
  });
});

test('a resource has a name for people and one for its ref', () => {
  expect(nameOf(resourceOf([]))).toBe('@acme/apis/payments');
  expect(resourceRef(resourceOf([]))).toBe('resources/acme/apis/payments');
});
