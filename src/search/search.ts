import type { Principal } from '../model/access.ts';
import { formatCoordinate, type Coordinate, type ResourceType } from '../model/address.ts';
import { nameOf, selectVersion, type Version } from '../model/resource.ts';
import { listDependants } from '../registry/graph/dependants.ts';
import { findReadable, mayRead } from '../registry/readable.ts';
import type { Registry } from '../registry/registry.ts';
import { within } from '../scheduling/waiting.ts';
import { parseQuery } from './ranking/words.js';
import {
  createSearchIndex,
  type IndexAnswer,
  type Match,
  type Indexed,
  isSite,
  type Searched,
  type SearchIndex,
} from './search-index.ts';
import { setImmediate as othersTurn } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Digest } from '../model/digest.ts';
import { outlineVersion } from '../registry/derived.ts';
import { currentOf, type Deployment } from '../sites/model/documentation-site.ts';
import { grantSite } from '../sites/registry/read-site.ts';
import type { SiteIndex } from './ranking/pages.js';
import { siteIndex } from './site-index.ts';

export type { Match as Found, Indexed } from './search-index.ts';

/** A search request. */
export interface SearchRequest {
  /**
   * Words, a path, an operationId, or the name of a schema or property. Empty: everything. `org:`
   * and `type:` in it count before those beside it.
   */
  text: string;
  org: string | null;
  type: ResourceType | 'sites' | null;
  /** Only what uses this resource. */
  uses?: Coordinate | null;
  /** Only what this resource uses. */
  usedBy?: Coordinate | null;
}

/** A request, with the names that it leaves. Null: all. */
type Narrowed = Pick<SearchRequest, 'text' | 'org' | 'type'> & { among: readonly string[] | null };

/** Selects the page of results to show. */
export type Choose = (all: readonly Match[]) => { items: Match[]; next: string | null };

/** The results that were chosen. */
export interface SearchResults {
  items: Match[];
  next: string | null;
  /** False while something that the principal may read is not indexed yet. */
  complete: boolean;
  /** The query with the words that were taken instead of those that occur nowhere, or null. */
  instead: string | null;
}

/** See `createSearch`. */
export type Search = ReturnType<typeof createSearch>;

type Facts = Pick<Indexed, 'coordinate' | 'visibility'>;

/** Bytes of a match in memory, roughly. */
const foundSize = 200;

/**
 * Creates a search over the latest version of each resource: name, title, description, paths, operationIds,
 * tags, schemas and properties; and the pages of published documentation sites. The index belongs to this process. It is
 * built from the refs at the first request and then follows them, so it can be lost without harm. `patience`: milliseconds
 * to wait for recent changes and for what is not indexed yet, together.
 */
