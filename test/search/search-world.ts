import { expect } from 'vitest';
import { anonymous, type Principal, type Visibility } from '../../src/model/access.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { digestOf } from '../../src/model/digest.ts';
import { type Outline } from '../../src/model/outline.ts';
import { publish } from '../../src/registry/publish.ts';
import { type Registry } from '../../src/registry/registry.ts';
import { createSearch, type Search } from '../../src/search/search.ts';
import { createWorld, snapshotOf, type World } from '../registry/world.ts';

/** A document whose outline is written in it. */
export interface Given {
  title?: string;
  description?: string;
  operations?: [method: string, path: string, id?: string, summary?: string, tags?: string[]][];
  schemas?: Record<string, string[]>;
  rules?: string[];
}

export function outlineOf({ title = '', description = '', operations = [], schemas = {}, rules = [] }: Given): Outline {
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

export function createSearchWorld(): World {
  const world = createWorld({ organizations: { acme: {}, other: {} } });
  world.compiler.outline = async ({ json }) =>
    outlineOf((JSON.parse(Buffer.from(json).toString()) as { given: Given }).given);
  return world;
}

export async function put(
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
export const patientSearch = (registry: Registry) => createSearch(registry, { patience: 60_000 });

/** What a search finds, as coordinates with the parts that fit: `@acme/apis/pay: GET /pets, Pet`. */
export async function found(
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
