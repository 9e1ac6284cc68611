import { providersOf } from '../../config/login-config.ts';
import { organizationsOf, type Principal } from '../../model/access.ts';
import { closest, malformed } from '../../model/errors.ts';
import { holdersOfKeys } from '../keys/list-keys.ts';
import type { Registry } from '../registry.ts';

/** The organizations that the configuration names, were created, have a key, or ever had anything else, by name. */
export async function listOrganizations({
  config,
  refs,
  answers,
}: Pick<Registry, 'config' | 'refs' | 'answers'>): Promise<readonly string[]> {
  const list = async (): Promise<string[]> => {
    const granted = providersOf(config.login).flatMap((each) => Object.values(each.organizations ?? {}).flat());
    const named = [...granted, ...config.trustedPublishing].map(({ organization }) => organization);
    const organizations = new Set([...Object.keys(config.organizations), ...named, ...(await holdersOfKeys({ refs }))]);
    // A public snapshot has resources alone.
    for (const prefix of ['rights/', 'resources/', 'logs/@'])
      for await (const name of refs.list(prefix)) organizations.add(name.slice(prefix.length).split('/')[0]!);
    return [...organizations].toSorted();
  };
  return answers.answer('organizations', list, ({ length }) => length * 40);
}

/** Those in which somebody has rights; for whoever runs the registry, all. */
export async function organizationsFor(registry: Registry, principal: Principal): Promise<readonly string[]> {
  return principal.kind === 'operator' ? listOrganizations(registry) : organizationsOf(principal);
}

/**
 * Rejects with `malformed` for an organization that is not there, so that a typo does not create
 * one. In an empty registry, any name may be the first.
 */
export async function assertOrganizationExists(registry: Registry, org: string): Promise<void> {
  const all = await listOrganizations(registry);
  if (all.length === 0 || all.includes(org)) return;
  throw malformed(
    `There is no organization ${org}.${closest(org, all)} To add it, use stele organizations create ${org}.`,
  );
}
