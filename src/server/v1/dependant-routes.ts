import { listUsers, userName, type User, listConsumers, reportConsumer } from '../../registry/graph/dependants.ts';
import { type ResourceCall, bodyOf, matchesQuery, operationsAbout, sendList, sendSorted } from './call.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { ReportedContract } from '../../model/dependency.ts';
import { malformed } from '../../model/errors.ts';
import { findReadable } from '../../registry/readable.ts';

export const dependantOperations = operationsAbout('resource', {
  'list{one}Dependants': async (call) =>
    sendList(call, await dependantsFor(call), { describe: dependantRecord, keyOf: placeOfUse }),
});

export const consumerOperations = operationsAbout('organization', {
  async listConsumers(call) {
    const all = await listConsumers(call.registry, call.org);
    return sendSorted(call, all, {
      isShown: ({ name }) => matchesQuery(call, name),
      describe: (consumer) => consumer,
      keyOf: ({ name }) => name,
    });
  },

  async reportConsumer(call) {
    const { registry, principal, org, path, author } = call;
    const { contracts } = bodyOf<{ contracts: ReportedContract[] }>(call);
    for (const { contract, version, digest } of contracts) {
      const named = parseCoordinate(contract);
      const found = named && (await findReadable(registry, principal, named.coordinate));
      const same = found?.value.versions.filter(({ manifest }) => manifest === digest).map(({ label }) => label) ?? [];
      if (same.length > 0 && !same.includes(version))
        throw malformed(
          `The digest of ${contract}@${version} is that of version ${same[0]}. Run stele add again for what was edited by hand in contracts.lock.`,
        );
    }
    return { status: 200, body: await reportConsumer(registry, org, path['consumer']!, contracts, author) };
  },
});

/** Who uses the resource of a call, as far as the asker may read them. */
export function dependantsFor({ registry, principal, found }: ResourceCall): Promise<User[]> {
  return listUsers(registry, principal, found.value);
}

/** The first of them, as described in the API. */
export function firstRecords(dependants: readonly User[]): object[] {
  return dependants.slice(0, 100).map(dependantRecord);
}

/** A dependant as described in the API. */
export function dependantRecord(user: User): object {
  const { coordinate: _, ...uses } = user.uses;
  const { behind } = user;
  if ('resource' in user) return { coordinate: userName(user), version: user.version.label, uses, behind };
  const { org, name, reportedAt } = user;
  return { consumer: { organization: org, name, reportedAt }, uses, behind };
}

/** What tells one from the others of a list, also after a consumer reported again. */
export function placeOfUse(user: User): string {
  const { range, how, digest } = user.uses;
  const pinned = 'resource' in user ? '' : `${user.org} ${user.reportedAt === null} ${digest} `;
  return `${pinned}${userName(user)} ${range} ${how}`;
}
