import { anonymous, type Principal } from '../../model/access.ts';
import { own } from '../../model/json.ts';
import { notFound, conflict } from '../../model/errors.ts';
import { isBlocking, type Report } from '../../model/problem.ts';
import {
  siteCoordinate,
  currentOf,
  deploymentsOf,
  formatSite,
  settingsOf,
  type Deployment,
  type DocumentationSite,
  type SiteName,
  type SiteOrigin,
  type SiteSettings,
  siteRef,
} from '../model/documentation-site.ts';
import { readObject } from '../../registry/stored.ts';
import { withRoom } from '../../registry/maintenance/quotas.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import { storeMendable } from '../../registry/purge.ts';
import { readPlaces, buildDeployment, readContents } from './bundles.ts';
import { findEditable, listDrafts } from './drafts.ts';
import { makeDeployment, type MadeDeployment, type SiteFiles, resolveEmbed } from './make-deployment.ts';
import { findSite, updateRecord } from '../../registry/lives.ts';
import { openRounds } from '../../scheduling/waiting.ts';

export interface PublishSite extends SiteFiles {
  site: SiteName;
  /** Default: those of the site. */
  settings?: SiteSettings;
  origin: SiteOrigin | null;
  /** Who publishes, for what the report may tell. */
  reader: Principal;
  /** Check, and store nothing. */
  dryRun?: boolean;
  /** Why Stele publishes by itself. */
  followed?: string;
  author: Author;
}

/** How publishing a site ended. Only `published` changed anything. */
export type SitePublished =
  | (Appended & { report: Report; rendered: number })
  | { outcome: 'rejected'; report: Report }
  | { outcome: 'checked'; report: Report };

type Appended = { outcome: 'published' | 'unchanged'; site: DocumentationSite; deployment: Deployment };

const attempts = 5;

/**
 * Renders and checks a site's files and publishes them. The bytes are stored first; then one entry
 * of the log appends the deployment and makes it the one that is served. Pages whose bytes did not
 * change are not rendered again. The same files again change nothing.
 */
export function publishSite(registry: Registry, request: PublishSite): Promise<SitePublished> {
  return untilAppended(() => publishOnce(registry, request));
}

/** Works again where another deployment was published meanwhile: then the work answers null. */
async function untilAppended<T>(work: () => Promise<T | null>): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const result = await work();
    if (result !== null) return result;
  }
  const message = 'The site was published by others meanwhile; nothing was changed. Try again.';
  throw conflict(message, { retryAfter: 1 });
}

/** Makes the deployment that publishing a site would add now. Throws `not_found` if there is no such site. */
export async function deploymentFor(
  registry: Registry,
  request: SiteFiles & Pick<PublishSite, 'site' | 'settings' | 'reader'>,
) {
  const stored = await findSite(registry, request.site, { isFresh: true });
  if (stored === null) throw notFound(`${formatSite(request.site)} does not exist. Create it first.`);
  const { value: site } = stored;
  const before = currentOf(site);
  const previous = before && (await readContents(registry, before.manifest));
  const { settings = settingsOf(site) } = request;
  const input = { ...request, org: site.org, settings, blockOn: site.blockOn, previous };
  return { deployment: await makeDeployment(registry, input), site, before, previous };
}

async function publishOnce(registry: Registry, request: PublishSite): Promise<SitePublished | null> {
  const { deployment, before } = await deploymentFor(registry, request);
  const { report, rendered } = deployment;
  if (isBlocking(report)) return { outcome: 'rejected', report };
  if (request.dryRun) return { outcome: 'checked', report };
  const appended = await storeAndAppend(registry, request, deployment, before);
  return appended && { ...appended, report, rendered };
}

/** Null if what is served is not `before` any more. */
async function storeAndAppend(
  registry: Registry,
  { site, origin, author, settings, followed }: Omit<PublishSite, keyof SiteFiles | 'reader'>,
  { built, bundles }: Pick<MadeDeployment, 'built' | 'bundles'>,
  before: Deployment | null,
): Promise<Appended | null> {
  if (before?.manifest === built.digest) {
    const stored = await findSite(registry, site, { isFresh: true });
    return stored && { outcome: 'unchanged', site: stored.value, deployment: before };
  }
  const size = [built.manifest, ...built.pieces, ...bundles].reduce((sum, { byteLength }) => sum + byteLength, 0);
  return withRoom(registry, site.org, async (take) => {
    take({ bytes: size });
    const mend = await storeMendable(registry, async () => {
      await Promise.all(bundles.map((bytes) => registry.objects.put(bytes)));
      await registry.objects.putPack(built.manifest, built.pieces);
    });
    const appended = await append(registry, site, author, before, {
      manifest: built.digest,
      bytes: size,
      origin,
      ...(followed !== undefined && { followed }),
      ...(settings && { settings }),
    });
    if (appended !== null) await mend();
    return appended;
  });
}

async function append(
  registry: Registry,
  site: SiteName,
  author: Author,
  before: Deployment | null,
  {
    settings,
    ...given
  }: Pick<Deployment, 'manifest' | 'bytes' | 'origin' | 'followed' | 'again'> & { settings?: SiteSettings },
): Promise<Appended | null> {
  let deployment: Deployment | null = null;
  const publishedAt = registry.now().toISOString();
  const updated = await updateRecord(registry, siteCoordinate(site), author, null, (current) => {
    deployment = null;
    // A retry finds what its first attempt wrote.
    if (current.current !== (before?.label ?? null)) return null;
    const { id } = current;
    const label = nextLabel(current);
    deployment = { label, ...(id !== undefined && { site: id }), publishedAt, by: author.actor, ...given };
    const next = { ...current, ...settings, deployments: [...current.deployments, deployment], current: label };
    return { next, action: `publish ${label}` };
  });
  return deployment && { outcome: 'published', site: updated.value, deployment };
}

