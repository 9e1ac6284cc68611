import { isUrlPath, parseCoordinate } from '../model/address.ts';
import type { DocumentState } from '../model/connection.ts';
import type { Digest } from '../model/digest.ts';
import { decodeJson } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';
import type { Planned } from '../plan/planned.ts';
import { meaningOf } from '../registry/graph/references.ts';
import type { Registry } from '../registry/registry.ts';

/** The files that a document was made from, and what its URLs meant: blob ids and digests. Null: absent. */
export type Inputs = Record<string, string | null>;

/** Reads the inputs that a sync recorded. Null if they are gone. */
export async function readInputs(registry: Registry, digest: Digest): Promise<Inputs | null> {
  const bytes = await registry.objects.get(digest);
  return bytes && decodeJson<Inputs>(bytes);
}

/** What a document refers to by URL, among the files that it was made from. */
export function referencesOf({ visibility }: Planned, inputs: Inputs): Pick<DocumentState, 'references'> {
  const urls = Object.keys(inputs).filter(isUrlPath);
  return urls.length > 0 ? { references: { urls, visibility } } : {};
}

/** Whether a URL that a rejected document refers to means another version than when it was rejected. */
export async function hasReferenceMoved(
  registry: Registry,
  { references, inputs: digest, resource: name }: DocumentState,
  resource: Resource | null,
): Promise<boolean> {
  if (references === undefined || digest === null) return false;
  const inputs = await readInputs(registry, digest);
  const referrer = resource ?? { ...parseCoordinate(name)!.coordinate, visibility: references.visibility };
  for (const url of references.urls) if ((await meaningOf(registry, referrer, url)) !== inputs?.[url]) return true;
  return false;
}
