import { resourceTypes } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';
import type { Answer, CallAbout, Handler, PublishHandler, ResourceHandler, SiteHandler } from './call.ts';
import type { Name } from '../../registry/lives.ts';
import * as approvals from './approval-routes.ts';
import * as dependants from './dependant-routes.ts';
import * as keys from './key-routes.ts';
import * as organization from './organization-routes.ts';
import * as person from './person-routes.ts';
import { compareOne, publishOne, replayRuleset } from './documents.ts';
import * as repositories from './repository-routes.ts';
import * as resources from './resource-routes.ts';
import * as files from '../../sites/v1/file-routes.ts';
import * as sites from '../../sites/v1/site-routes.ts';
import { getHealth, replayEverything } from './health-route.ts';
import * as webhooks from './webhook-routes.ts';

/**
 * What is authorized before the body is read: a scope for one resource, for the organization, for
 * the part of it in the key's `resources`, or none.
 */
export type Route =
  | { about: 'resource'; answer: (call: CallAbout<Name>) => Promise<Answer> }
  | { about: 'publish'; answer: PublishHandler }
  | { about: 'organization' | 'part' | 'itself'; answer: Handler };

/** Every operation that needs a key, by id, with its handler. The scopes are in the description. */
export const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ...resourceTypes.flatMap((type) => resourceRoutes(types[type].operations)),
  about('replayRuleset', replayRuleset),
  ['listSites', { about: 'itself', answer: sites.listSites }],
  ['createSite', { about: 'itself', answer: sites.createSite }],
  about('getSite', sites.getSite),
  about('updateSite', sites.updateSite),
  about('deleteSite', sites.deleteSite),
  ['undeleteSite', { about: 'itself', answer: resources.undeleteOne }],
  about('deploySite', sites.deploySite),
  about('previewSite', sites.previewDraft),
  about('getDeployment', sites.getDeployment),
  about('listDeployments', sites.listDeployments),
  about('getSiteConnection', sites.getSiteConnection),
  about('connectSite', sites.connectSite),
  about('disconnectSite', repositories.disconnect),
  about('syncSite', sites.siteSyncs.request),
  about('listSiteSyncs', sites.siteSyncs.list),
  about('getSiteSync', sites.siteSyncs.get),
  about('listSitePages', files.listPages),
  about('getSitePage', files.getPage),
  about('putSitePage', files.putPage),
  about('deleteSitePage', files.deletePage),
  about('listSiteFiles', files.listFiles),
  about('getSiteFile', files.getFile),
  about('putSiteFile', files.putFile),
  about('deleteSiteFile', files.deleteFile),
  ['listOrganizations', { about: 'itself', answer: organization.listMine }],
  ['createOrganization', { about: 'itself', answer: organization.createOne }],
  ['listRights', { about: 'organization', answer: organization.listRights }],
  ['createRights', { about: 'organization', answer: organization.createRights }],
  ['deleteRights', { about: 'organization', answer: organization.deleteRights }],
  ['listKeys', { about: 'organization', answer: keys.listAll }],
  ['createKey', { about: 'organization', answer: keys.createOne }],
  ['getKey', { about: 'organization', answer: keys.getOne }],
  ['revokeKey', { about: 'organization', answer: keys.revokeOne }],
  ['updateKey', { about: 'organization', answer: keys.updateOne }],
  ['rotateKey', { about: 'organization', answer: keys.rotate }],
  ['listWebhooks', { about: 'part', answer: webhooks.listAll }],
  ['createWebhook', { about: 'part', answer: webhooks.createOne }],
  ['getWebhook', { about: 'part', answer: webhooks.getOne }],
  ['updateWebhook', { about: 'part', answer: webhooks.updateOne }],
  ['deleteWebhook', { about: 'part', answer: webhooks.deleteOne }],
  ['rotateWebhookSecret', { about: 'part', answer: webhooks.rotate }],
  ['testWebhook', { about: 'part', answer: webhooks.test }],
  ['listDeliveries', { about: 'part', answer: webhooks.listDeliveries }],
  ['redeliverEvent', { about: 'part', answer: webhooks.redeliverOne }],
  ['listRepositories', { about: 'organization', answer: repositories.listRepositories }],
  ['followRepository', { about: 'organization', answer: repositories.followOne }],
  ['getRepository', { about: 'organization', answer: repositories.getRepository }],
  ['unfollowRepository', { about: 'organization', answer: repositories.unfollowOne }],
  ['syncRepository', { about: 'organization', answer: repositories.syncRepository }],
  ['listRepositorySyncs', { about: 'organization', answer: repositories.listRepositorySyncs }],
  ['getRepositorySync', { about: 'organization', answer: repositories.getRepositorySync }],
  ['listOwners', { about: 'organization', answer: repositories.listOwners }],
  ['getOrganization', { about: 'organization', answer: organization.getOrganization }],
  ['updateOrganization', { about: 'organization', answer: organization.updateOrganization }],
  ['getHealth', { about: 'organization', answer: getHealth }],
  ['replayEverything', { about: 'organization', answer: replayEverything }],
  ['listApprovals', { about: 'part', answer: approvals.listAll }],
  ['getApproval', { about: 'part', answer: approvals.getOne }],
  ['decideApproval', { about: 'part', answer: approvals.decideOne }],
  ['listMembers', { about: 'organization', answer: organization.listPeople }],
  ['listConsumers', { about: 'organization', answer: dependants.listAllConsumers }],
  ['reportConsumer', { about: 'organization', answer: dependants.reportOne }],
  ['listAudit', { about: 'organization', answer: organization.listAudit }],
  ['listChanges', { about: 'part', answer: organization.listChanges }],
  ['getLimits', { about: 'itself', answer: organization.getLimits }],
  ['listMyWatches', { about: 'itself', answer: person.listMyWatches }],
  ['createMyWatch', { about: 'itself', answer: person.createMyWatch }],
  ['deleteMyWatch', { about: 'itself', answer: person.deleteMyWatch }],
  ['listMyKeys', { about: 'itself', answer: person.listMyKeys }],
  ['createMyKey', { about: 'itself', answer: person.createMyKey }],
  ['revokeMyKey', { about: 'itself', answer: person.revokeMyKey }],
  ['getDevice', { about: 'itself', answer: person.getDevice }],
  ['decideDevice', { about: 'itself', answer: person.decide }],
  ['getMe', { about: 'itself', answer: organization.getMe }],
]);

