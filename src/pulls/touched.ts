import { formatCoordinate } from '../model/address.ts';
import { documentAt, type Repository } from '../model/connection.ts';
import { fileOf } from '../model/view.ts';
import type { Planned } from '../plan/planned.ts';
import type { Registry } from '../registry/registry.ts';
import { readJson } from '../registry/stored.ts';
import type { Target } from './merged-tree.ts';

/** What decides whether a document is a pull request's business. */
export interface Touching {
  /** The repository as the last sync, or the next one of the target branch, leaves it. */
  standing: Repository;
  /** Whether a sync has read the tip of the target branch. */
  isSynced: boolean;
  /** Paths that the request changes. */
  changed: ReadonlySet<string>;
  /** Blob ids of the target branch by path. */
  targetFiles: ReadonlyMap<string, string>;
  /** The plan of the target branch, when the request may change the plan. */
  target: Target | null;
}

/**
 * Whether a request changes a document: its file, a file that it refers to, or its settings.
 * `maybe`: only compiling it shows which files it refers to.
 */
export async function isTouched(
  registry: Registry,
  { standing, isSynced, changed, targetFiles, target }: Touching,
  document: Planned,
): Promise<'yes' | 'no' | 'maybe'> {
  if (changed.has(fileOf(document)) || isVersionChanged(document, changed)) return 'yes';
  if (target !== null && !target.plan.planned.some((each) => isSamePlan(each, document))) return 'yes';
  const recorded = documentAt(standing, document.path);
  // A document that the target branch has and no sync has read is the business of that sync, unless
  // the request changes a file that it refers to.
  if (recorded?.resource !== formatCoordinate(document.coordinate)) return isSynced ? 'yes' : 'maybe';
  if (recorded.inputs === null) return 'maybe';
  const inputs = Object.entries(await readJson<Record<string, string | null>>(registry, recorded.inputs));
  if (inputs.every(([path, blob]) => (targetFiles.get(path) ?? null) === blob))
    return inputs.some(([path]) => changed.has(path)) ? 'yes' : 'no';
  return 'maybe';
}

function isVersionChanged({ version }: Planned, changed: ReadonlySet<string>): boolean {
  return version.from === 'file' && changed.has(version.path);
}

/** Whether two plans of a document differ only in where `stele.yaml` lists it. */
function isSamePlan(one: Planned, other: Planned): boolean {
  const keyOf = (planned: Planned) => JSON.stringify({ ...planned, listedAt: null });
  return one.path === other.path && keyOf(one) === keyOf(other);
}
