import { expect, test } from 'vitest';
import type { ArtifactConfig } from '../../src/model/artifact.ts';
import { digestOf, hexOf } from '../../src/model/digest.ts';
import { formatLock, type LockedContract } from '../../src/model/lock.ts';
import type { Report } from '../../src/model/problem.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { findResource } from '../../src/registry/lives.ts';
import { readJson, readManifestOf } from '../../src/registry/stored.ts';
import { verify } from '../../src/registry/verify.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/shop/apis.git';
const shop = { org: 'shop', type: 'apis', slug: 'shop' } as const;
const api = (include: string, version = '1.0.0') =>
  `openapi: 3.1.0\ninfo: {title: Shop, version: "${version}"}\ninclude: [${include}]`;
const money = '{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Money"}';

function locked(path: string, bytes = money): LockedContract {
  return {
    path,
    contract: '@acme/schemas/money',
    range: '^1',
    version: '1.4.0',
    registry: 'https://contracts.acme.example',
    sha256: hexOf(digestOf(bytes)),
    digest: `sha256:${'b'.repeat(64)}`,
  };
}

const dependency = {
  coordinate: '@acme/schemas/money',
  range: '^1',
  version: '1.4.0',
  digest: `sha256:${'b'.repeat(64)}`,
  how: 'lock',
};

async function followed() {
  const world = createWorld();
  const { registry, source, compiler } = world;
  const settings = {
    url,
    branch: null,
    credential: null,
    discover: '',
    visibility: 'public',
    validation: 'lenient',
  } as const;
  const id = await follow(registry, 'shop', settings);
  const queue = createSyncQueue(registry, createPulls);
  return {
    registry,
    compiler,
    async push(files: Record<string, string>) {
      source.push(url, files);
      return (await queue.request('shop', id, 'manual')).done;
    },
    /** What the latest version of the API records. */
    async recorded(): Promise<{ config: ArtifactConfig; report: Report }> {
      const { versions } = (await findResource(registry, shop))!;
      const version = versions.at(-1)!;
      const manifest = await readManifestOf(registry, version);
      const config = await readJson<ArtifactConfig>(registry, manifest.config.digest, version.manifest);
      return { config, report: await readJson<Report>(registry, config.report, version.manifest) };
    },
  };
}

test('a file that contracts.lock names is a dependency of the document that refers to it, and is derived again', async () => {
  const { registry, push, recorded } = await followed();
  const run = await push({
    'api/shop.yaml': api('api/contracts/money.json'),
    'api/contracts/money.json': money,
    'api/contracts.lock': formatLock([locked('contracts/money.json'), locked('other.json')]),
  });
  expect(run.documents.map(({ path }) => path)).toEqual(['api/shop.yaml']);
  const { config, report } = await recorded();
  expect(config.dependencies).toEqual([dependency]);
  expect(Object.keys(config.provenance.blobs)).toEqual([
    'api/shop.yaml',
    'api/contracts.lock',
    'api/contracts/money.json',
  ]);
  expect(report.counts.warning).toBe(0);
  expect(await verify(registry, shop, { kind: 'latest' })).toMatchObject({ outcome: 'same' });
});

test('a file that was edited by hand is no dependency, and a warning says so', async () => {
  const { registry, push, recorded } = await followed();
  await push({
    'shop.yaml': api('money.json'),
    'money.json': `${money}\n`,
    'contracts.lock': formatLock([locked('money.json')]),
  });
  const { config, report } = await recorded();
  expect(config.dependencies).toBeUndefined();
  expect(report.counts.warning).toBe(1);
  expect(report.problems).toMatchObject([
    {
      rule: 'lock-edited',
      severity: 'warning',
      file: 'money.json',
      message:
        'This file is not @acme/schemas/money@1.4.0, as contracts.lock says: it was edited by hand. Delete it and run stele install, or run stele remove money.json --keep.',
    },
  ]);
  expect(await verify(registry, shop, { kind: 'latest' })).toMatchObject({ outcome: 'same' });
});

test('a lock that is invalid is a warning, and nothing new below it is published', async () => {
  const { push, recorded } = await followed();
  const conflict = formatLock([locked('money.json')]).replace('    range', '<<<<<<< HEAD\n    range');
  const run = await push({
    'shop.yaml': api('contracts/money.json'),
    'contracts/money.json': money,
    'contracts/contracts.lock': conflict,
    'contracts/new.yaml': 'openapi: 3.1.0\ninfo: {title: New, version: "1.0.0"}',
  });
  expect(run.documents.map(({ path }) => path)).toEqual(['shop.yaml']);
  const { report } = await recorded();
  expect(report.problems).toMatchObject([
    {
      rule: 'lock-invalid',
      file: 'contracts/contracts.lock',
      message: expect.stringContaining('contracts/contracts.lock:6: There is a merge conflict') as string,
    },
  ]);
});

test('a document without a lock is what it was, and a changed lock has it compiled again', async () => {
  const { push, recorded, compiler } = await followed();
  await push({ 'shop.yaml': api('money.json'), 'money.json': money, 'sub/contracts.lock': formatLock([]) });
  const { config } = await recorded();
  expect(config).not.toHaveProperty('dependencies');
  expect(Object.keys(config.provenance.blobs)).toEqual(['shop.yaml', 'money.json']);
  const next = { 'shop.yaml': api('money.json', '2.0.0'), 'money.json': money };
  await push({ ...next, 'contracts.lock': formatLock([locked('money.json')]) });
  compiler.compiled.length = 0;
  await push({ ...next, 'contracts.lock': formatLock([locked('money.json')]), 'README.md': 'x' });
  expect(compiler.compiled).toEqual([]);
  await push({ ...next, 'contracts.lock': formatLock([{ ...locked('money.json'), range: '^1.4' }]) });
  expect(compiler.compiled).toEqual(['shop.yaml']);
});
