import { RegistryError } from '../../model/errors.ts';
import type { Coordinate } from '../../model/address.ts';
import {
  changeResource,
  withPin,
  type ResourceChange,
  createResource,
  type NewResource,
  assertUnattached,
} from '../../registry/change-resource.ts';
import { deleteRecord, isRestorable, restoreRecord } from '../../registry/lives.ts';
import { findReadable, readableResources, readReadable } from '../../registry/readable.ts';
import { showReport } from '../../registry/gate/show-report.ts';
import { readJson } from '../../registry/stored.ts';
import { findRejected } from '../../sync/owners/describe-followed.ts';
import { gateKeys } from '../../model/gate.ts';
import type { Report } from '../../model/problem.ts';
import { orAbsent } from '../error-answers.ts';
import { resolveRuleset } from '../../registry/gate/ruleset-gate.ts';
import { resourceRef, type Resource, findVersion } from '../../model/resource.ts';
import { findForCall, requireAttachable, requireScope, requireScopeToMake, requireToMove } from './require-scope.ts';
import {
  answerRecord,
  bodyOf,
  etagOf,
  guardOf,
  matchesQuery,
  sendPage,
  type Answer,
  type ResourceCall,
  operationsAbout,
  sendList,
} from './call.ts';
import { dependantsFor, firstRecords } from './dependant-routes.ts';
import { resourceRecord, versionRecord } from './resource-records.ts';
import { siteRecord } from '../../sites/v1/site-routes.ts';
import { assertReplacement, changeStatus, foreseeStatus, type NewStatus } from '../../registry/change-version.ts';

/** Settings that decide which documents pass. They need the scope `admin`. */
const gates = ['ruleset', 'validation', ...gateKeys] as const;

export const resourceOperations = {
  ...operationsAbout('itself', {
    async 'list{many}'(call) {
      const { registry, principal, org, type, context } = call;
      const isDeleted = call.query['deleted'] === true;
      return sendPage(call, (after) => readableResources(registry, principal, org, type!, after, isDeleted), {
        isShown: ({ value }) =>
          (!isDeleted || isRestorable(value, registry.now())) && matchesQuery(call, value.name, value.slug),
        describe: (found) => resourceRecord(context.url, found),
        keyOf: ({ value }) => value.slug,
      });
    },

    async 'create{one}'(call) {
      const { registry, org, author, context } = call;
      const { slug, ...given } = bodyOf<NewResource & { slug: string }>(call);
      const coordinate: Coordinate = { org, type: call.type!, slug };
      const isGate = gates.some((name) => (given[name] ?? null) !== null);
      requireScopeToMake(call, isGate ? 'admin' : 'publish', coordinate);
      requireAttachable(call, given.ruleset);
      await resolveRuleset(registry, org, given.ruleset ?? null);
      await createResource(registry, coordinate, given, author);
      const stored = await registry.refs.read<Resource>(resourceRef(coordinate));
      if (stored === null)
        throw new RegistryError(
          'outcome_unknown',
          'The resource was created but cannot be read back. Read it again later.',
        );
      const location = `${context.url}/v1/${coordinate.type}/${slug}`;
      const headers = { Location: location, ETag: etagOf(stored.generation) };
      return { status: 201, headers, body: resourceRecord(context.url, stored) };
    },

    async 'get{one}'(call) {
      const { registry, principal, org, type, path, context } = call;
      const coordinate: Coordinate = { org, type: type!, slug: Object.values(path)[0]! };
      const found = await findReadable(registry, principal, coordinate);
      if (found !== null) return answerRecord(resourceRecord(context.url, found), found.generation);
      const rejected = orAbsent(await findRejected(registry, principal, coordinate));
      const { resource, report: digest, ...why } = rejected;
      const report = digest && (await showReport(registry, principal, await readJson<Report>(registry, digest)));
      const record = resourceRecord(context.url, { value: resource, at: resource.createdAt });
      return { status: 200, body: { ...record, state: 'rejected', rejected: { ...why, report } } };
    },
  }),
  ...operationsAbout('resource', {
    async 'update{one}'(call) {
      const { registry, coordinate, author, context } = call;
      const change = bodyOf<ResourceChange>(call);
      const isAdmins = [...gates, 'visibility' as const].some((name) => change[name] !== undefined);
      if (isAdmins) requireScope(call, 'admin');
      if (change.ruleset !== call.found.value.ruleset) requireAttachable(call, change.ruleset);
      const guard = await requireToMove(call, (current) => withPin(current, change));
      const changed = await changeResource(registry, coordinate, change, author, guard);
      return answerRecord(resourceRecord(context.url, changed), changed.generation);
    },

    async 'delete{one}'(call) {
      const { registry, principal, coordinate, author, query } = call;
      if (query['force'] !== true) await assertUnattached(registry, principal, coordinate);
      if (query['dryRun'] === true) {
        guardOf(call)(call.found);
        return { status: 200, body: { dryRun: true, dependants: firstRecords(await dependantsFor(call)) } };
      }
      await deleteRecord(registry, coordinate, author, guardOf(call));
      return { status: 204 };
    },

    async 'list{one}Versions'(call) {
      const { found, context } = call;
      return sendList(call, found.value.versions.toReversed(), {
        isShown: ({ label }) => matchesQuery(call, label),
        describe: (version) => versionRecord(context.url, found.value, version),
        keyOf: ({ label }) => label,
      });
    },

    async 'get{one}Version'({ found, path, context }) {
      const version = orAbsent(findVersion(found.value, path['version']!));
      return answerRecord(versionRecord(context.url, found.value, version), found.generation);
    },

    async 'update{one}Version'(call) {
      const { registry, coordinate, path, author, context, found, principal } = call;
      const { since: _, ...status } = bodyOf<{ status: NewStatus & { since?: string } }>(call).status;
      if (status.state === 'withdrawn') requireScope(call, 'admin');
      await assertReplacement(registry, principal, found.value, path['version']!, status);
      const label = path['version']!;
      const guard = await requireToMove(call, (current) => foreseeStatus(registry, current, label, status).next);
      if (call.query['dryRun'] === true) return foresee(call, status);
      const { generation, version } = await changeStatus(registry, coordinate, label, status, author, guard);
      return answerRecord(versionRecord(context.url, generation.value, version), generation.generation);
    },
  }),
};

/** Those of resources and sites. */
export const undeleteOperations = operationsAbout('itself', {
  /** Brings a resource or a site back. What the asker may not read looks as if it had never been. */
  async 'undelete{one}'(call) {
    const { coordinate } = await findForCall(call, readReadable);
    requireScopeToMake(call, 'admin', coordinate);
    const restored = await restoreRecord(call.registry, coordinate, call.author);
    const { value, ...rest } = restored;
    const { url } = call.context;
    const body =
      'versions' in value && 'latest' in value
        ? resourceRecord(url, { ...rest, value })
        : siteRecord(url, { ...rest, value });
    return answerRecord(body, restored.generation);
  },
});

/** The answer that changing a version's status would give, and whom the change would affect. */
async function foresee(call: ResourceCall, status: NewStatus): Promise<Answer> {
  const { found, context, path, registry } = call;
  guardOf(call)(found);
  const { next, version } = foreseeStatus(registry, found.value, path['version']!, status);
  const dependants = (await dependantsFor(call)).filter(({ uses }) => uses.version === version.label);
  const body = { ...versionRecord(context.url, next, version), dryRun: true, dependants: firstRecords(dependants) };
  return answerRecord(body, found.generation);
}
