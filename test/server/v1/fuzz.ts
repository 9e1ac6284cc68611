import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { resourceTypes } from '../../../src/model/address.ts';
import { connectRecord } from '../../../src/sync/connect.ts';
import type { Sandboxes } from '../../../src/compile/sandboxes.ts';
import { createKey } from '../../../src/registry/keys/keys.ts';
import type { DescribedOperation, DescribedSchema } from '../../../src/server/v1/api-description.ts';
import { badNames, badValues } from '../../bad-values.ts';
import { createTestRegistry, publishVersion } from '../registry.ts';
import { documentOf, openApi, unlimited } from './api.ts';
import { description } from './described.ts';
import { createTestRepository } from './repository.ts';

/** What a run of drawn requests came to. */
export interface Fuzzed {
  /** How many answers had each status. */
  statuses: Record<string, number>;
  /** Answers that the description does not allow, each with its request. */
  breaches: string[];
}

interface Drawn {
  operation: DescribedOperation;
  method: string;
  target: string;
  credential: string;
  headers: Record<string, string>;
  raw: string | null;
  gzip: boolean;
}

const author = { actor: 'operator:test', origin: null };
const repository = 'https://github.com/acme/contracts';
const slugs = Array.from({ length: 24 }, (_, n) => `s${n}`);
const labels = ['1.0.0', '1.0.1', '1.1.0', '2.0.0', '2.0.0-rc.1', 'nightly'];
const coordinates = slugs.slice(0, 9).flatMap((slug) => [`@acme/rulesets/${slug}`, `@acme/apis/${slug}@1`]);
const times = [
  '2999-01-01T00:00:00Z',
  '2998-01-01T00:00:00+01:00',
  '2997-01-01T00:00:00Z',
  '2020-01-01T00:00:00Z',
  '2026-02-31T00:00:00Z',
  '2030-06-30T23:59:60Z',
  '9999-12-31T23:59:59-14:00',
];

/** Values that fit, or nearly, by the name of the member or parameter that they are for. */
const fitting: Record<string, readonly unknown[]> = {
  name: ['Payments', 'x', '名前', 'Pay', 'Ledger', '😀', ' '],
  slug: slugs,
  api: slugs,
  schema: slugs,
  ruleset: slugs,
  description: ['', 'Charges.', 'x\ny'],
  visibility: ['public', 'private'],
  validation: ['strict', 'lenient', null],
  document: [
    ...labels.map((label) => documentOf(label)),
    { refuse: 'No.' },
    { refuse: 'Never.' },
    { openapi: '3.1.0' },
    documentOf(null, 'Two'),
  ],
  version: ['1.0.0', '1.0.0', '1.0.0', '1.0.0', ...labels],
  latest: [null, ...labels],
  dryRun: [true, false],
  onConflict: ['revise', 'reject'],
  repository: [
    repository,
    repository,
    repository,
    repository,
    '/srv/x',
    'http://localhost/x',
    'git@github.com:a/b.git',
  ],
  branch: [null, null, null, 'main', '-x'],
  tags: [null, null, 'v*'],
  path: ['a.json', 'b.json', 'a.json', '../x'],
  credential: [null, null, null, 'none'],
  scopes: [['read'], ['publish', 'admin'], ['admin'], []],
  resources: [null, ['apis/*'], ['*/s1']],
  expiresAt: [null, ...times],
  reason: ['broken', 'old'],
  state: ['active', 'deprecated', 'yanked', 'withdrawn'],
  replacement: [...labels, ...coordinates],
  sunset: times,
  token: ['aaaaaaaaaa.bbbbbbbbbb.cccccccccc', 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL3gifQ.'],
  limit: ['1', '2', '3', '7', '50', '100', '0', '101', 'x'],
  cursor: ['W10', 'WyJsaXN0QXBpcyIsInMxIl0', '%'],
  q: ['s', 'S1', ''],
  wait: ['0', '1', '-1'],
  resource: ['apis/s1', '@acme/apis/s2', 'x'],
  actor: ['key:x', 'operator:test'],
  since: times,
  until: times,
  run: ['0mgx1c2k3v5h0q8t2n4r', 'x'],
  key: ['000000000000', 'x'],
  webhook: ['0mgx1c2k3v5h0q8t2n4r', 'x'],
  event: ['0mgx1c2k3'.padEnd(31, '0'), 'x'],
  url: ['https://hooks.example.com/', 'https://10.0.0.1/', 'http://example.com/', 'x'],
  events: [null, ['version.published'], ['sync.failed', 'latest.moved'], ['x']],
};

const garbage = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom<unknown>(null, 0, -1, 1e308, '', '\u0000', 'x'.repeat(20_000), [], {}, true),
  // Lists with nothing in them, and what is a text elsewhere.
  fc.constantFrom<unknown>([''], ['a', ''], [null], [[]], [' '], ...badNames, ...Object.values(badValues)),
);

