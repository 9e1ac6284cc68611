import { isAllowed, type Scope } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { describeBlocking } from '../../model/problem.ts';
import { deploymentsOf, type DocumentationSite, type SiteName } from '../model/documentation-site.ts';
import { findReadableSite, listReadableSites, readReadableSite } from '../../registry/readable.ts';
import { publishAgain, publishDrafts } from '../registry/publish-site.ts';
import { previewDrafts } from '../registry/site-preview.ts';
import { isRestorable } from '../../registry/change-resource.ts';
import { changeSite, createSiteRecord, deleteSite, restoreSite, type SiteChange } from '../registry/site-record.ts';
import type { Generation } from '../../store/generations.ts';
import { nothingHere } from '../../server/nothing-here.ts';
import { bodyOf, type Answer, type Call, type Handler } from '../../server/v1/call.ts';
import { etagOf, guardOf } from '../../server/v1/conditional.ts';
import { isText, matchesQuery, positionOf, sendPage } from '../../server/v1/list-pages.ts';
import { deploymentRecord, siteRecord } from './site-records.ts';

/** A call about one documentation site that the key may read. */
export interface SiteCall extends Call {
  site: SiteName;
  found: Generation<DocumentationSite>;
}

export type SiteHandler = (call: SiteCall) => Promise<Answer>;

/** The call about the site in its path. Throws `not_found` if it does not exist or the key may not read it. */
export async function findSiteForCall(call: Call): Promise<SiteCall> {
  const site = { org: call.org, slug: call.path['site']! };
  const stored = await findReadableSite(call.registry, call.principal, site);
  if (stored === null) throw new RegistryError('not_found', nothingHere);
  return { ...call, site, found: stored };
}

/** Throws `forbidden` unless the key has the scope for the site. */
export function requireSiteScope(
  { principal, site }: Pick<SiteCall, 'principal' | 'site'>,
  scope: Scope,
  { visibility }: Partial<DocumentationSite> = {},
): void {
  const resource = { type: 'sites', slug: site.slug, ...(visibility && { visibility }) } as const;
  if (isAllowed(principal, scope, { org: site.org, resource })) return;
  throw new RegistryError('forbidden', `This needs a key with the scope ${scope} for this.`);
}

export const listSites: Handler = async (call) => {
  const { registry, principal, org, context } = call;
  const after = positionOf(call, isText);
  const isDeleted = call.query['deleted'] === true;
  const all = await listReadableSites(registry, principal, org, isDeleted);
  const shown = all.filter(
    ({ value }) =>
      (after === null || value.slug > after) &&
      (!isDeleted || isRestorable(value, registry.now())) &&
      matchesQuery(call, value.title, value.slug),
  );
  return sendPage(
    call,
    shown,
    (found) => siteRecord(context.url, found),
    ({ value }) => value.slug,
  );
};

export const createSite: Handler = async (call) => {
  const { registry, principal, org, author, context } = call;
  const { slug, name = slug, title = name, ...given } = bodyOf<SiteChange & { name?: string; slug: string }>(call);
  const site = { org, slug };
  requireSiteScope({ principal, site }, 'publish');
  const made = await createSiteRecord(registry, site, { ...given, title }, author);
  const headers = { Location: `${context.url}/v1/sites/${slug}`, ETag: etagOf(made.generation) };
  return { status: 201, headers, body: siteRecord(context.url, made) };
};

export const getSite: SiteHandler = async ({ found, context }) => ({
  status: 200,
  headers: { ETag: etagOf(found.generation) },
  body: siteRecord(context.url, found),
});

export const updateSite: SiteHandler = async (call) => {
  const change = bodyOf<SiteChange>(call);
  if (change.visibility !== undefined) requireSiteScope(call, 'admin');
  const changed = await changeSite(call.registry, call.site, change, call.author, guardOf(call));
  return { status: 200, headers: { ETag: etagOf(changed.generation) }, body: siteRecord(call.context.url, changed) };
};

export const removeSite: SiteHandler = async (call) => {
  await deleteSite(call.registry, call.site, call.author, guardOf(call));
  return { status: 204 };
};

/** Brings a site back. What the asker may not read looks as if it had never been. */
export const undeleteSite: Handler = async (call) => {
  const { registry, principal, org, path, author, context } = call;
  const site = { org, slug: path['site']! };
  if ((await readReadableSite(registry, principal, site)) === null) throw new RegistryError('not_found', nothingHere);
  requireSiteScope({ principal, site }, 'admin');
  const restored = await restoreSite(registry, site, author);
  return { status: 200, headers: { ETag: etagOf(restored.generation) }, body: siteRecord(context.url, restored) };
};

export const deploySite: SiteHandler = async (call) => {
  const { registry, site, author, principal } = call;
  const asked: { deployment?: string; dryRun: boolean } = call.body === null ? { dryRun: false } : bodyOf(call);
  const { deployment: earlier, dryRun } = asked;
  if (earlier !== undefined) {
    const { outcome, site: now, deployment } = await publishAgain(registry, site, earlier, author);
    const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
    return {
      status: outcome === 'published' ? 201 : 200,
      body: { outcome, deployment: deploymentRecord(now, deployment), rendered: 0, report },
    };
  }
  const result = await publishDrafts(registry, { site, reader: principal, author, dryRun });
  if (result.outcome === 'rejected') {
    const { problems, counts, truncated } = result.report;
    throw new RegistryError('refused', describeBlocking(result.report).replace('document', 'site'), {
      problems,
      extra: { counts, truncated },
    });
  }
  if (result.outcome === 'checked')
    return { status: 200, body: { outcome: 'checked', deployment: null, rendered: 0, report: result.report } };
  const { outcome, deployment, rendered, report } = result;
  return {
    status: outcome === 'published' ? 201 : 200,
    body: { outcome, deployment: deploymentRecord(result.site, deployment), rendered, report },
  };
};

export const previewDraft: SiteHandler = async (call) => {
  const { registry, site, principal, author, context } = call;
  const preview = await previewDrafts(registry, { site, reader: principal, by: author.actor });
  const { token, expiresAt, rendered, report } = preview;
  return { status: 201, body: { url: `${context.url}/previews/${token}/`, expiresAt, rendered, report } };
};

export const getDeployment: SiteHandler = async ({ found, path }) => {
  const deployment = deploymentsOf(found.value).find(({ label }) => label === path['deployment']);
  if (deployment === undefined) throw new RegistryError('not_found', nothingHere);
  return { status: 200, body: deploymentRecord(found.value, deployment) };
};

export const listDeployments: SiteHandler = async (call) => {
  const before = positionOf(call, isText);
  const all = deploymentsOf(call.found.value).filter(({ label }) => before === null || Number(label) < Number(before));
  return sendPage(
    call,
    all.reverse(),
    (deployment) => deploymentRecord(call.found.value, deployment),
    ({ label }) => label,
  );
};
