import { expect, test } from 'vitest';
import type { Repository } from '../../src/model/connection.ts';
import type { DetectedDocument } from '../../src/plan/find-documents.ts';
import { findTwins, type Twin } from '../../src/plan/find-twins.ts';
import { readIgnores } from '../../src/plan/ignore-file.ts';
import { findRelease, releasePattern } from '../../src/plan/release-tags.ts';
import { slugCandidates } from '../../src/plan/assign-slugs.ts';
import { policyOf } from '../../src/registry/gate/policy.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';

test('an organization may be called as a member of every object is', async () => {
  const { registry } = createWorld();
  const coordinate = { org: 'constructor', type: 'apis', slug: 'constructor' } as const;
  const resource = newResource(registry, coordinate, { name: 'constructor' });
  expect(resource.visibility).toBe('private');
  expect((await policyOf(registry, resource)).ruleset).toBeNull();
});

test('a slug repeats no word of the title', () => {
  const found = {
    path: 'orders/payments.yaml',
    title: 'Payments Orders',
    version: '1',
    type: 'apis',
  } as DetectedDocument;
  const candidates = slugCandidates(found, 'https://git.test/acme/shop.git', () => undefined);
  expect(candidates.take(2).toArray()).toEqual(['payments-orders', 'payments-orders-shop']);
});

test('of files with the same content, the one in fewer folders is published', () => {
  const twin = (path: string): Twin => ({ path, type: 'apis', title: 'Pay', version: '1', paths: ['/a'], shape: 'x' });
  const documents = ['a/b/pay.yaml', 'a-longer-folder/pay-api.yaml'].map(twin);
  const blobs = new Map(documents.map(({ path }) => [path, 'same']));
  expect([...findTwins(documents, blobs, () => false)]).toEqual([['a/b/pay.yaml', 'a-longer-folder/pay-api.yaml']]);
});

test('tags without a prefix are releases only if all tags are', () => {
  const pay = { slug: 'pay' };
  expect(releasePattern(['1.0.0', '1.1.0'], pay)).toBe('*');
  expect(releasePattern(['1.0.0', 'nightly'], pay)).toBeNull();
});

test('a label is found in a tag that writes it in another case', () => {
  const tags = ['v1.0.0-RC1', 'v1.0.0'].map((name) => ({ name }));
  expect(findRelease(tags, { slug: 'pay' }, '1.0.0-rc1')?.tag.name).toBe('v1.0.0-RC1');
});

test('what .steleignore leaves out says by which of its lines', async () => {
  const { registry } = createWorld();
  const snapshot = snapshotOf(null, null, { '.steleignore': '# old\nold/\n' });
  const repository = { org: 'acme', discover: '' } as Repository;
  const paths = ['a.yaml', 'old/b.yaml'];
  const { byFile, byDefault } = await readIgnores({ registry, repository, snapshot }, paths, true);
  expect([...byFile]).toEqual([['old/b.yaml', 'excluded by .steleignore:2']]);
  expect([...byDefault]).toEqual([['old/b.yaml', 'excluded by .steleignore:2']]);
});