/** Once in `odds` something, else null. */
function rarely<T>(odds: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: odds - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

function sometimes(odds: number, ...values: string[]): fc.Arbitrary<string | null> {
  return rarely(odds, fc.constantFrom(...values));
}

function valueFor(name: string): fc.Arbitrary<unknown> {
  const fits = fitting[name];
  return fits
    ? fc.oneof({ weight: 24, arbitrary: fc.constantFrom(...fits) }, { weight: 1, arbitrary: garbage })
    : garbage;
}

function resolve(schema: DescribedSchema): DescribedSchema {
  const { $ref } = schema as { $ref?: string };
  if ($ref === undefined) return schema;
  const keys = $ref
    .slice(2)
    .split('/')
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/'));
  return resolve(
    keys.reduce<unknown>((node, key) => (node as DescribedSchema)[key], description.document) as DescribedSchema,
  );
}

/** Objects like the schema's: most members that it knows, now and then one that it does not. */
function objectFor(schema: DescribedSchema): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = resolve(schema) as {
    properties?: Record<string, DescribedSchema>;
    required?: string[];
  };
  const members = Object.entries(properties).map(([name, member]) => {
    const { oneOf } = resolve(member) as { oneOf?: DescribedSchema[] };
    const isObject = name === 'status' && oneOf;
    const fits = resolve(member)['type'] === 'boolean' ? fc.boolean() : valueFor(name);
    const value = isObject ? fc.constantFrom(...oneOf).chain(objectFor) : fits;
    const share = required.includes(name) ? 20 : 8;
    return fc.tuple(fc.constant(name), fc.integer({ min: 0, max: 19 }), value).map((drawn) => ({ drawn, share }));
  });
  return fc
    .tuple(fc.tuple(...members), rarely(20, fc.tuple(fc.constantFrom('extra', '__proto__', 'constructor'), garbage)))
    .map(([all, extra]) => {
      const kept = all.flatMap(({ drawn: [name, luck, value], share }) =>
        luck < share ? [[name, value] as const] : [],
      );
      return Object.fromEntries(extra ? [...kept, extra] : kept);
    });
}

function bodyOf(operation: DescribedOperation): fc.Arbitrary<string | null> {
  if (operation.body === null) return rarely(5, fc.constant('{}'));
  if (operation.body.isBytes) return rarely(5, fc.string({ maxLength: 30 }));
  const like = objectFor({ $ref: `#${operation.body.pointer}` }).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 16, arbitrary: like },
    { weight: 1, arbitrary: garbage.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: like.map((text) => text.slice(0, -1)) },
    { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function targetOf({ path, parameters }: DescribedOperation): fc.Arbitrary<string> {
  const inPath = path.split('/').map((segment) => {
    if (!segment.startsWith('{')) return fc.constant(segment);
    return valueFor(segment.slice(1, -1)).map(
      (value) => encodeURIComponent(textOf(value).toWellFormed()).slice(0, 3000) || '-',
    );
  });
  const queries = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) =>
      rarely(
        name === 'cursor' ? 10 : 3,
        valueFor(name).map((value) => `${name}=${encodeURIComponent(textOf(value).toWellFormed().slice(0, 500))}`),
      ),
    );
  const extra = sometimes(20, 'x=1', '%ff=%', 'limit=1');
  return fc.tuple(fc.tuple(...inPath), fc.tuple(...queries, extra)).map(([segments, query]) => {
    const given = query.filter((each) => each !== null);
    return segments.join('/') + (given.length > 0 ? `?${given.join('&')}` : '');
  });
}

