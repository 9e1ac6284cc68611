import { describe, expect, test } from 'vitest';
import { anonymous, type Principal } from '../../src/model/access.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { digestOf } from '../../src/model/digest.ts';
import type { Outline } from '../../src/model/outline.ts';
import type { Visibility } from '../../src/model/access.ts';
import { publish } from '../../src/registry/publish.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createSearch, type Search } from '../../src/search/search.ts';
import { createWorld, snapshotOf, type World } from '../registry/world.ts';

/** A document whose outline is written in it. */
interface Given {
  title?: string;
  description?: string;
  operations?: [method: string, path: string, id?: string, summary?: string, tags?: string[]][];
  schemas?: Record<string, string[]>;
  rules?: string[];
}

function outlineOf({ title = '', description = '', operations = [], schemas = {}, rules = [] }: Given): Outline {
  const digest = digestOf('');
  return {
    title,
    description,
    operations: operations.map(([method, path, id = null, summary = '', tags = []]) => ({
      method,
      path,
      id,
      summary,
      tags,
      parameters: [],
      deprecated: false,
      digest,
    })),
    schemas: Object.entries(schemas).map(([name, properties]) => ({ name, properties, digest })),
    tags: [],
    rules: rules.map((name) => ({ name, severity: 'error', description: '', digest })),
    servers: [],
    truncated: false,
  };
}

function createSearchWorld(): World {
  const world = createWorld({ organizations: { acme: {}, other: {} } });
  world.compiler.outline = async ({ json }) =>
    outlineOf((JSON.parse(Buffer.from(json).toString()) as { given: Given }).given);
  return world;
}

async function put(
  registry: Registry,
  name: string,
  given: Given = {},
  { visibility = 'public', version = '1.0.0' }: { visibility?: Visibility; version?: string } = {},
): Promise<void> {
  const { coordinate } = parseCoordinate(name)!;
  const { outcome } = await publish(registry, {
    coordinate,
    snapshot: snapshotOf(null, null, { 'a.json': JSON.stringify({ openapi: '3.1.0', given }) }),
    entry: 'a.json',
    version,
    onConflict: 'reject',
    latest: true,
    dryRun: false,
    create: { name: coordinate.slug, visibility },
    author: { actor: 'test', origin: null },
  });
  expect(outcome).toBe('published');
}

/** Waits until it has everything, so that no test depends on how fast the machine is. */
const patientSearch = (registry: Registry) => createSearch(registry, { patience: 60_000 });

/** What a search finds, as coordinates with the parts that fit: `@acme/apis/pay: GET /pets, Pet`. */
async function found(
  search: Search,
  text: string,
  principal: Principal = anonymous,
  part: object = {},
): Promise<string[]> {
  const choose = (all: readonly never[]) => ({ items: [...all], next: null });
  const { items } = await search.find(principal, { text, org: null, type: null, ...part }, choose as never);
  return items.map(({ indexed: { coordinate }, matches }) => {
    const name = `@${coordinate.org}/${coordinate.type}/${coordinate.slug}`;
    return matches().length === 0
      ? name
      : `${name}: ${matches()
          .map((item) => item.name)
          .join(', ')}`;
  });
}

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
