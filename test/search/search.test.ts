import { beforeAll, describe, expect, test } from 'vitest';
import { anonymous, type Principal } from '../../src/model/access.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import type { Outline } from '../../src/model/outline.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createSearch } from '../../src/search/search.ts';
import { type Given, outlineOf, createSearchWorld, put, patientSearch, found } from './search-world.ts';

async function change(registry: Registry, name: string, make: (resource: Resource) => Resource): Promise<void> {
  await registry.refs.update<Resource>(resourceRef(parseCoordinate(name)!.coordinate), (current) => ({
    value: make(current!.value),
    change: { actor: 'test', origin: null, action: 'change' },
  }));
}

const acme: Principal = { kind: 'key', id: 'k', org: 'acme', scopes: ['read'], resources: null };

const pets: Given = {
  title: 'Animals of the shop',
  description: 'Where vertebrates are sold.',
  operations: [
    ['GET', '/pets', 'listPets', 'All that bark', ['zoology']],
    ['GET', '/pets/{petId}', 'showPetById'],
    ['POST', '/orders', 'placeOrder'],
  ],
  schemas: { Pet: ['nickname', 'birthDate'], Order: ['nickname', 'total_amount'] },
};

describe('what is found', () => {
  const world = createSearchWorld();
  const { registry } = world;
  const search = patientSearch(registry);
  beforeAll(async () => {
    await put(registry, '@acme/apis/shop', pets);
    await put(registry, '@acme/schemas/colour', { schemas: { '': ['rgb'], Grün: [], 日本語: [] } });
    await put(registry, '@acme/rulesets/style', { rules: ['no-ambiguous-paths', 'info-contact'] });
    world.pass(1000);
  });

  test.for([
    ['@acme/apis/shop', '@acme/apis/shop'],
    ['shop', '@acme/apis/shop'],
    ['vertebrates', '@acme/apis/shop'],
    ['Animals', '@acme/apis/shop'],
    ['/pets', '@acme/apis/shop: GET /pets, GET /pets/{petId}, Pet'],
    ['GET /pets', '@acme/apis/shop: GET /pets, GET /pets/{petId}'],
    ['/pets/{petId}', '@acme/apis/shop: GET /pets/{petId}'],
    ['listPets', '@acme/apis/shop: GET /pets, GET /pets/{petId}'],
    ['LISTPETS', '@acme/apis/shop: GET /pets'],
    ['list pets', '@acme/apis/shop: GET /pets, GET /pets/{petId}'],
    ['showPet', '@acme/apis/shop: GET /pets/{petId}, GET /pets'],
    ['zoology', '@acme/apis/shop: GET /pets'],
    ['bark', '@acme/apis/shop: GET /pets'],
    ['Order', '@acme/apis/shop: Order, POST /orders'],
    ['birthDate', '@acme/apis/shop: Pet.birthDate'],
    ['birth', '@acme/apis/shop: Pet.birthDate'],
    ['total_amount', '@acme/apis/shop: Order.total_amount'],
    ['Pet.nickname', '@acme/apis/shop: Pet.nickname'],
    ['vertebrate', '@acme/apis/shop'],
    ['vertebratse', '@acme/apis/shop'],
    ['pubmit', null],
    ['POST /orders', '@acme/apis/shop: POST /orders'],
    ['place an order', '@acme/apis/shop: POST /orders'],
    ['create order', '@acme/apis/shop: POST /orders'],
    ['order of animals', '@acme/apis/shop: POST /orders, Order'],
    ['shop pet', '@acme/apis/shop: GET /pets, GET /pets/{petId}, Pet'],
    ['odrers', '@acme/apis/shop: POST /orders, Order'],
    ['vertebratas', '@acme/apis/shop'],
    ['Grün', '@acme/schemas/colour: Grün'],
    ['grun', '@acme/schemas/colour: Grün'],
    ['日本', '@acme/schemas/colour: 日本語'],
    ['no-ambiguous-paths', '@acme/rulesets/style: no-ambiguous-paths'],
    ['nothing-like-it', null],
    ['{}', null],
    ['constructor', null],
    ['__proto__ hasOwnProperty', null],
  ] as const)('%s', async ([text, expected]) => {
    const first = (await found(search, text))[0] ?? null;
    if (expected !== null && !expected.includes(':')) expect(first?.split(':')[0]).toBe(expected);
    else expect(first).toBe(expected);
  });

  test('everything, or everything of a type or an organization', async () => {
    expect(await found(search, '')).toEqual(['@acme/apis/shop', '@acme/rulesets/style', '@acme/schemas/colour']);
    expect(await found(search, ' ', anonymous, { type: 'apis' })).toEqual(['@acme/apis/shop']);
    expect(await found(search, '', anonymous, { org: 'other' })).toEqual([]);
    expect(await found(search, 'pets', anonymous, { type: 'schemas' })).toEqual([]);
  });

  test('a property of the schema document itself has no name before it', async () => {
    expect(await found(search, 'rgb')).toEqual(['@acme/schemas/colour: rgb']);
  });
});