const headers = fc.record({
  'if-match': sometimes(2, '"1"', '"2"', '*', 'W/"1"', 'x', '"'),
  'if-none-match': sometimes(2, '"1"', '"1.1"', '*', 'x'),
  'idempotency-key': sometimes(4, ...Array.from({ length: 40 }, (_, n) => `key-${n}`), ' ', 'é'),
  'content-type': sometimes(
    25,
    'text/plain',
    'application/json;charset=latin1',
    'application/json; charset=utf-8',
    'x',
  ),
  'content-encoding': sometimes(40, 'gzip', 'br', 'x', 'identity'),
  accept: sometimes(20, 'text/html', 'application/xml', 'x'),
});

const request: fc.Arbitrary<Drawn> = fc
  .constantFrom(
    ...description.operations.flatMap((operation) =>
      Array<DescribedOperation>(/^(?:delete|unfollow)/.test(operation.id) ? 1 : 20).fill(operation),
    ),
  )
  .chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      method: fc.oneof(
        { weight: 19, arbitrary: fc.constant(operation.method.toUpperCase()) },
        { weight: 1, arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'PATCH') },
      ),
      target: targetOf(operation),
      credential: fc.oneof(
        { weight: 9, arbitrary: fc.constant('admin') },
        { weight: 4, arbitrary: fc.constantFrom('publish', 'read', 'narrow', 'other', 'none', 'wrong') },
      ),
      headers: headers.map((all) =>
        Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)),
      ),
      raw: bodyOf(operation),
      gzip: fc.integer({ min: 0, max: 9 }).map((luck) => luck === 0),
    }),
  );

/**
 * Sends `count` requests that are drawn from the description, eight at a time, and holds every answer against it. Documents are compiled by
 * `compiler`; by the test registry's own, when none is given.
 */
export async function fuzz(count: number, seed: number, compiler: Sandboxes | null = null): Promise<Fuzzed> {
  const source = createTestRepository(repository);
  source.commit({ 'a.json': documentOf('1.0.0'), 'b.json': documentOf('7.0.0') });
  const registry = { ...createTestRegistry({ ...unlimited, limits: { fileBytes: 10_000 } }), source: source.source };
  await using api = await openApi(registry);
  const make = async (given: object) =>
    (
      await createKey(
        registry,
        { org: 'acme', name: 'x', scopes: ['admin'], ...given },
        { actor: 'operator:test', origin: null },
      )
    ).text;
  const keys: Record<string, string | null> = {
    admin: api.admin,
    publish: await make({ scopes: ['publish'] }),
    read: await make({ scopes: ['read'] }),
    narrow: await make({ resources: ['*/s1*'] }),
    other: await make({ org: 'other' }),
    none: null,
    wrong: 'stele_wrong',
  };
  for (const slug of slugs.slice(0, 21)) {
    for (const type of resourceTypes) {
      await publishVersion(registry, `@acme/${type}/${slug}`, '1.0.0');
      const connection = {
        repository,
        branch: null,
        path: 'a.json',
        tags: null,
        onConflict: 'revise',
        credential: null,
      } as const;
      if (slug < 's2') await connectRecord(registry, { org: 'acme', type, slug }, connection, author);
    }
  }
  registry.compiler = compiler ?? registry.compiler;
  const result: Fuzzed = { statuses: {}, breaches: [] };
  const drawn = fc.sample(request, { numRuns: count, seed });

  async function send({ method, target, credential, headers: fields, raw, gzip }: Drawn): Promise<void> {
    const bodiless = method === 'GET' || method === 'HEAD' || raw === null;
    const body = bodiless ? undefined : gzip ? new Uint8Array(gzipSync(raw)) : raw;
    const coding: Record<string, string> = body !== undefined && gzip ? { 'content-encoding': 'gzip' } : {};
    const ask = {
      key: keys[credential] ?? null,
      headers: { ...fields, ...coding },
      ...(body !== undefined && { raw: body }),
    };
    try {
      const { status } = await api.call(method, target, ask);
      result.statuses[status] = (result.statuses[status] ?? 0) + 1;
    } catch (error) {
      const told = error instanceof Error ? error.message : String(error);
      result.breaches.push(`${told}\n${JSON.stringify({ method, target, credential, fields, raw })}`);
    }
  }

  async function work(): Promise<void> {
    for (let next = drawn.pop(); next !== undefined; next = drawn.pop()) await send(next);
  }
  await Promise.all(Array.from({ length: 8 }, work));
  return result;
}
