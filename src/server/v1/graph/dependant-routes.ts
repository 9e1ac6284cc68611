import { listUsers, userName, type User } from '../../../registry/graph/users.ts';
import type { ResourceCall, ResourceHandler } from '../call.ts';
import { isText, positionOf, sendPage } from '../list-pages.ts';

export const listAll: ResourceHandler = async (call) => {
  const after = positionOf(call, isText);
  const all = await dependantsFor(call);
  const start = after === null ? 0 : all.findIndex((each) => placeOf(each) === after) + 1;
  return sendPage(call, all.slice(start), dependantRecord, placeOf);
};

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

/** What tells one from the others of a list. */
export function placeOf(user: User): string {
  const { range, how, digest } = user.uses;
  const pinned = 'resource' in user ? '' : `${user.org} ${user.reportedAt ?? ''} ${digest} `;
  return `${pinned}${userName(user)} ${range} ${how}`;
}
