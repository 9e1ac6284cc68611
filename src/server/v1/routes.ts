import { resourceTypes } from '../../model/address.ts';
import { operationId, siteWords, types, type OperationWords } from '../../model/kinds.ts';
import { fileOperations, siteOperations, siteSyncs } from '../../sites/v1/site-routes.ts';
import { approvalOperations } from './approval-routes.ts';
import type { Route, Routes } from './call.ts';
import { consumerOperations, dependantOperations } from './dependant-routes.ts';
import { documentOperations, replayOperations } from './documents.ts';
import { healthOperations } from './health-route.ts';
import { keyOperations } from './key-routes.ts';
import { organizationOperations } from './organization-routes.ts';
import { personOperations } from './person-routes.ts';
import {
  connectionOperations,
  disconnectOperations,
  repositoryOperations,
  resourceSyncs,
} from './repository-routes.ts';
import { resourceOperations, undeleteOperations } from './resource-routes.ts';
import { webhookOperations } from './webhook-routes.ts';

const ofResources = {
  ...resourceOperations,
  ...connectionOperations,
  ...resourceSyncs,
  ...dependantOperations,
  ...documentOperations,
};
const ofLives = { ...undeleteOperations, ...disconnectOperations };
const resources = resourceTypes.map((type) => types[type].operations);

/** Every operation that needs a key, by id, with its handler. */
export const routes: ReadonlyMap<string, Route> = new Map([
  ...resources.flatMap((words) => named(ofResources, words)),
  ...[...resources, siteWords].flatMap((words) => named(ofLives, words)),
  ...named(siteSyncs, siteWords),
  ...Object.entries({
    ...replayOperations,
    ...siteOperations,
    ...fileOperations,
    ...organizationOperations,
    ...keyOperations,
    ...webhookOperations,
    ...repositoryOperations,
    ...healthOperations,
    ...approvalOperations,
    ...consumerOperations,
    ...personOperations,
  }),
]);

function named(operations: Routes, words: OperationWords): [string, Route][] {
  return Object.entries(operations).map(([id, route]) => [operationId(id, words), route]);
}
