import { isDeepStrictEqual } from 'node:util';
import { malformed, conflict } from '../../model/errors.ts';
import type { Visibility } from '../../model/access.ts';
import type { BlockOn } from '../../model/problem.ts';
import {
  siteCoordinate,
  draftRef,
  formatSite,
  settingsOf,
  siteRef,
  type DocumentationSite,
  type Draft,
  type NavigationItem,
  type SiteConnection,
  type SiteName,
  type SiteSettings,
} from '../model/documentation-site.ts';
import { isPagePath, pageAt } from '../model/page-path.ts';
import { faultsIn, fitsTheme, themeFiles } from '../model/theme.ts';
import type { Generation } from '../../store/records.ts';
import { findSite, updateRecord, type GuardOf } from '../../registry/lives.ts';
import { defaultVisibility } from '../../registry/gate/policy.ts';
import { withRoom } from '../../registry/maintenance/quotas.ts';
import { newId, type Author, type Registry } from '../../registry/registry.ts';

/** Settings to change on a site. Absent members stay as they are, or get their default. */
export type SiteChange = Partial<SiteSettings> & { visibility?: Visibility; blockOn?: BlockOn };

const limits = { items: 2_000, depth: 6, redirects: 5_000 };

/** Throws `malformed` if the settings cannot be those of a site. Says which and why. */
function assertSettings({ theme = {}, navigation, redirects, versions }: Partial<SiteSettings>): void {
  const of = (pointer: string) => (detail: string) => ({ pointer, detail });
  const faults: { pointer: string; detail: string }[] = [
    ...faultsIn(theme).map(({ name, fault }) => of(`/theme/${name}`)(fault)),
    ...themeFiles.flatMap((name) => {
      const path = theme[name];
      return path === undefined || fitsTheme(name, path)
        ? []
        : [of(`/theme/${name}`)(`must be a file of the site that fits, not ${JSON.stringify(path.slice(0, 100))}.`)];
    }),
    ...(navigation ? navigationFaults(navigation) : []).map(of('/navigation')),
    ...redirectFaults(redirects ?? {}).map(of('/redirects')),
    ...(versions ?? []).flatMap(({ folder, site }, index) =>
      (folder === undefined) === (site === undefined)
        ? [of(`/versions/${index}`)('must name a folder of this site, or another site.')]
        : [],
    ),
  ];
  const [first] = faults;
  if (first === undefined) return;
  const name = first.pointer.slice(1).replaceAll('/', '.');
  throw malformed(`${name} ${first.detail}`, { extra: { errors: faults.slice(0, 20) } });
}

function navigationFaults(navigation: readonly NavigationItem[]): string[] {
  let count = 0;
  const walk = (items: readonly NavigationItem[], depth: number): string[] => {
    if (depth > limits.depth) return [`is more than ${limits.depth} levels deep.`];
    for (const item of items) {
      if (++count > limits.items) return [`has more than ${limits.items} entries.`];
      if (item.page !== undefined && !isPagePath(item.page))
        return [
          `names ${JSON.stringify(item.page.slice(0, 100))}, which is not the path of a page such as guide/intro.md.`,
        ];
      if (item.href !== undefined && !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(item.href))
        return [`links to ${JSON.stringify(item.href.slice(0, 100))}, which is not a web address.`];
      if (item.title === undefined && item.page === undefined) return ['has an entry with neither a title nor a page.'];
      const problem = walk(item.items ?? [], depth + 1);
      if (problem.length > 0) return problem;
    }
    return [];
  };
  return walk(navigation, 1);
}

/** A redirect leads from a path of the site to a path of it, so that nobody is sent elsewhere. */
function redirectFaults(redirects: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(redirects);
  if (entries.length > limits.redirects) return [`must have at most ${limits.redirects} entries.`];
  return entries.flatMap(([from, to]) =>
    [from, to.split('#', 1)[0]!].every((path) => isPagePath(pageAt(path.replace(/\.md$/, ''))))
      ? []
      : [
          `must name two paths of the site, such as guide/start: from ${JSON.stringify(from.slice(0, 100))} to ${JSON.stringify(to.slice(0, 100))} does not.`,
        ],
  );
}

