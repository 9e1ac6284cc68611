import { sandboxLost } from '../../src/compile/compile.ts';
import { describe, expect, test } from 'vitest';
import { createUpload } from '../../src/source/upload.ts';
import { anonymous, type Principal } from '../../src/model/access.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { digestOf, hexOf } from '../../src/model/digest.ts';
import { impactGroups, impactText, type Impact } from '../../src/model/dependency.ts';
import { formatLock } from '../../src/model/lock.ts';
import { findResource } from '../../src/registry/lives.ts';
import { repositoryRef, type Repository } from '../../src/model/connection.ts';
import { follow } from '../../src/sync/follow.ts';
import { reportConsumer } from '../../src/registry/graph/dependants.ts';
import { impactOf } from '../../src/registry/graph/impact.ts';
import { publish } from '../../src/registry/publish.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld, snapshotOf } from './world.ts';

const author = { actor: 'operator:test', origin: null };
const site = 'https://registry.test';
const operator: Principal = { kind: 'operator', id: 'test' };

/** An amount that is required, or not. */
const money = (required: string[], defs = true) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Money',
  type: 'object',
  required,
  properties: { amount: { type: 'integer' }, currency: { type: 'string' } },
  ...(defs && { $defs: { code: { type: 'string' } } }),
});
const takes = (...references: string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1.0.0' },
  paths: {
    '/orders': {
      post: {
        requestBody: {
          content: {
            'application/json': {
              schema: { properties: Object.fromEntries(references.map(($ref, at) => [`p${at}`, { $ref }])) },
            },
          },
        },
        responses: { 200: { description: 'OK' } },
      },
    },
  },
});
const includes = ($ref: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Price',
  properties: { price: { $ref } },
});

function open() {
  const { registry: made } = createWorld({ url: site });
  const registry = { ...made, compiler: shareCompiler() };

  async function put(
    name: string,
    document: unknown,
    {
      dryRun = false,
      files = {} as Record<string, string>,
      visibility = 'public' as const as 'public' | 'private',
    } = {},
  ) {
    const { coordinate, selector } = parseCoordinate(name)!;
    const entry = 'document.json';
    const text = JSON.stringify(document);
    const isCommit = Object.keys(files).length > 0;
    const result = await publish(registry, {
      coordinate,
      snapshot: isCommit
        ? snapshotOf('github.com/b/orders', 'a'.repeat(40), { [entry]: text, ...files })
        : createUpload(entry, Buffer.from(text)),
      entry,
      version: selector.kind === 'version' ? selector.version : null,
      onConflict: 'revise',
      latest: true,
      dryRun,
      create: { visibility },
      author,
    });
    if (result.outcome !== 'published') throw new Error(JSON.stringify(result.report));
    return result;
  }

  /** What a next version of a resource would do, as lines. */
  async function impact(name: string, document: unknown, principal = operator): Promise<Impact> {
    const { resource, version, compiled } = await put(name, document, { dryRun: true });
    return impactOf(registry, principal, { resource, version, artifact: compiled.artifact! });
  }

  return { registry, put, impact };
}

const titlesOf = (impact: Impact) => impactGroups(impact).map(({ title }) => title);
const linesOf = ({ users }: Impact) =>
  users.map((each) => [each.coordinate, each.gets, each.verdict, impactText(each)].join(' | '));

