import type { Grant } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { isUsable } from '../../model/key.ts';
import type { Registry } from '../registry.ts';
import { listKeys } from './list-keys.ts';
import { rightsIn } from './people.ts';

/** Whether a grant administers a whole organization. */
function administers({ scopes, resources }: Grant): boolean {
  return scopes.includes('admin') && resources === null;
}

/**
 * Throws `conflict` if an organization loses its last administrator with these rights, which become `left` (null:
 * nothing). Programs do not count where people have rights, since nobody may know where their keys are.
 */
export async function assertAdministered(
  registry: Registry,
  { org, id, ...before }: Grant & { org: string | null; id: string | null },
  left: Grant | null = null,
): Promise<void> {
  if (org === null || !administers(before) || (left !== null && administers(left))) return;
  const others = (await rightsIn(registry, org)).filter((each) => each.id !== id && administers(each));
  if (others.length > 0) return;
  const keys = (await listKeys(registry, org)).filter((key) => isUsable(key, registry.expiryTime));
  const isKey = keys.some((key) => key.id === id);
  if (isKey && keys.some((key) => key.id !== id && administers(key))) return;
  const message = `Nobody else administers @${org}: afterwards only the operator could give rights in it. Repeat with \`last\` to do it all the same.`;
  throw new RegistryError('conflict', message);
}