test('what is meant exactly comes first', async () => {
  const world = createSearchWorld();
  const { registry } = world;
  await put(registry, '@acme/apis/a', { operations: [['GET', '/v1/charges/{id}/refunds', 'listRefunds', 'charges']] });
  await put(registry, '@acme/apis/b', { operations: [['GET', '/v1/charges']], description: 'charges charges' });
  await put(registry, '@acme/apis/charges');
  const search = patientSearch(registry);
  const names = async (text: string) => (await found(search, text)).map((line) => line.split(':')[0]);
  expect(await names('/v1/charges')).toEqual(['@acme/apis/b', '@acme/apis/a']);
  expect(await names('charges')).toEqual(['@acme/apis/charges', '@acme/apis/b', '@acme/apis/a']);
});

describe('what may not be read', () => {
  test('is not found, by nobody who may not read it', async () => {
    const { registry } = createSearchWorld();
    await put(registry, '@acme/apis/open', pets);
    await put(registry, '@acme/apis/secret', { ...pets, title: 'canary' }, { visibility: 'private' });
    await put(registry, '@other/apis/hidden', { ...pets, title: 'canary' }, { visibility: 'private' });
    const search = patientSearch(registry);
    const names = async (text: string, principal: Principal) =>
      (await found(search, text, principal)).map((line) => line.split(':')[0]);
    const narrow: Principal = { ...acme, resources: ['apis/o*'] };
    const user: Principal = {
      kind: 'user',
      id: 'u',
      organizations: { other: [{ scopes: ['read'], resources: null }] },
    };
    expect(await names('canary', anonymous)).toEqual([]);
    expect(await names('canary', narrow)).toEqual([]);
    expect(await names('canary', acme)).toEqual(['@acme/apis/secret']);
    expect(await names('canary', user)).toEqual(['@other/apis/hidden']);
    expect(await names('canary', { kind: 'operator', id: 'o' })).toEqual(['@acme/apis/secret', '@other/apis/hidden']);
    expect(await names('listPets', anonymous)).toEqual(['@acme/apis/open']);
    expect(await names('', narrow)).toEqual(['@acme/apis/open']);
    expect(await names('', user)).toEqual(['@acme/apis/open', '@other/apis/hidden']);
  });

  test('changes nothing of an answer: not the order, not whether words that are alike are taken', async () => {
    const answers = async (withSecrets: boolean) => {
      const { registry } = createSearchWorld();
      // By the usual measures a word is worth less the more documents have it: `alpha` would fall behind `omega`.
      await put(registry, '@acme/apis/b', {
        operations: [
          ['GET', '/alpha', 'alpha'],
          ['GET', '/gamma', 'both'],
        ],
      });
      await put(registry, '@acme/apis/a', {
        operations: [
          ['GET', '/omega', 'omega'],
          ['GET', '/gamma', 'both'],
        ],
      });
      if (withSecrets) {
        for (let i = 0; i < 30; i++) {
          await put(
            registry,
            `@other/apis/s${i}`,
            { title: 'alpha omegaa', description: 'alpha' },
            { visibility: 'private' },
          );
        }
      }
      const search = patientSearch(registry);
      const asked = [];
      for (const text of ['gamma', 'both', 'alpha', 'omegaa', 'omega', 'alpha omega', 'alpho', 's1', '']) {
        const choose = (all: readonly never[]) => ({ items: [...all], next: null });
        asked.push(await search.find(anonymous, { text, org: null, type: null }, choose as never));
      }
      return JSON.stringify(asked);
    };
    expect(await answers(true)).toBe(await answers(false));
  });

  test('is gone from the answers within a second, and back within one', async () => {
    const world = createSearchWorld();
    const { registry } = world;
    const other = world.another();
    other.compiler.outline = registry.compiler.outline;
    await put(registry, '@acme/apis/shop', pets);
    const search = patientSearch(other);
    expect(await found(search, 'listPets')).toHaveLength(1);
    for (const visibility of ['private', 'public'] as const) {
      await change(registry, '@acme/apis/shop', (resource) => ({ ...resource, visibility }));
      world.pass(500);
      await found(search, 'listPets');
      world.pass(500);
      expect(await found(search, 'listPets')).toHaveLength(visibility === 'public' ? 1 : 0);
    }
  });

  test('a version that was withdrawn is not found by what it said', async () => {
    const world = createSearchWorld();
    const { registry } = world;
    await put(registry, '@acme/apis/shop', { title: 'leaked' });
    const search = createSearch(registry, { patience: 50 });
    await search.all(anonymous);
    expect(await found(search, 'leaked')).toHaveLength(1);
    const outlines = Promise.withResolvers<Outline>();
    registry.compiler.outline = () => outlines.promise;
    await put(registry, '@acme/apis/shop', { title: 'mended' }, { version: '1.0.1' });
    await change(registry, '@acme/apis/shop', (resource) => ({
      ...resource,
      versions: resource.versions.map((version) =>
        version.label === '1.0.0' ? { ...version, status: { state: 'withdrawn', reason: '', since: '' } } : version,
      ),
    }));
    world.pass(1000);
    expect(await found(search, 'leaked')).toEqual([]);
    expect(await found(search, 'shop')).toHaveLength(1);
    outlines.resolve(outlineOf({ title: 'mended' }));
    await search.all(anonymous);
    expect(await found(search, 'mended')).toHaveLength(1);
  });
});

