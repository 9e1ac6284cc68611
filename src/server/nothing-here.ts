import type { Selector } from '../model/address.ts';
import { isPublished, nameOf, type Resource } from '../model/resource.ts';

/** What is said of everything that is absent, and of everything that is private: nobody can tell which. */
export const nothingHere =
  'Nothing exists here, or you have no access. If you expected something, send a key (Authorization: Bearer <key>) or sign in.';

/** Why a resource that may be read has no such version. */
export function explainAbsence(resource: Resource, selector: Selector): string {
  const name = nameOf(resource);
  if (selector.kind === 'latest') {
    if (resource.versions.length === 0) return `${name} has no versions yet.`;
    if (!isPublished(resource)) return `All versions of ${name} were withdrawn.`;
    return `No version of ${name} is the latest. Request a version; ${name}/versions lists them.`;
  }
  return `${name} has no version ${selector.kind === 'digest' ? selector.digest : selector.version}.`;
}
