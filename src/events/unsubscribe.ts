import { RegistryError } from '../model/errors.ts';
import { deleteWatch } from '../registry/keys/watches.ts';
import type { Registry } from '../registry/registry.ts';
import { openValue, sealValue } from '../registry/seal.ts';

const purpose = 'unsubscribe';

/** The path that ends a watch, whoever has it: it is in each mail, and only there. */
export function unsubscribePath(registry: Registry, actor: string, id: string): string {
  const sealed = sealValue(registry, purpose, { actor, id });
  return `/unsubscribe?token=${Buffer.from(sealed, 'base64').toString('base64url')}`;
}

/** Ends the watch of such a path. One that has ended stays so. Throws `not_found` for a token that is none. */
export async function unsubscribe(registry: Registry, token: string, origin: string | null): Promise<void> {
  const opened = openValue(registry, purpose, Buffer.from(token, 'base64url').toString('base64')) as
    { actor: string; id: string } | undefined;
  if (opened === undefined) throw new RegistryError('not_found', 'This link is not valid. Use the one in the mail.');
  const { actor, id } = opened;
  await deleteWatch(registry, actor, id, { actor, origin }, { isRepeatable: true });
}
