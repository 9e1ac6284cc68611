import type { Selector } from '../model/address.ts';
import { isPublished, nameOf, type Resource } from '../model/resource.ts';

/** The message for everything that is absent or private, so that clients cannot tell which. */
export const nothingHere =
  'Nothing exists here, or you have no access. If you expected something, send a key (Authorization: Bearer <key>) or sign in.';

/** Why a readable resource does not have such a version. */
export function explainAbsence(resource: Resource, selector: Selector): string {
  const name = nameOf(resource);
  if (selector.kind === 'latest') {
    if (resource.versions.length === 0) return `${name} has no versions yet.`;
    if (!isPublished(resource)) return `All versions of ${name} were withdrawn.`;
    return `No version of ${name} is the latest. Request a version; ${name}/versions lists them.`;
  }
  return `${name} has no version ${selector.kind === 'digest' ? selector.digest : selector.version}.`;
}
