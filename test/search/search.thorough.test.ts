import { describe, expect, test } from 'vitest';
import { anonymous } from '../../src/model/access.ts';
import { createSearchWorld, put, patientSearch, found } from './search-world.ts';

describe('the index', () => {
  test('takes in one change of a thousand resources without reading the others', async () => {
    const world = createSearchWorld();
    const { registry } = world;
    const calls = { outline: 0, read: 0 };
    const { outline } = registry.compiler;
    registry.compiler.outline = (...given) => (calls.outline++, outline(...given));
    for (let i = 0; i < 1000; i++) {
      await put(registry, `@acme/apis/api-${i}`, { operations: [['GET', `/things/${i}`, `getThing${i}`]] });
    }
    const other = world.another();
    const { get } = other.bucket;
    const counted = { ...other, bucket: other.bucket };
    const search = patientSearch(counted);
    await search.all(anonymous);
    expect(calls.outline).toBe(1000);
    expect(await found(search, 'getThing777')).toEqual(['@acme/apis/api-777: GET /things/777']);
    await put(registry, '@acme/apis/api-777', { operations: [['GET', '/other', 'getOther']] }, { version: '2.0.0' });
    world.pass(1000);
    other.bucket.get = (key) => (calls.read++, get(key));
    expect(await found(search, 'getOther')).toEqual(['@acme/apis/api-777: GET /other']);
    other.bucket.get = get;
    expect(await found(search, 'thing777')).toEqual([]);
    expect(calls.outline).toBe(1001);
    expect(calls.read).toBeLessThan(10);
  });
});