/** An operation about one resource or site: its path says which, so its handler gets what it takes. */
function about(id: string, answer: ResourceHandler | SiteHandler): [string, Route] {
  return [id, { about: 'resource', answer: answer as (call: CallAbout<Name>) => Promise<Answer> }];
}

function resourceRoutes({ one, many }: { one: string; many: string }): [string, Route][] {
  const collection: [string, Handler][] = [
    [`list${many}`, resources.listResources],
    [`create${one}`, resources.createOne],
    [`undelete${one}`, resources.undeleteOne],
    [`get${one}`, resources.getOne],
  ];
  const members: [string, ResourceHandler][] = [
    [`update${one}`, resources.updateOne],
    [`delete${one}`, resources.deleteOne],
    [`compare${one}`, compareOne],
    [`list${one}Dependants`, dependants.listAllDependants],
    [`list${one}Versions`, resources.listVersions],
    [`get${one}Version`, resources.getVersion],
    [`update${one}Version`, resources.updateVersion],
    [`get${one}Connection`, repositories.getConnection],
    [`connect${one}`, repositories.connect],
    [`disconnect${one}`, repositories.disconnect],
    [`sync${one}`, repositories.resourceSyncs.request],
    [`list${one}Syncs`, repositories.resourceSyncs.list],
    [`get${one}Sync`, repositories.resourceSyncs.get],
  ];
  return [
    ...collection.map(([id, answer]): [string, Route] => [id, { about: 'itself', answer }]),
    ...members.map(([id, answer]) => about(id, answer)),
    [`publish${one}`, { about: 'publish', answer: publishOne }],
  ];
}