describe('the index', () => {
  test('of a registry that is not outlined yet answers with what is there, and says so', async () => {
    const { registry } = createSearchWorld();
    await put(registry, '@acme/apis/shop', pets);
    const outlines = Promise.withResolvers<Outline>();
    registry.compiler.outline = () => outlines.promise;
    const search = createSearch(registry, { patience: 50 });
    const choose = (all: readonly never[]) => ({ items: [...all], next: null });
    const ask = (text: string, principal: Principal) =>
      search.find(principal, { text, org: null, type: null }, choose as never);
    expect(await ask('shop', anonymous)).toMatchObject({ items: [{ own: expect.any(Number) }], complete: false });
    outlines.resolve(outlineOf(pets));
    await search.all(anonymous);
    expect(await ask('listPets', anonymous)).toMatchObject({ items: [{}], complete: true });
  });

  test('does not reveal that something unreadable is being outlined', async () => {
    const { registry } = createSearchWorld();
    await put(registry, '@acme/apis/secret', pets, { visibility: 'private' });
    registry.compiler.outline = () => new Promise(() => undefined);
    const search = createSearch(registry, { patience: 50 });
    const choose = (all: readonly never[]) => ({ items: [...all], next: null });
    const ask = (principal: Principal) =>
      search.find(principal, { text: 'secret', org: null, type: null }, choose as never);
    expect(await ask(anonymous)).toEqual({ items: [], next: null, complete: true, instead: null });
    expect(await ask(acme)).toMatchObject({ complete: false });
  });

  test('of a store that does not answer in time shows nothing that is not confirmed', async () => {
    const world = createSearchWorld();
    const { registry } = world;
    const other = world.another();
    other.compiler.outline = registry.compiler.outline;
    await put(registry, '@acme/apis/shop', pets);
    await put(registry, '@acme/apis/open', pets);
    const search = createSearch(other, { patience: 50 });
    await search.all(anonymous);
    expect(await found(search, 'listPets')).toHaveLength(2);
    await change(registry, '@acme/apis/shop', (resource) => ({ ...resource, visibility: 'private' }));
    world.pass(1000);
    const { newest } = other.refs;
    other.refs.newest = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) });
    expect((await found(search, 'listPets')).map((line) => line.split(':')[0])).toEqual(['@acme/apis/open']);
    other.refs.newest = newest;
  });

  test('shows what a document says of itself where nobody describes the resource', async () => {
    const world = createSearchWorld();
    const { registry } = world;
    await put(registry, '@acme/apis/shop', pets);
    const search = patientSearch(registry);
    expect((await search.all(anonymous)).entries).toMatchObject([{ description: 'Where vertebrates are sold.' }]);
    await change(registry, '@acme/apis/shop', (resource) => ({ ...resource, description: 'Ours.' }));
    world.pass(1000);
    expect((await search.all(anonymous)).entries).toMatchObject([{ description: 'Ours.' }]);
  });

  test('forgets what was deleted', async () => {
    const world = createSearchWorld();
    const { registry } = world;
    await put(registry, '@acme/apis/shop', pets);
    const search = patientSearch(registry);
    expect(await found(search, 'shop')).toHaveLength(1);
    await change(registry, '@acme/apis/shop', (resource) => ({ ...resource, deletedAt: '2026-01-01T00:00:00Z' }));
    world.pass(1000);
    expect(await found(search, 'shop')).toEqual([]);
    expect(await found(search, '')).toEqual([]);
  });

  test('holds what cannot be outlined by its name', async () => {
    const { registry } = createSearchWorld();
    await put(registry, '@acme/apis/shop', pets);
    await put(registry, '@acme/apis/shed', pets);
    registry.compiler.outline = async () => {
      throw new Error('It broke.');
    };
    const search = patientSearch(registry);
    await search.all(anonymous);
    expect(await found(search, 'shop')).toEqual(['@acme/apis/shop']);
    expect(await found(search, 'listPets')).toEqual([]);
  });
});

test('hostile words are words', async () => {
  const { registry } = createSearchWorld();
  const words = Array.from({ length: 30_000 }, (_, i) => `w${i.toString(36)}`);
  const hostile: Given = {
    title: '\t\n\r',
    operations: [['constructor', '__proto__', 'tab\there', 'line\nbreak']],
    schemas: { 'a\tb\nc': ['x\ty', 'valueOf'], toString: words },
  };
  await put(registry, '@acme/apis/hostile', hostile);
  const search = patientSearch(registry);
  expect(await found(search, 'constructor')).toEqual(['@acme/apis/hostile: constructor __proto__']);
  expect(await found(search, 'line break')).toEqual(['@acme/apis/hostile: constructor __proto__']);
  expect((await found(search, 'valueOf'))[0]).toBe('@acme/apis/hostile: a b c.valueOf');
  expect(await found(search, words[0]!)).toHaveLength(1);
  expect(await found(search, words.at(-1)!)).toHaveLength(1);
});
