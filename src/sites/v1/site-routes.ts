import { RegistryError } from '../../model/errors.ts';
import { describeBlocking } from '../../model/problem.ts';
import { deploymentsOf, siteCoordinate } from '../model/documentation-site.ts';
import { listReadableSites } from '../../registry/readable.ts';
import { publishAgain, publishDrafts } from '../registry/publish-site.ts';
import { previewDrafts } from '../registry/site-preview.ts';
import { deleteRecord, isRestorable } from '../../registry/lives.ts';
import { changeSite, createSiteRecord, type SiteChange } from '../registry/site-record.ts';
import { nothingHere } from '../../server/nothing-here.ts';
import { bodyOf, type Handler, type SiteHandler } from '../../server/v1/call.ts';
import { etagOf, guardOf } from '../../server/v1/conditional.ts';
import { isText, matchesQuery, positionOf, sendPage } from '../../server/v1/list-pages.ts';
import { requireScope, requireScopeToMake } from '../../server/v1/require-scope.ts';
import { deploymentRecord, siteRecord } from './site-records.ts';

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
  const { registry, org, author, context } = call;
  const { slug, name = slug, title = name, ...given } = bodyOf<SiteChange & { name?: string; slug: string }>(call);
  const site = siteCoordinate({ org, slug });
  requireScopeToMake(call, 'publish', site);
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
  if (change.visibility !== undefined) requireScope(call, 'admin');
  const changed = await changeSite(call.registry, call.coordinate, change, call.author, guardOf(call));
  return { status: 200, headers: { ETag: etagOf(changed.generation) }, body: siteRecord(call.context.url, changed) };
};

export const deleteSite: SiteHandler = async (call) => {
  await deleteRecord(call.registry, call.coordinate, call.author, guardOf(call));
  return { status: 204 };
};

export const deploySite: SiteHandler = async (call) => {
  const { registry, coordinate: site, author, principal } = call;
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
  const { registry, coordinate: site, principal, author, context } = call;
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
