import { expect, test } from 'vitest';
import { readAudit } from '../../src/registry/audit.ts';
import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import { createKey, revokeKey } from '../../src/registry/keys/keys.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createWorld } from './world.ts';

const author = { actor: 'operator:test', origin: null };

test('the first audit after a start reads the changes of the organization alone', async () => {
  const { registry } = createWorld();
  const makeKey = async (org: string) => (await createKey(registry, { org, name: 'ci', scopes: ['read'] }, author)).key;
  const own = [await makeKey('acme'), await makeKey('acme')];
  for (let n = 0; n < 40; n++) await revokeKey(registry, 'other', (await makeKey('other')).id, author);
  for (const { id } of own) await revokeKey(registry, 'acme', id, author);

  let reads = 0;
  const { bucket, now, monotonic } = registry;
  const counting = { ...bucket, get: (key: string) => (reads++, bucket.get(key)) };
  let writes = 0;
  const refs = createRefs(counting, { now, monotonic, uniqueId: () => `write-${writes++}` });
  await refs.projected(null, { create: () => null, change: () => undefined });
  const started = { ...registry, refs, answers: createAnswerCache(refs) };
  reads = 0;
  const audit = await Array.fromAsync(readAudit(started, 'acme'));
  expect(audit.map(({ entry, position }) => [entry.action, entry.subject.id, position.keys])).toEqual([
    ['revoke key', own[1]!.id, 3],
    ['revoke key', own[0]!.id, 2],
    ['create key', own[1]!.id, 1],
    ['create key', own[0]!.id, 0],
  ]);
  expect(reads).toBeLessThan(10);
  reads = 0;
  expect(await Array.fromAsync(readAudit(started, 'acme'))).toEqual(audit);
  expect(reads).toBe(0);
});
