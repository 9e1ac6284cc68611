import { nameOf } from '../../../model/resource.ts';
import { listDependants, type Dependant } from '../../../registry/graph/dependants.ts';
import type { ResourceCall, ResourceHandler } from '../call.ts';
import { isText, positionOf, sendPage } from '../list-pages.ts';

export const listAll: ResourceHandler = async (call) => {
  const after = positionOf(call, isText);
  const all = await dependantsFor(call);
  const start = after === null ? 0 : all.findIndex((each) => placeOf(each) === after) + 1;
  return sendPage(call, all.slice(start), dependantRecord, placeOf);
};

/** Who uses the resource of a call, as far as the asker may read them. */
export function dependantsFor({ registry, principal, found }: ResourceCall): Promise<Dependant[]> {
  return listDependants(registry, principal, found.value);
}

/** The first of them, as described in the API. */
export function firstRecords(dependants: readonly Dependant[]): object[] {
  return dependants.slice(0, 100).map(dependantRecord);
}

/** A dependant as described in the API. */
function dependantRecord({ resource, version, uses, behind }: Dependant): object {
  const { coordinate: _, ...used } = uses;
  return { coordinate: nameOf(resource), version: version.label, uses: used, behind };
}

function placeOf({ resource, uses }: Dependant): string {
  return `${nameOf(resource)} ${uses.range} ${uses.how}`;
}
