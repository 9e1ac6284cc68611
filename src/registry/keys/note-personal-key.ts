import { personRef, type Person } from '../../model/keys/person.ts';
import type { Key } from '../../model/keys/key.ts';
import type { Author, Registry } from '../registry.ts';
import { rightsOf } from './people.ts';

/**
 * Notes in the log of each organization in which a person's key allows something what was done to
 * it: its administrators find that in their audit. Repeating it notes nothing again.
 */
export async function notePersonalKey(
  { config, refs }: Pick<Registry, 'config' | 'refs'>,
  { id, person: actor, organizations = null, revokedAt }: Key,
  change: Author & { action: string },
): Promise<void> {
  const person = config.login && actor && (await refs.read<Person>(personRef(actor)))?.value;
  if (!person) return;
  for (const org of Object.keys(await rightsOf({ config, refs }, person))) {
    if (!(organizations?.includes(org) ?? true)) continue;
    await refs.update<{ revokedAt: string | null }>(`personal-keys/${org}/${id}`, (current) =>
      current !== null && current.value.revokedAt === revokedAt ? null : { value: { revokedAt }, change },
    );
  }
}