describe('a new version', () => {
  test('breaks those whose own document breaks with it, and says at which operation; whoever is pinned is told apart', async () => {
    const { put, impact, registry } = open();
    await put('@a/schemas/money@1.0.0', money([]));
    await put('@b/apis/orders', takes(`${site}/@a/schemas/money@^1`));
    await put('@c/apis/bills', takes(`${site}/@a/schemas/money@1.0.0`));
    await put('@d/apis/unrelated', takes('#/info'));
    const made = await impact('@a/schemas/money@1.1.0', money(['amount']));
    expect(linesOf(made)).toEqual([
      expect.stringMatching(/^@b\/apis\/orders \| range \| breaking \| POST \/orders: .*amount/),
      expect.stringMatching(/^@c\/apis\/bills \| pinned \| breaking \| POST \/orders: .*amount/),
    ]);
    expect(titlesOf(made)).toEqual([
      'It breaks 1 of 1 user at their next publish.',
      'It breaks 1 of 1 user only if they leave their version.',
    ]);
    expect(linesOf(await impact('@a/schemas/money@2.0.0', money(['amount'])))).toEqual([
      expect.stringContaining('@b/apis/orders | pinned'),
      expect.stringContaining('@c/apis/bills | pinned'),
    ]);
    const harmless = await impact('@a/schemas/money@1.1.0', { ...money([]), description: 'An amount.' });
    expect(harmless.users.map(({ verdict }) => verdict)).not.toContain('breaking');
    expect(titlesOf(harmless)).toEqual([
      'It breaks none of 1 user at their next publish.',
      'It breaks none of 1 user only if they leave their version.',
    ]);
    // Nothing was stored.
    expect((await findResource(registry, parseCoordinate('@b/apis/orders')!.coordinate))!.versions).toHaveLength(1);
    expect((await findResource(registry, parseCoordinate('@a/schemas/money')!.coordinate))!.versions).toHaveLength(1);
  });

  test('reaches users of users, and those that use both, each with all of its new bytes', async () => {
    const { put, impact } = open();
    await put('@a/schemas/money@1.0.0', money([]));
    await put('@b/schemas/price@1.0.0', includes(`${site}/@a/schemas/money`));
    await put('@c/apis/shop', takes(`${site}/@b/schemas/price`, `${site}/@a/schemas/money`));
    await put('@d/schemas/old@1.0.0', includes(`${site}/@a/schemas/money@1.0.0`));
    await put('@e/apis/far', takes(`${site}/@d/schemas/old`));
    const made = await impact('@a/schemas/money@1.1.0', money(['amount']));
    const shop = made.users.find(({ coordinate }) => coordinate === '@c/apis/shop')!;
    expect(shop.comparison!.changes.map(({ code }) => code)).toEqual([
      'request-property-became-required',
      'request-property-became-required',
    ]);
    // What uses a resource that stays with the old version does not change.
    expect(made.users.map(({ coordinate }) => coordinate).sort()).toEqual([
      '@b/schemas/price',
      '@c/apis/shop',
      '@d/schemas/old',
    ]);
  });

  test('that removes what a user refers to breaks it, with the reason', async () => {
    const { put, impact } = open();
    await put('@a/schemas/money@1.0.0', money([]));
    await put('@b/apis/orders', takes(`${site}/@a/schemas/money#/$defs/code`));
    expect(linesOf(await impact('@a/schemas/money@1.1.0', money([], false)))).toEqual([
      expect.stringMatching(/^@b\/apis\/orders \| range \| breaking \| It can no longer be compiled: .*code/),
    ]);
  });

  test('replaces only the references that mean it', async () => {
    const { put, impact } = open();
    await put('@a/schemas/money@1.0.0', money([]));
    await put('@b/apis/both', takes(`${site}/@a/schemas/money@1.0.0`, `${site}/@a/schemas/money`));
    const [both] = (await impact('@a/schemas/money@1.1.0', money(['amount']))).users;
    expect(both!.comparison!.changes.map(({ code }) => code)).toEqual(['request-property-became-required']);
  });

  test('reaches a file that contracts.lock names, which gets it by stele update', async () => {
    const { put, impact } = open();
    const { version } = await put('@a/schemas/money@1.0.0', money([]));
    const bytes = JSON.stringify(money([]));
    const lock = formatLock([
      {
        path: 'schemas/money.json',
        contract: '@a/schemas/money',
        range: '^1',
        version: '1.0.0',
        registry: site,
        sha256: hexOf(digestOf(Buffer.from(bytes))),
        digest: version.manifest,
      },
    ]);
    await put('@b/apis/orders', takes('./schemas/money.json'), {
      files: { 'schemas/money.json': bytes, 'contracts.lock': lock },
    });
    expect(linesOf(await impact('@a/schemas/money@1.1.0', money(['amount'])))).toEqual([
      expect.stringMatching(/^@b\/apis\/orders \| update \| breaking \| POST \/orders: .*amount/),
    ]);
  });

  test('tells who gets it, who has it in a contracts.lock, and who stays, apart', async () => {
    const { put, impact, registry } = open();
    const { version } = await put('@a/schemas/money@1.0.0', money([]));
    for (const org of ['b', 'c', 'd', 'e']) await put(`@${org}/apis/bills`, takes(`${site}/@a/schemas/money@1.0.0`));
    await put('@f/apis/shop', takes(`${site}/@a/schemas/money@^1`));
    const pinned = { contract: '@a/schemas/money', version: '1.0.0', digest: version.manifest };
    await reportConsumer(registry, 'b', 'web', [{ ...pinned, range: '^1' }], author);
    await reportConsumer(registry, 'b', 'old', [{ ...pinned, range: '1.0.0' }], author);
    const followed = { url: 'https://git.test/till', branch: null, credential: null, visibility: 'private' } as const;
    const id = await follow(registry, 'c', { ...followed, discover: '', validation: 'strict' });
    await registry.refs.update<Repository>(repositoryRef('c', id), (current) => ({
      value: { ...current!.value, contracts: [{ ...pinned, range: '' }] },
      change: { ...author, action: 'sync' },
    }));
    const made = await impact('@a/schemas/money@1.1.0', money(['amount']));
    expect(titlesOf(made)).toEqual([
      'It breaks 1 of 1 user at their next publish.',
      'Consumers that get it by stele update: 2.',
      'It breaks 4 of 4 users only if they leave their version. Consumers that stay with their version: 1.',
    ]);
    expect(made.consumers).toEqual([
      { organization: 'b', name: 'old', version: '1.0.0', gets: 'pinned' },
      { organization: 'b', name: 'web', version: '1.0.0', gets: 'update' },
      { organization: 'c', name: 'https://git.test/till', version: '1.0.0', gets: 'update' },
    ]);
    // Of an organization that one may not read as a whole, nobody is counted.
    expect((await impact('@a/schemas/money@1.1.0', money(['amount']), anonymous)).consumers).toEqual([]);
  });

  test('says nothing of users that the reader may not read', async () => {
    const { put, impact } = open();
    await put('@a/schemas/money@1.0.0', money([]));
    await put('@b/apis/secret', takes(`${site}/@a/schemas/money`), { visibility: 'private' });
    expect(await impact('@a/schemas/money@1.1.0', money(['amount']), anonymous)).toEqual({
      users: [],
      consumers: [],
      unchecked: 0,
    });
    expect((await impact('@a/schemas/money@1.1.0', money(['amount']))).users).toHaveLength(1);
  });

  test('is tried on the others where one user cannot be, for a minute at most, and never as the work of a user', async () => {
    const { registry, put, impact } = open();
    await put('@a/schemas/money@1.0.0', money([]));
    for (const org of ['b', 'c', 'd']) await put(`@${org}/apis/orders`, takes(`${site}/@a/schemas/money`));
    const { compiler } = registry;
    const turns: (string | undefined)[] = [];
    let time = 0;
    let tried = 0;
    const slow = {
      ...registry,
      monotonic: () => time,
      compiler: {
        ...compiler,
        compile: async (...[input, load, turn]: Parameters<typeof compiler.compile>) => {
          turns.push(turn?.org);
          time += 50_000;
          if (tried++ === 0) throw sandboxLost('It ended with SIGKILL.');
          return compiler.compile(input, load, turn);
        },
      },
    };
    const { resource, version, compiled } = await put('@a/schemas/money@1.1.0', money(['amount']), { dryRun: true });
    const made = await impactOf(slow, operator, { resource, version, artifact: compiled.artifact! }, { org: 'a' });
    expect(linesOf(made)).toEqual([
      expect.stringContaining('@c/apis/orders | range | breaking'),
      expect.stringContaining(
        '@b/apis/orders | range | unknown | It could not be compiled with the new version: The process',
      ),
    ]);
    expect(made.unchecked).toBe(1);
    expect(turns).toEqual(['a', 'a']);
    expect((await impact('@a/schemas/money@1.1.0', money(['amount']))).unchecked).toBe(0);

    // Where it decides, neither time nor a lost sandbox lets a version pass.
    const gate = () =>
      impactOf(slow, operator, { resource, version, artifact: compiled.artifact! }, { org: 'a', decides: true });
    expect(await gate()).toMatchObject({ unchecked: 0, users: { length: 3 } });
    tried = 0;
    await expect(gate()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
