import { own } from '../../model/json.ts';
import { repositoryName, type Run } from '../../model/connection.ts';
import { RegistryError } from '../../model/errors.ts';
import { formatSite, type DocumentationSite, type SiteConnection } from '../model/documentation-site.ts';
import type { Generation } from '../../store/records.ts';
import { repositoryOfSite } from '../sync/connect-site.ts';
import { connectRecord } from '../../sync/connect.ts';
import { bodyOf, type Answer, type SiteCall, type SiteHandler } from '../../server/v1/call.ts';
import { etagOf, guardOf } from '../../server/v1/conditional.ts';
import { assertMaySetSecret, describeFollowed } from '../../server/v1/connection-routes.ts';
import { createSyncRoutes } from '../../server/v1/sync-routes.ts';

type NewSiteConnection = Omit<SiteConnection, 'branch'> & { branch?: string | null; webhookSecret?: string | null };

export const getOne: SiteHandler = (call) => describe(call, call.found);

export const connectOne: SiteHandler = async (call) => {
  const { repository, branch = null, folder, credential = null, webhookSecret } = bodyOf<NewSiteConnection>(call);
  assertMaySetSecret(call, webhookSecret);
  const given = { repository, branch, folder, byHand: true, credential } as const;
  const { registry, coordinate, author } = call;
  return describe(call, await connectRecord(registry, coordinate, given, author, guardOf(call), webhookSecret));
};

/** Its sync runs. */
export const siteSyncs = createSyncRoutes<SiteCall>(({ coordinate: site, found }) => {
  const name = formatSite(site);
  const { connection, createdAt } = found.value;
  // Runs before are those of a deleted site that had the name.
  const isOwn = (document: { site?: string }, { finishedAt }: Run) =>
    document.site === name && (finishedAt === null || finishedAt >= createdAt);
  return { org: site.org, name, runs: `sites/${site.slug}/syncs`, connection, isOwn };
});

async function describe(
  { registry, context, org }: SiteCall,
  { value: site, generation }: Generation<DocumentationSite>,
): Promise<Answer> {
  const { connection } = site;
  if (connection === null) throw new RegistryError('not_found', 'The site has no connection.');
  const { repository, branch, folder, byHand = false, credential = null } = connection;
  const followed = await repositoryOfSite(registry, org, connection);
  const state = own(followed?.value.sites ?? {}, site.slug) ?? null;
  const body = {
    repository: repositoryName(repository),
    branch,
    folder,
    credential,
    settings: byHand ? 'site' : 'stele.yaml',
    ...describeFollowed({ registry, context }, org, connection, followed?.value ?? null, state),
    outcome: state?.outcome ?? null,
    deployment: site.current,
  };
  return { status: 200, headers: { ETag: etagOf(generation, followed?.generation ?? 0) }, body };
}
