import { RegistryError } from '../../model/errors.ts';
import { findVersion } from '../../model/resource.ts';
import { assertReplacement, changeStatus, foreseeStatus, type NewStatus } from '../../registry/change-version.ts';
import { nothingHere } from '../nothing-here.ts';
import { requireScope, requireToMove } from './require-scope.ts';
import { bodyOf, type Answer, type ResourceCall, type ResourceHandler } from './call.ts';
import { dependantsFor, firstRecords } from './graph/dependant-routes.ts';
import { etagOf, guardOf } from './conditional.ts';
import { isText, matchesQuery, positionOf, sendPage } from './list-pages.ts';
import { versionRecord } from './resource-records.ts';

export const listVersions: ResourceHandler = async (call) => {
  const { found, context } = call;
  const after = positionOf(call, isText);
  const newestFirst = found.value.versions.toReversed();
  const start = after === null ? 0 : newestFirst.findIndex(({ label }) => label === after) + 1;
  const matching = newestFirst.slice(start).filter(({ label }) => matchesQuery(call, label));
  return sendPage(
    call,
    matching,
    (version) => versionRecord(context.url, found.value, version),
    ({ label }) => label,
  );
};

export const getVersion: ResourceHandler = async ({ found, path, context }) => {
  const version = findVersion(found.value, path['version']!);
  if (version === null) throw new RegistryError('not_found', nothingHere);
  const body = versionRecord(context.url, found.value, version);
  return { status: 200, headers: { ETag: etagOf(found.generation) }, body };
};

export const updateVersion: ResourceHandler = async (call) => {
  const { registry, coordinate, path, author, context, found, principal } = call;
  const { since: _, ...status } = bodyOf<{ status: NewStatus & { since?: string } }>(call).status;
  if (status.state === 'withdrawn') requireScope(call, 'admin');
  await assertReplacement(registry, principal, found.value, path['version']!, status);
  const label = path['version']!;
  const guard = await requireToMove(
    call,
    (current) => foreseeStatus(registry, current, coordinate, label, status).next,
  );
  if (call.query['dryRun'] === true) return foresee(call, status);
  const { generation, version } = await changeStatus(registry, coordinate, label, status, author, guard);
  const body = versionRecord(context.url, generation.value, version);
  return { status: 200, headers: { ETag: etagOf(generation.generation) }, body };
};

/** The answer that changing a version's status would give, and whom the change would affect. */
async function foresee(call: ResourceCall, status: NewStatus): Promise<Answer> {
  const { found, context, coordinate, path, registry } = call;
  guardOf(call)(found);
  const { next, version } = foreseeStatus(registry, found.value, coordinate, path['version']!, status);
  const dependants = (await dependantsFor(call)).filter(({ uses }) => uses.version === version.label);
  const body = { ...versionRecord(context.url, next, version), dryRun: true, dependants: firstRecords(dependants) };
  return { status: 200, headers: { ETag: etagOf(found.generation) }, body };
}