export function createSearch(registry: Registry, { patience = 250 }: { patience?: number } = {}) {
  const index = createSearchIndex();
  const followed = followRegistry(registry, index);
  const answers = registry.answers.scope();

  function mayFind(principal: Principal, { coordinate, visibility }: Facts): boolean {
    return mayRead(principal, { ...coordinate, visibility });
  }

  /**
   * Whether everything that the principal may read is indexed. Other resources do not count, to
   * reveal nothing.
   */
  function isComplete(principal: Principal): boolean {
    return followed.isComplete((indexed) => mayFind(principal, indexed));
  }

  /** Returns the entry if what matched may still be read. Reads the record again. */
  async function confirm(principal: Principal, match: Match): Promise<Match[]> {
    const { coordinate, manifest } = match.indexed;
    const found = await findReadable(registry, principal, coordinate);
    if (found === null) return [];
    return manifest === null || isServed(found.value, manifest) ? [match] : [];
  }

  /** The names of what uses a resource and of what another one uses, as far as the principal may read them. */
  async function namesAmong(principal: Principal, { uses, usedBy }: SearchRequest): Promise<string[] | null> {
    if (!uses && !usedBy) return null;
    const read = async (each: Coordinate) => (await findReadable(registry, principal, each))?.value;
    const [used, user] = [uses && (await read(uses)), usedBy && (await read(usedBy))];
    const users = used ? await listDependants(registry, principal, used) : [];
    const its = (user && selectVersion(user, { kind: 'latest' })?.version.dependencies) || [];
    const sets = [
      ...(uses ? [new Set(users.map(({ resource }) => nameOf(resource)))] : []),
      ...(usedBy ? [new Set(its.map(({ coordinate }) => coordinate))] : []),
    ];
    return [...sets.reduce((all, each) => all.intersection(each))].sort();
  }

  function answer(principal: Principal, request: Narrowed): IndexAnswer {
    if (principal.kind !== 'anonymous') return makeAnswer(principal, request);
    // The index may be behind the logs, so its own revision counts.
    const key = JSON.stringify([request.text, request.org, request.type, request.among, index.revision()]);
    const cached = answers.find<IndexAnswer>(key);
    if (cached !== undefined) return cached;
    const result = makeAnswer(principal, request);
    answers.keep(key, result, new Map(), result.found.length * foundSize);
    return result;
  }

  function makeAnswer(principal: Principal, request: Narrowed): IndexAnswer {
    const among = request.among && new Set(request.among);
    const query = parseQuery(request.text);
    const org = query.org ?? request.org;
    const type = query.type ?? request.type;
    const mayShow = (indexed: Indexed) =>
      (org === null || indexed.coordinate.org === org) &&
      (type === null || indexed.coordinate.type === type) &&
      (among === null || among.has(formatCoordinate(indexed.coordinate))) &&
      mayFind(principal, indexed);
    if (query.text !== '') return index.find(query, mayShow);
    const isAsked = (indexed: Indexed) => (type === 'sites') === (indexed.coordinate.type === 'sites');
    const all = index.entries().filter(([, indexed]) => isAsked(indexed) && mayShow(indexed));
    return { found: all.map(([, indexed]) => ({ indexed, own: 0, matches: () => [] })), instead: null };
  }

  return {
    /**
     * Finds what the principal may read, best first (at most 200); an empty query returns all
     * resources, in order. Nothing in the result, not even the order, depends on what the principal may not read. A change
     * of visibility takes effect within a second. Waits briefly for recent changes.
     */
    async find(principal: Principal, request: SearchRequest, choose: Choose): Promise<SearchResults> {
      const { text, org, type } = request;
      const among = await namesAmong(principal, request);
      const end = registry.monotonic() + patience;
      const following = followed.follow().then(() => true);
      const isFresh = (await within(patience, following)) ?? false;
      if (!isComplete(principal)) await within(Math.max(end - registry.monotonic(), 0), followed.settled());
      const { found: all, instead } = answer(principal, { text, org, type, among });
      const { items, next } = choose(all);
      const shown = isFresh ? items : (await Promise.all(items.map((match) => confirm(principal, match)))).flat();
      return { items: shown, next, complete: isFresh && isComplete(principal), instead };
    },

    /**
     * Everything that the principal may read, in order, once it is all indexed. The same `revision`
     * means the same entries.
     */
    async all(principal: Principal): Promise<{ entries: Indexed[]; revision: number }> {
      await followed.follow();
      while (!isComplete(principal)) await followed.settled();
      const entries = index.entries().flatMap(([, entry]) => (mayFind(principal, entry) ? [entry] : []));
      return { entries, revision: index.revision() };
    },
  };
}

/**
 * Milliseconds until the refs are listed again. Together with the age of a cached record it stays
 * below a second.
 */
const freshFor = 400;

/** Keeps an index up to date with the registry's resources and sites, their outlines and pages. Does nothing until it is asked. */
function followRegistry(registry: Registry, index: SearchIndex) {
  /** The indexed generation of each record. */
  const generations = new Map<string, number>();
  /** Resources whose outline has been requested, until it arrives. */
  const waiting = new Map<string, Searched>();
  const outlines = new PQueue({ concurrency: 2 });
  let walk: { startedAt: number; done: boolean; end: Promise<void> } | null = null;
  let isBuilt = false;

  const settled = (): Promise<void> => outlines.onIdle();

  /** Resolves when all earlier writes are indexed, except for outlines. Concurrent callers share the work. */
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
    /** Whether every resource that counts is indexed with its outline. */
    isComplete: (counts: (indexed: Indexed) => boolean) =>
      isBuilt && ![...waiting.keys()].some((name) => counts(index.get(name)!)),
  };
}

/** Whether a version with this manifest, or the deployment, can be read. */
function isServed(searched: Searched, manifest: Digest): boolean {
  if (isSite(searched)) return currentOf(searched)?.manifest === manifest;
  return searched.versions.some((version) => version.manifest === manifest && version.status.state !== 'withdrawn');
}
