import { describe, expect, test } from 'vitest';
import { createUpload } from '../../src/source/upload.ts';
import { anonymous, type Principal } from '../../src/model/access.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { nameOf } from '../../src/model/resource.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { findResource, deleteRecord } from '../../src/registry/lives.ts';
import { listDependants } from '../../src/registry/graph/dependants.ts';
import { publish } from '../../src/registry/publish.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld } from './world.ts';

const author = { actor: 'operator:test', origin: null };
const site = 'https://registry.test';
const operator: Principal = { kind: 'operator', id: 'test' };
const key = (org: string, resources: string[] | null = null): Principal => ({
  kind: 'key',
  id: 'k',
  org,
  scopes: ['read'],
  resources,
});

function open() {
  const { registry: made } = createWorld({ url: site });
  const registry = { ...made, compiler: shareCompiler() };

  async function put(name: string, $ref: string | null, visibility: 'public' | 'private' = 'public') {
    const { coordinate, selector } = parseCoordinate(name)!;
    const document = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: name,
      ...($ref && { properties: { a: { $ref: `${site}/${$ref}` } } }),
    };
    const result = await publish(registry, {
      coordinate,
      snapshot: createUpload('document.json', Buffer.from(JSON.stringify(document))),
      entry: 'document.json',
      version: selector.kind === 'version' ? selector.version : null,
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: { visibility },
      author,
    });
    expect(result.outcome).toBe('published');
  }

  async function seen(principal: Principal, name: string): Promise<string[]> {
    const target = (await findResource(registry, parseCoordinate(name)!.coordinate))!;
    const all = await listDependants(registry, principal, target);
    return all.map(({ resource, version, uses, behind }) =>
      [nameOf(resource), version.label, uses.range, uses.version, behind].join(' '),
    );
  }

  return { registry, put, seen };
}

describe('dependants', () => {
  test('are those whose latest version refers to a resource, in all organizations, with how far they are behind', async () => {
    const { put, seen } = open();
    await put('@a/schemas/money@1.0.0', null);
    await put('@b/schemas/order@1.0.0', '@a/schemas/money@^1');
    await put('@c/schemas/bill@1.0.0', '@a/schemas/money@1.0.0');
    await put('@c/schemas/gone@1.0.0', '@a/schemas/money');
    await put('@c/schemas/gone@1.1.0', null);
    expect(await seen(anonymous, '@a/schemas/money')).toEqual([
      '@b/schemas/order 1.0.0 ^1 1.0.0 0',
      '@c/schemas/bill 1.0.0 1.0.0 1.0.0 0',
    ]);
    await put('@a/schemas/money@1.1.0', null);
    await put('@a/schemas/money@0.9.0', null);
    await put('@b/schemas/order@1.1.0', '@a/schemas/money@^1');
    expect(await seen(anonymous, '@a/schemas/money')).toEqual([
      '@b/schemas/order 1.1.0 ^1 1.1.0 0',
      '@c/schemas/bill 1.0.0 1.0.0 1.0.0 1',
    ]);
  });

  test('that a reader may not read are neither listed nor counted', async () => {
    const { registry, put, seen } = open();
    await put('@a/schemas/money@1.0.0', null);
    await put('@b/schemas/open@1.0.0', '@a/schemas/money');
    await put('@b/schemas/secret@1.0.0', '@a/schemas/money', 'private');
    const open1 = '@b/schemas/open 1.0.0  1.0.0 0';
    const both = [open1, '@b/schemas/secret 1.0.0  1.0.0 0'];
    for (const stranger of [anonymous, key('a'), key('b', ['apis/*'])])
      expect(await seen(stranger, '@a/schemas/money')).toEqual([open1]);
    for (const reader of [key('b'), key('b', ['schemas/s*']), operator])
      expect(await seen(reader, '@a/schemas/money')).toEqual(both);
    await deleteRecord(registry, parseCoordinate('@b/schemas/open')!.coordinate, author);
    expect(await seen(anonymous, '@a/schemas/money')).toEqual([]);
  });

  test('stay when the version that they use is withdrawn, and go with their own', async () => {
    const { registry, put, seen } = open();
    await put('@a/schemas/money@1.0.0', null);
    await put('@a/schemas/money@1.1.0', null);
    await put('@b/schemas/order@1.0.0', '@a/schemas/money@1.0.0');
    const withdraw = (name: string) =>
      changeStatus(registry, parseCoordinate(name)!.coordinate, '1.0.0', { state: 'withdrawn', reason: 'x' }, author);
    await withdraw('@a/schemas/money');
    expect(await seen(anonymous, '@a/schemas/money')).toEqual(['@b/schemas/order 1.0.0 1.0.0 1.0.0 1']);
    await withdraw('@b/schemas/order');
    expect(await seen(anonymous, '@a/schemas/money')).toEqual([]);
  });
});
