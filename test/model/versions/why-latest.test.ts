import { expect, test } from 'vitest';
import { chooseLatest, type Resource, type Version } from '../../../src/model/resource.ts';
import { whyLatest } from '../../../src/model/latest.ts';

function version(label: string, more: Partial<Version> = {}): Version {
  const bytes = { manifest: 'sha256:0', content: 'sha256:0' } as const;
  return { label, ...bytes, publishedAt: '2025-01-01T00:00:00Z', status: { state: 'active' }, ...more };
}

function resource(versions: Version[], pinned: string | null = null): Resource {
  const given = { latest: pinned, latestPinned: pinned !== null, versions } as Resource;
  return { ...given, latest: chooseLatest(given) };
}

const never = { neverLatest: true } as const;

test.each([
  ['nothing', resource([]), null],
  ['a pin', resource([version('1.0.0'), version('2.0.0')], '1.0.0'), 'Latest is 1.0.0 because somebody pinned it.'],
  ['releases', resource([version('2.0.0'), version('1.0.0')]), 'Latest is 2.0.0, the highest release.'],
  [
    'pre-releases',
    resource([version('1.0.0-rc.1')]),
    'Latest is 1.0.0-rc.1, the highest pre-release, since there is no release.',
  ],
  [
    'other labels',
    resource([version('dev'), version('dev2')]),
    'Latest is dev2, the newest: no label is a semantic version.',
  ],
  [
    'a higher version that was held back',
    resource([version('1.0.0'), version('2.0.0', never)]),
    'Latest is 1.0.0, the highest release. 2.0.0 is higher, but was published so that it does not become latest.',
  ],
  [
    'semantic versions that were held back',
    resource([version('dev'), version('2.0.0', never)]),
    'Latest is dev, the newest. 2.0.0 was published so that it does not become latest.',
  ],
  ['numbers', resource([version('2025.10.01'), version('2025.02.04')]), 'Latest is 2025.10.01, the highest release.'],
] as const)('says why latest is what it is: %s', (_name, given, sentence) => {
  expect(whyLatest(given)).toBe(sentence);
});
