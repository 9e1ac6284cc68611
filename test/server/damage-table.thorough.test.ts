import { beforeAll, expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import { insteadOf } from '../../src/model/errors.ts';
import type { Resource } from '../../src/model/resource.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { backup } from '../../src/registry/maintenance/backup.ts';
import { repairStore } from '../../src/registry/maintenance/repair.ts';
import { createApp } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import {
  author,
  bucketOf,
  createDamageable,
  damageKey,
  damages,
  filesOf,
  kindsOfKeys,
  openStore,
  publishOnce,
  type Files,
} from './damaged-store.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createTestQueue } from './registry.ts';

// Each kind of key × each damage, by turns at rest and while a server runs; both where everything is tested. `damage-table.tsv` says what is served, whether a
// change is taken, what fsck says and what a repair leaves; the promises below hold for every row.

let files: Files;
let kinds: Awaited<ReturnType<typeof createDamageable>>['kinds'];
let sound: Map<string, string>;
const rows: string[] = [];
beforeAll(async () => {
  ({ files, kinds } = await createDamageable());
  const server = await serve(await bucketOf(files));
  sound = new Map((await server.askAll()).flatMap(({ path, status, body }) => (status === 200 ? [[path, body]] : [])));
  await server.close();
});

const paths = ['1.0.0', '1.1.0', '1.2.0'].flatMap((label) => [
  `/@acme/apis/one@${label}.json`,
  `/@acme/apis/one@${label}.yaml`,
  `/v2/acme/apis/one/manifests/${label}`,
]);
const others = ['/@beta/apis/two.json'];
const ofLog = ['/log/checkpoint', '/log/tile/entries/000', '/@acme/apis/one@1.0.0?proof'];

interface Asked {
  path: string;
  status: number;
  body: string;
}

async function serve(bucket: Bucket) {
  let passed = 0;
  const registry = openStore(bucket, () => performance.now() + passed);
  const context = { registry, queue: createTestQueue(registry), url: 'http://registry.test', isReady: () => true };
  const listening = await listen(createApp(context), { host: '127.0.0.1', port: 0 });
  return {
    registry,
    pass: (milliseconds: number) => void (passed += milliseconds),
    close: () => listening.close(1000),
    askAll: (): Promise<Asked[]> =>
      Promise.all(
        [...paths, ...others, ...ofLog].map(async (path) => {
          const response = await fetch(listening.url + path, { headers: { 'accept-encoding': 'identity' } });
          const bytes = new Uint8Array(await response.arrayBuffer());
          return { path, status: response.status, body: response.status === 200 ? digestOf(bytes) : '' };
        }),
      ),
  };
}

const labelsIn = async (bucket: Bucket) =>
  ((await openStore(bucket).refs.read<Resource>('resources/acme/apis/one'))?.value.versions ?? []).map(
    ({ label }) => label,
  );

const cases = kindsOfKeys.flatMap((kind) =>
  damages.flatMap((how) => (['at rest', 'while running'] as const).map((when) => ({ kind, how, when }))),
);

test.each(cases)('$kind: $how, $when', async ({ kind, how, when }: (typeof cases)[number]) => {
  const bucket = await bucketOf(files);
  const copy = await bucketOf(files);
  if (when === 'at rest') await damageKey(bucket, kinds[kind], how);
  const server = await serve(bucket);
  if (when === 'while running') {
    await server.askAll();
    await damageKey(bucket, kinds[kind], how);
    // What a server looks at once a minute.
    for (const milliseconds of [61_000, 1000]) {
      server.pass(milliseconds);
      await server.askAll();
    }
  }
  const asked = await server.askAll();
  expect(sound.size).toBe(asked.length);
  for (const { path, status, body } of asked) {
    // Nothing but the bytes of before, and no bug.
    if (status === 200) expect([path, body]).toEqual([path, sound.get(path)]);
    else expect([path, [404, 503].includes(status)]).toEqual([path, true]);
    if (others.includes(path)) expect([path, status]).toEqual([path, 200]);
  }
  const found = await fsck(openStore(bucket));
  const isUndamaged = found.damages.length === 0;
  // What fsck does not find, nobody misses.
  if (isUndamaged) expect(await labelsIn(bucket)).toEqual(['1.0.0', '1.1.0', '1.2.0']);
  const wasRead = [...new Set(asked.map(({ status }) => status))].sort().join(' ');
  const damaged = await filesOf(bucket);

  // A copy has no damage that its store did not tell of, but what is not there; an earlier one is as it was.
  const into = createMemoryBucket();
  const { damages: notCopied } = await backup(openStore(bucket), into);
  const inCopy = await fsck(openStore(into));
  if (notCopied.length === 0 && how !== 'delete') expect(inCopy.damages).toEqual([]);
  if (isUndamaged) expect(await labelsIn(into)).toEqual(['1.0.0', '1.1.0', '1.2.0']);
  await backup(openStore(bucket), copy).catch(insteadOf('conflict', undefined));
  expect((await fsck(openStore(copy))).damages).toEqual([]);
  expect(await labelsIn(copy)).toEqual(['1.0.0', '1.1.0', '1.2.0']);

  const change = await publishOnce(server.registry, '1.3.0').then(
    () => 'taken',
    (error: { code?: string }) => error.code ?? String(error),
  );
  await server.registry.refs.settle();
  await server.close();
  const told = server.registry.refs.damages().map(({ log, entry }) => `${log} ${entry}`);

  const repair = async (on: Bucket) =>
    (
      await repairStore(openStore(on), () => fsck(openStore(on)), {
        from: copy,
        giveUp: false,
        author,
        report: () => undefined,
      })
    ).damages.length;
  // What was acknowledged is there after the repair, whatever it was built on.
  expect(await repair(bucket)).toBe(0);
  const isThere = change === 'taken' || change === 'outcome_unknown';
  expect(await labelsIn(bucket)).toEqual(['1.0.0', '1.1.0', '1.2.0', ...(isThere ? ['1.3.0'] : [])]);
  const alone = await bucketOf(damaged);
  await repair(alone);
  const isSame = textOf(await filesOf(alone)) === textOf(files);
  rows.push(
    [
      kind,
      how,
      when,
      wasRead,
      change,
      told.join(', ') || '-',
      isUndamaged ? '-' : 'found',
      isSame ? 'as before' : 'without it',
    ].join('\t'),
  );
});

function textOf(all: Files): string {
  return [...all]
    .map(([key, bytes]) => `${key} ${digestOf(bytes)}`)
    .sort()
    .join('\n');
}

test('what becomes of each is as the table says', async () => {
  expect(rows).toHaveLength(cases.length);
  const header = ['key', 'damage', 'when', 'reads', 'a change', 'told', 'fsck', 'repaired'].join('\t');
  await expect(`${[header, ...rows].join('\n')}\n`).toMatchFileSnapshot('damage-table.tsv');
});