/** The number of a site's next deployment. Those before sites had ids are counted for all that had the name. */
function nextLabel(site: DocumentationSite): string {
  const counted = site.id === undefined ? site.deployments : deploymentsOf(site);
  return String(Math.max(0, ...counted.map(({ label }) => Number(label))) + 1);
}

/** The files that were sent for a site, to publish or to preview. Throws `conflict` if it has those of a repository. */
export async function sentFiles(registry: Registry, site: SiteName): Promise<SiteFiles & { origin: null }> {
  await findEditable(registry, site);
  const drafts = new Map((await listDrafts(registry, site)).map(({ path, file }) => [path, file]));
  return {
    files: [...drafts].map(([path, { digest: source, bundle, at, size }]) => ({
      path,
      source,
      place: { bundle, at, size },
    })),
    read: (paths) =>
      readPlaces(
        registry,
        paths.map((path) => drafts.get(path)!),
      ),
    origin: null,
  };
}

/**
 * Publishes an earlier deployment again, with the same bytes. Throws `not_found` if there is none
 * with this number.
 */
export function publishAgain(registry: Registry, site: SiteName, label: string, author: Author): Promise<Appended> {
  return untilAppended(async () => {
    const stored = await findSite(registry, site, { isFresh: true });
    const earlier = stored && deploymentsOf(stored.value).find((deployment) => deployment.label === label);
    if (!stored || !earlier) throw notFound(`${formatSite(site)} has no deployment ${label}.`);
    const before = currentOf(stored.value);
    if (before?.manifest === earlier.manifest) return { outcome: 'unchanged', site: stored.value, deployment: before };
    const { manifest, origin } = earlier;
    return append(registry, site, author, before, { manifest, origin, again: earlier.again ?? label });
  });
}

/** Milliseconds between two looks for what other processes published. */
const pause = 60_000;
/** Milliseconds after a change of this process: an import publishes many versions at once. */
const soon = 300;
/** A look reads the sites of all organizations. It gets at most this share of the time. */
const share = 0.05;

/** Publishes sites again when what they embed has a new version, or its first, until it is closed. */
export function openFollower(registry: Registry): { close(): Promise<void> } {
  const rounds = openRounds(
    { first: soon, pause, share },
    () => followSites(registry),
    (error) => registry.log('warn', 'sites not followed', { error: String(error) }),
  );
  const unwatch = registry.refs.watch((name) => void (name.startsWith('resources/') && rounds.wake(soon)));
  return {
    close() {
      unwatch();
      return rounds.close();
    },
  };
}

/**
 * Publishes every site again that embeds a newest version which is not the newest any more, or what was not there. It
 * compares what is recorded with what the log says now, so that it may be called at any time and
 * repeated: a change that one call misses is found by the next, and without a change nothing
 * happens. Returns how many sites were published.
 */
export async function followSites(registry: Registry): Promise<number> {
  let published = 0;
  for (const { value: site } of await registry.refs.all<DocumentationSite>('sites/')) {
    if (site.deletedAt !== null) continue;
    try {
      if (await followSite(registry, site)) published++;
    } catch (error) {
      registry.log('warn', 'site not followed', { site: siteRef(site), error: String(error) });
    }
  }
  return published;
}

/** False if nothing moved, or something else was published meanwhile. */
async function followSite(registry: Registry, site: DocumentationSite): Promise<boolean> {
  const { org } = site;
  const deployment = currentOf(site);
  if (deployment === null) return false;
  const contents = await readContents(registry, deployment.manifest);
  const reader = { kind: 'key', id: 'follow', org, scopes: ['read'], resources: null } as const;
  const embeds = { ...contents.embeds };
  const moved: string[] = [];
  const named = Object.values(contents.pages).flatMap(({ facts }) => facts.embeds.map(({ coordinate }) => coordinate));
  for (const coordinate of new Set(named)) {
    const embed = own(contents.embeds, coordinate);
    if (embed?.follows === false) continue;
    // Who sent the files could perhaps not read it, and sees what is published.
    const by = embed === undefined && deployment.origin === null ? anonymous : reader;
    // An embed that cannot be read now stays as it is: readers do not see it.
    const resolved = await resolveEmbed(registry, by, coordinate);
    if (resolved === null || resolved.embedded.manifest === embed?.manifest) continue;
    embeds[coordinate] = resolved.embedded;
    moved.push(`${coordinate} is ${resolved.embedded.label}`);
  }
  if (moved.length === 0) return false;
  const report = await readObject(registry, contents.report, deployment.manifest);
  const built = buildDeployment({ ...contents, embeds }, report);
  const followed = `${moved.join(', ')}.`.slice(0, 500);
  const request = { site, origin: deployment.origin, author: { actor: `follow:${org}`, origin: null }, followed };
  const appended = await storeAndAppend(registry, request, { built, bundles: [] }, deployment);
  return appended?.outcome === 'published';
}
