import { setImmediate as othersTurn } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Digest } from '../model/digest.ts';
import { selectVersion, type Resource, type Version } from '../model/resource.ts';
import { outlineVersion } from '../registry/derived.ts';
import type { Registry } from '../registry/registry.ts';
import type { Indexed, SearchIndex } from './search-index.ts';

/** Keeps a search index up to date with the registry. Does nothing until it is asked. */
export interface Followed {
  /**
   * Resolves when all earlier writes are indexed, except for outlines. Concurrent callers share the
   * work.
   */
  follow(): Promise<void>;
  /** Resolves when no outline is being made. */
  settled(): Promise<void>;
  /** Whether every resource that counts is indexed with its outline. */
  isComplete(counts: (indexed: Indexed) => boolean): boolean;
}

/**
 * Milliseconds until the refs are listed again. Together with the age of a cached record it stays
 * below a second.
 */
const freshFor = 400;

/** Follows the registry's resources and their outlines. */
export function followRegistry(registry: Registry, index: SearchIndex): Followed {
  /** The indexed generation of each record. */
  const generations = new Map<string, number>();
  /** Resources whose outline has been requested, until it arrives. */
  const waiting = new Map<string, Resource>();
  const outlines = new PQueue({ concurrency: 2 });
  let walk: { startedAt: number; done: boolean; end: Promise<void> } | null = null;
  let isBuilt = false;
  let idle: Promise<void> | null = null;

  function settled(): Promise<void> {
    idle ??= outlines.onIdle().finally(() => (idle = null));
    return idle;
  }

  function follow(): Promise<void> {
    const startedAt = registry.monotonic();
    if (walk !== null && (!walk.done || startedAt - walk.startedAt < freshFor)) return walk.end;
    const running = { startedAt, done: false, end: Promise.resolve() };
    running.end = takeChanges().finally(() => (running.done = true));
    walk = running;
    return running.end;
  }

  async function takeChanges(): Promise<void> {
    for await (const { name, generation } of registry.refs.newest('resources/')) {
      if (generations.get(name) === generation) continue;
      const newest = await registry.refs.read<Resource>(name);
      generations.set(name, newest?.generation ?? generation);
      take(name, newest?.value ?? null);
      await othersTurn();
    }
    isBuilt = true;
  }

  function take(name: string, resource: Resource | null): void {
    waiting.delete(name);
    if (resource === null || resource.deletedAt !== null) {
      index.delete(name);
      return;
    }
    const old = index.get(name)?.manifest ?? null;
    if (old !== null && isServed(resource, old)) index.update(name, resource);
    else index.set(name, resource, null, null);
    const latest = selectVersion(resource, { kind: 'latest' })?.version ?? null;
    if (latest === null) return;
    waiting.set(name, resource);
    outlines
      .add(() => takeOutline(name, resource, latest))
      .catch((error: unknown) =>
        registry.log('error', 'a document was not indexed', { ref: name, error: String(error) }),
      );
  }

  async function takeOutline(name: string, resource: Resource, latest: Version): Promise<void> {
    if (waiting.get(name) !== resource) return;
    const outline = await outlineVersion(registry, resource, latest).catch((error: unknown) => {
      registry.log('warn', 'a document is found by its name alone', { ref: name, error: String(error) });
      return null;
    });
    // Lets requests in between. An index of thousands of documents takes a while to build.
    await othersTurn();
    if (waiting.get(name) !== resource) return;
    waiting.delete(name);
    index.set(name, resource, outline, latest.manifest);
  }

  return {
    follow,
    settled,
    isComplete: (counts) => isBuilt && ![...waiting.keys()].some((name) => counts(index.get(name)!)),
  };
}

/** Whether a version with this manifest can be read. */
export function isServed({ versions }: Resource, manifest: Digest): boolean {
  return versions.some((version) => version.manifest === manifest && version.status.state !== 'withdrawn');
}
