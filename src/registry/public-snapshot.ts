import { anonymous } from '../model/access.ts';
import type { Coordinate } from '../model/address.ts';
import { organizationRef } from '../model/gate.ts';
import { coordinateOf, findVersion, resourceRef, type Resource } from '../model/resource.ts';
import { siteCoordinate, siteRef, type DocumentationSite } from '../sites/model/documentation-site.ts';
import { itemName, listIn } from '../model/record-places.ts';
import type { Generation } from '../store/records.ts';
import type { Projection } from '../store/log/state.ts';
import type { Refs } from '../store/refs.ts';
import { findReadable, listReadableSites, mayRead } from './readable.ts';
import type { Registry } from './registry.ts';

/** Everything that is public, as it was at one moment. */
export interface PublicSnapshot {
  /** A read-only registry that contains only this snapshot. */
  registry: Registry;
  /** All public resources, by organization, type and slug. */
  resources: readonly Resource[];
  /** Coordinates of deleted resources that were public. */
  deleted: readonly Coordinate[];
  /** All public documentation sites that are published, by name. */
  sites: readonly DocumentationSite[];
  /**
   * Whether all of it is still public: nothing was made private, deleted or withdrawn since.
   * Additions do not count.
   */
  mayStillBeShown(): Promise<boolean>;
}

/**
 * Takes a snapshot of everything that an anonymous reader may read. It does not contain private
 * resources and sites at all, so their names cannot leak.
 */
export async function takePublicSnapshot(registry: Registry): Promise<PublicSnapshot> {
  const resources = await publicResources(registry);
  const all = [...resources.values()].map(({ value }) => value);
  const sites = (await listReadableSites(registry, anonymous)).filter(({ value }) => value.current !== null);
  const named = sites.map((site) => [siteRef(site.value), site] as const);
  const settings = await settingsOf(registry, new Set(all.map(({ org }) => org)));
  const refs = stillRefs(new Map<string, Generation<unknown>>([...resources, ...named, ...settings]));
  return {
    registry: { ...registry, refs, answers: registry.answers.scope(refs) },
    sites: sites.map(({ value }) => value),
    resources: all.filter(({ deletedAt }) => deletedAt === null),
    deleted: all.filter(({ deletedAt }) => deletedAt !== null).map(coordinateOf),
    async mayStillBeShown() {
      const now = await publicResources(registry);
      for (const [name, { value: before }] of resources) {
        const value = now.get(name)?.value;
        if (value === undefined || hasLost(before, value)) return false;
      }
      for (const { value } of sites)
        if ((await findReadable(registry, anonymous, siteCoordinate(value))) === null) return false;
      return true;
    },
  };
}

/** The settings of these organizations. Pages show the rulesets in them only if they are public too. */
async function settingsOf({ refs }: Registry, orgs: ReadonlySet<string>): Promise<[string, Generation<unknown>][]> {
  const read = await Promise.all(
    [...orgs].map(async (org) => [organizationRef(org), await refs.read<unknown>(organizationRef(org))] as const),
  );
  return read.flatMap(([name, settings]) => (settings === null ? [] : [[name, settings]]));
}

/** The resources that anybody may read, also deleted ones, by the names of their records. */
async function publicResources({ refs }: Registry): Promise<Map<string, Generation<Resource>>> {
  const all = await refs.all<Resource>('resources/');
  const readable = all.filter(({ value }) => mayRead(anonymous, value));
  return new Map(readable.map((generation) => [resourceRef(generation.value), generation]));
}

function hasLost(before: Resource, now: Resource): boolean {
  if (before.deletedAt === null && now.deletedAt !== null) return true;
  return before.versions.some(
    ({ label, status }) => status.state !== 'withdrawn' && findVersion(now, label)?.status.state === 'withdrawn',
  );
}

function stillRefs(records: ReadonlyMap<string, Generation<unknown>>): Refs {
  const views = new Map<string | null, Map<Projection<unknown>, unknown>>();
  function viewOf<V>(organization: string | null, { create, change }: Projection<V>): V {
    const view = create();
    for (const [name, { value }] of records) {
      if (name.split('/')[1] !== organization) continue;
      change(view, name, undefined, value);
      const list = listIn(name);
      const items = list === null ? [] : (value as Record<string, Record<string, unknown>[]>)[list.field]!;
      for (const item of items) change(view, itemName(list!, name, list!.keyOf(item)), undefined, item);
    }
    return view;
  }
  const read = async <T>(name: string) => (records.get(name) as Generation<T> | undefined) ?? null;
  return {
    read,
    readFresh: read,
    noting: (_reads, work) => work(),
    noteAll() {},
    areSame: () => true,
    areStillSame: async () => true,
    newestEntry: async () => 0,
    async update() {
      throw new TypeError('A snapshot is not written to.');
    },
    async *history() {},
    all: async <T>(prefix: string) =>
      [...records].flatMap(([name, found]) => (name.startsWith(prefix) ? [found as Generation<T>] : [])),
    async *list(prefix, after = '') {
      for (const name of records.keys()) if (name.startsWith(prefix) && name > after) yield name;
    },
    async *newest(prefix, after = '') {
      for (const [name, { generation }] of records) {
        if (name.startsWith(prefix) && name > after) yield { name, generation };
      }
    },
    refresh: async () => {},
    trail: async () => [],
    async *changesSince() {},
    async projected<V>(organization: string | null, projection: Projection<V>) {
      const known = views.getOrInsertComputed(organization, () => new Map<Projection<unknown>, unknown>());
      return known.getOrInsertComputed(projection, () => viewOf(organization, projection)) as V;
    },
    sweep: async () => 0,
    damages: () => [],
    examine: async () => {},
    check: async () => {},
    heads: () => [],
    writtenUntil: () => 0,
    assertReached: async () => {},
    watch: () => () => undefined,
  };
}
