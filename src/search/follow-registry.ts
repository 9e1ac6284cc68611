import { setImmediate as othersTurn } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Digest } from '../model/digest.ts';
import { selectVersion, type Version } from '../model/resource.ts';
import { outlineVersion } from '../registry/derived.ts';
import type { Registry } from '../registry/registry.ts';
import { currentOf, type Deployment } from '../sites/model/documentation-site.ts';
import { grantSite } from '../sites/registry/read-site.ts';
import type { SiteIndex } from './ranking/pages.js';
import { isSite, type Indexed, type Searched, type SearchIndex } from './search-index.ts';
import { siteIndex } from './site-index.ts';

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

/** Follows the registry's resources and sites, their outlines and pages. */
export function followRegistry(registry: Registry, index: SearchIndex): Followed {
  /** The indexed generation of each record. */
  const generations = new Map<string, number>();
  /** Resources whose outline has been requested, until it arrives. */
  const waiting = new Map<string, Searched>();
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
    for (const kind of ['resources/', 'sites/'])
      for await (const { name, generation } of registry.refs.newest(kind)) {
        if (generations.get(name) === generation) continue;
        const newest = await registry.refs.read<Searched>(name);
        generations.set(name, newest?.generation ?? generation);
        take(name, newest?.value ?? null);
        await othersTurn();
      }
    isBuilt = true;
  }

  function take(name: string, searched: Searched | null): void {
    waiting.delete(name);
    // A site that was never published has no page to lead to.
    if (searched === null || searched.deletedAt !== null || (isSite(searched) && searched.current === null)) {
      index.delete(name);
      return;
    }
    const old = index.get(name)?.manifest ?? null;
    if (old !== null && isServed(searched, old)) index.update(name, searched);
    else index.set(name, searched, null, null);
    const latest = isSite(searched)
      ? currentOf(searched)
      : (selectVersion(searched, { kind: 'latest' })?.version ?? null);
    if (latest === null) return;
    waiting.set(name, searched);
    outlines
      .add(() => takeContent(name, searched, latest))
      .catch((error: unknown) =>
        registry.log('error', 'a document was not indexed', { ref: name, error: String(error) }),
      );
  }

  async function takeContent(name: string, searched: Searched, latest: Version | Deployment): Promise<void> {
    if (waiting.get(name) !== searched) return;
    const reading = isSite(searched) ? pagesOf(searched) : outlineVersion(registry, searched, latest as Version);
    const content = await reading.catch((error: unknown) => {
      registry.log('warn', 'a document is found by its name alone', { ref: name, error: String(error) });
      return null;
    });
    // Lets requests in between. An index of thousands of documents takes a while to build.
    await othersTurn();
    if (waiting.get(name) !== searched) return;
    waiting.delete(name);
    index.set(name, searched, content, latest.manifest);
  }

  /** The pages of a site as the registry itself reads them: who may find them is asked at each search. */
  async function pagesOf(site: Searched): Promise<SiteIndex | null> {
    const granted = await grantSite(registry, { kind: 'operator', id: 'search' }, site);
    return granted && (JSON.parse(await siteIndex(registry, granted)) as SiteIndex);
  }

  return {
    follow,
    settled,
    isComplete: (counts) => isBuilt && ![...waiting.keys()].some((name) => counts(index.get(name)!)),
  };
}

/** Whether a version with this manifest, or the deployment, can be read. */
export function isServed(searched: Searched, manifest: Digest): boolean {
  if (isSite(searched)) return currentOf(searched)?.manifest === manifest;
  return searched.versions.some((version) => version.manifest === manifest && version.status.state !== 'withdrawn');
}
