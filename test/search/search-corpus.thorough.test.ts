import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { checkConfig } from '../../src/config/load-config.ts';
import { digestOf } from '../../src/model/digest.ts';
import { operationName, type Outline } from '../../src/model/outline.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import { createSearchIndex } from '../../src/search/search-index.ts';
import { fold, parseQuery } from '../../src/search/ranking/words.js';
import { outlineDocument } from '../../src/render/render.ts';

const corpus = join(import.meta.dirname, '../../../shared/corpus/openapi');
const present = existsSync(corpus);
const skipped = present ? '' : ' (skipped: no corpus beside the project)';

/** Every document of the corpus that has an outline, by the name of its ref. */
function readOutlines(): Map<string, Outline> {
  const outlines = new Map<string, Outline>();
  const files = readdirSync(corpus, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:json|yaml|json\.gz)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !/\/(?:multi|traps)\//.test(path))
    // Parsing long YAML takes long, and is not what is tested.
    .filter((path) => !path.endsWith('.yaml') || statSync(path).size < 60_000);
  for (const [index, path] of files.sort().entries()) {
    const bytes = path.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path);
    const json = toJson(path, bytes);
    const outline = json === null ? null : outlineDocument({ kind: 'openapi', json });
    if (outline !== null && outline.operations.length > 0) outlines.set(`resources/acme/apis/d${index}`, outline);
  }
  return outlines;
}

function toJson(path: string, bytes: Buffer): Buffer | null {
  if (!path.endsWith('.yaml')) return bytes;
  try {
    return Buffer.from(
      JSON.stringify(parseDocument(bytes.toString(), { uniqueKeys: false }).toJS({ maxAliasCount: -1 })),
    );
  } catch {
    return null;
  }
}

describe.skipIf(!present)(`search in the corpus${skipped}`, () => {
  const index = createSearchIndex();
  let outlines: Map<string, Outline>;
  const names = new Map<string, Set<string>>();
  const registry = { config: checkConfig({}, { base: '/', data: '/' }), now: () => new Date(0) };

  beforeAll(() => {
    outlines = readOutlines();
    for (const [name, outline] of outlines) {
      const slug = name.split('/').at(-1)!;
      const resource = newResource(registry, { org: 'acme', type: 'apis', slug }, { name: outline.title || slug });
      index.set(name, resource, outline, digestOf(name));
      names.set(name, namesIn(outline));
    }
  });

  const find = (text: string) => {
    const [first] = index.find(parseQuery(text), () => true).found;
    return first && { name: `resources/acme/apis/${first.indexed.coordinate.slug}`, match: first.matches()[0]?.name };
  };

  /** Asks for a name out of each document. Missed is what was found in a document that has nothing of that name. */
  function probe(pick: (outline: Outline) => string | null | undefined): { missed: unknown[]; asked: number } {
    const missed: unknown[] = [];
    let asked = 0;
    for (const outline of outlines.values()) {
      const text = pick(outline);
      if (!text || text.length > 200 || parseQuery(text).words.length === 0) continue;
      asked++;
      const found = find(text);
      if (!found || !names.get(found.name)!.has(loosely(text))) missed.push({ text, found });
    }
    return { missed, asked };
  }

  test('there is something to search', () => {
    expect(outlines.size).toBeGreaterThan(100);
  });

  test.each<[string, (outline: Outline) => string | null | undefined]>([
    ['a path', ({ operations }) => operations[Math.floor(operations.length / 2)]!.path],
    ['an operation', ({ operations }) => operationName(operations.at(-1)!)],
    ['an operationId', ({ operations }) => operations[Math.floor(operations.length / 3)]!.id],
    ['a schema', ({ schemas }) => schemas[Math.floor(schemas.length / 2)]?.name],
    [
      'a property of a schema',
      ({ schemas }) => {
        const schema = schemas.findLast(({ properties }) => properties.length > 2);
        return schema && `${schema.name}.${schema.properties[2]}`;
      },
    ],
  ])('%s is found first', (_, pick) => {
    const { missed, asked } = probe(pick);
    expect(missed).toEqual([]);
    expect(asked).toBeGreaterThan(60);
  });

  test.each([
    ['repos/list-for-user', 'GET /users/{username}/repos'],
    ['/repos/{owner}/{repo}/issues', 'GET /repos/{owner}/{repo}/issues'],
    ['minimal-repository', 'minimal-repository'],
  ])('of the largest document, %s', (text, expected) => {
    expect(find(text)?.match).toBe(expected);
  });
});

/** Everything in a document that a search may mean exactly, folded. */
function namesIn({ operations, schemas, tags, title }: Outline): Set<string> {
  const names = [
    title,
    ...operations.flatMap((operation) => [operation.path, operation.id ?? '', operationName(operation)]),
    ...schemas.flatMap(({ name, properties }) => [name, ...properties, ...properties.map((one) => `${name}.${one}`)]),
    ...tags.map(({ name }) => name),
  ];
  return new Set(names.map(loosely));
}

/** A search does not tell `display_name` from `displayName`. */
function loosely(name: string): string {
  return fold(name).replaceAll('_', '');
}