/** The record of a site that is not there yet. `visibility`: unless it is given. */
export function newSite(
  registry: Registry,
  { org, slug }: SiteName,
  given: SiteChange & { title: string },
  visibility: Visibility,
): DocumentationSite {
  return {
    org,
    slug,
    ...settingsOf(given),
    visibility: given.visibility ?? visibility,
    blockOn: given.blockOn ?? 'error',
    connection: null,
    deployments: [],
    current: null,
    createdAt: registry.now().toISOString(),
    deletedAt: null,
  };
}

/**
 * Creates a site. Throws `conflict` if there is one with this name. That of a deleted site may be
 * used again; then nothing brings the deleted one back.
 */
export async function createSiteRecord(
  registry: Registry,
  site: SiteName,
  given: SiteChange & { title: string },
  author: Author,
): Promise<Generation<DocumentationSite>> {
  assertSettings(given);
  const id = newId(registry);
  const stored = await registry.refs.readFresh<DocumentationSite>(siteRef(site));
  // Nobody would see them, but they would keep their bytes.
  if (stored !== null && stored.value.deletedAt !== null) await forgetDrafts(registry, site, author);
  const usual = await defaultVisibility(registry, site.org);
  const created = await withRoom(registry, site.org, (take) =>
    registry.refs.update<DocumentationSite>(siteRef(site), (current) => {
      if (current !== null && current.value.deletedAt === null) {
        if (current.operation !== undefined && current.operation === author.operation) return null;
        throw conflict(`${formatSite(site)} already exists.`);
      }
      take({ sites: 1 });
      const { deployments = [] } = current?.value ?? {};
      const value = { id, ...newSite(registry, site, given, usual), deployments };
      return { value, change: { ...author, action: 'create' } };
    }),
  );
  return created!;
}

async function forgetDrafts(registry: Registry, site: SiteName, author: Author): Promise<void> {
  const prefix = draftRef(site, '');
  for await (const name of registry.refs.list(prefix))
    await registry.refs.update<Draft>(name, (current) =>
      current?.value.file
        ? { value: { file: null }, change: { ...author, action: `delete ${name.slice(prefix.length)}` } }
        : null,
    );
}

/**
 * Changes a site's settings. All but its visibility show with the next deployment. A new visibility
 * takes effect in every process within 1 s.
 */
export async function changeSite(
  registry: Registry,
  site: SiteName,
  change: SiteChange,
  author: Author,
  guard: GuardOf<DocumentationSite> | null = null,
): Promise<Generation<DocumentationSite>> {
  assertSettings(change);
  return updateRecord(registry, siteCoordinate(site), author, guard, (current) => {
    const next = { ...current, ...change };
    const names = (Object.keys(change) as (keyof SiteChange)[]).filter(
      (name) => JSON.stringify(next[name]) !== JSON.stringify(current[name]),
    );
    const actions = names.map((name) => (name === 'visibility' ? `make ${next.visibility}` : `change ${name}`));
    return names.length === 0 ? null : { next, action: actions.join(', ') };
  });
}

/**
 * Connects a site to the folder of a repository, and creates it if it is not there. Its visibility
 * stays as it is. Throws `conflict` if its files come from elsewhere.
 */
export async function connectSite(
  registry: Registry,
  site: SiteName,
  given: SiteChange & { title: string; connection: SiteConnection },
  author: Author,
): Promise<void> {
  const { connection, ...change } = given;
  assertSettings(change);
  const stored = await findSite(registry, site);
  if (stored === null) await createSiteRecord(registry, site, change, author);
  const { blockOn = 'error' } = change;
  await updateRecord(registry, siteCoordinate(site), author, null, (current) => {
    const from = current.connection;
    if (from?.byHand) throw conflict(`${formatSite(site)} is connected over /v1. Disconnect it there first.`);
    if (from !== null && from.repository !== connection.repository)
      throw conflict(`${formatSite(site)} is published from ${from.repository}.`);
    if (from === null && current.current !== null)
      throw conflict(`${formatSite(site)} has files that were sent. Delete it first.`);
    // The other settings are those of the commit: the deployment sets them with its files.
    const isSame = isDeepStrictEqual([from, current.blockOn], [connection, blockOn]);
    return isSame ? null : { next: { ...current, connection, blockOn }, action: 'connect' };
  });
}
