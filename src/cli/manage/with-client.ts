import type { Command } from 'commander';
import { isSlug } from '../../model/address.ts';
import { malformed } from '../../model/errors.ts';
import { withRegistry, withStore } from '../command-context.ts';
import { openRegistryAt, type Client } from '../registry-client.ts';

/**
 * Runs the work with the management API of the registry in `--registry`, with the key in STELE_KEY, or else of
 * the data folder, as its operator. `org` is the organization that the command names; it may be null only with
 * a key, which has one. `makesStore`: makes a data folder that is not there.
 */
export async function withClient<T>(
  command: Command,
  org: string | null,
  work: (client: Client) => Promise<T>,
  { makesStore = false } = {},
): Promise<T> {
  const { registry } = command.optsWithGlobals<{ registry?: string }>();
  if (registry !== undefined) return work(await openRegistryAt(registry, org));
  if (org === null) throw malformed('Set --org to the organization.');
  const { workHere } = await import('./client-here.ts');
  return (makesStore ? withRegistry : withStore)(command, async (opened) => {
    const { assertOrganizationExists } = await import('../../registry/maintenance/organizations.ts');
    if (isSlug(org)) await assertOrganizationExists(opened, org);
    return workHere(opened, org, work);
  });
}
