import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseLock } from '../../src/model/lock.ts';
import { publicLogOf } from '../../src/registry/transparency/public-log.ts';
import { run } from './command-verbs.ts';
import type { Draw } from './draw.ts';
import type { Life, Verbs } from './life.ts';
import { bestOfMajor, rankOf, textOf, type Resource } from './model.ts';

/** A command in the repository of a consumer, with the registry of now: its address changes with each process. */
async function inRepository(
  life: Life,
  command: string,
  args: (folder: string) => readonly string[] = () => [],
): Promise<number> {
  const { nodes, turn } = life.world;
  const registry = nodes[turn % nodes.length]!.url;
  const folder = life.world.consumer();
  const lock = join(folder, 'contracts.lock');
  mkdirSync(join(folder, '.git'), { recursive: true });
  if (existsSync(lock))
    writeFileSync(lock, readFileSync(lock, 'utf8').replaceAll(/registry: .*/g, `registry: ${registry}`));
  const cache = { XDG_CACHE_HOME: join(folder, '.cache') };
  return run([command, ...args(folder), '--lock', folder], life.admin, { STELE_REGISTRY: registry, ...cache });
}

/** What the lock and its files say: the version of each contract, where its file has the bytes of that version. */
function locked(life: Life): Record<string, string> {
  const folder = life.world.consumer();
  const entries = parseLock(readFileSync(join(folder, 'contracts.lock'), 'utf8'));
  return Object.fromEntries(
    entries.map(({ path, contract, version }) => {
      const resource = life.resources.get(contract.slice('@acme/apis/'.length))!;
      const { doc } = resource.versions.find(({ label }) => label === version)!;
      return [contract, readFileSync(join(folder, path), 'utf8') === textOf(doc) ? version : 'other bytes'];
    }),
  );
}

const expectedLock = (life: Life) =>
  Object.fromEntries([...life.lock].map(([slug, { version }]) => [`@acme/apis/${slug}`, version]));

/** A resource with a version that a range of one major number means. */
function offered(life: Life, draw: Draw): { resource: Resource; major: number } | null {
  const resource = draw.of([...life.resources.values()].filter(({ deletedAt }) => deletedAt === null));
  const versions = resource?.versions.filter(({ label }) => rankOf(label)?.pre === null) ?? [];
  const major = rankOf(draw.of(versions)?.label ?? '')?.numbers[0];
  return resource === undefined || major === undefined || bestOfMajor(resource, major) === null
    ? null
    : { resource, major };
}

/** Contracts as files of a consumer's repository. */
export const lockVerbs: Verbs = {
  'add to a lock': {
    weight: 3,
    plan(life, draw) {
      const found = offered(life, draw);
      if (found === null) return null;
      const { slug } = found.resource;
      life.lock.set(slug, { major: found.major, version: bestOfMajor(found.resource, found.major)!.label });
      const expected = expectedLock(life);
      return {
        says: `stele add @acme/apis/${slug}@${found.major}`,
        async ask() {
          // Its entry is replaced.
          const code = await inRepository(life, 'add', (folder) => [
            `@acme/apis/${slug}@${found.major}`,
            '--as',
            join(folder, `${slug}.json`),
          ]);
          return { code, locked: locked(life) };
        },
        expected: { code: 0, locked: expected },
      };
    },
  },
  'update a lock': {
    weight: 3,
    plan(life) {
      if (life.lock.size === 0) return null;
      for (const [slug, entry] of life.lock) {
        const resource = life.resources.get(slug)!;
        const best = resource.deletedAt === null ? bestOfMajor(resource, entry.major) : null;
        if (best !== null) entry.version = best.label;
      }
      return {
        says: 'stele update',
        async ask() {
          const { nodes, turn } = life.world;
          // It goes back from what was yanked only once the public log says so.
          await (await publicLogOf(nodes[turn % nodes.length]!.registry))!.update();
          await inRepository(life, 'update');
          return locked(life);
        },
        expected: expectedLock(life),
      };
    },
  },
  'check a lock': {
    weight: 2,
    plan(life) {
      if (life.lock.size === 0) return null;
      return {
        says: 'stele install --frozen',
        ask: () => inRepository(life, 'install', () => ['--frozen']),
        expected: 0,
      };
    },
  },
};
