import { Command } from 'commander';
import { countText } from '../model/problem.ts';
import type { SkipReason } from '../model/owner.ts';
import type { FollowedOwner, FollowedRepository } from '../sync/owners/describe-followed.ts';
import { withRegistryToRead, type CommonOptions } from './command-context.ts';
import { complain, print, printJson } from './output.ts';
import { openRegistryAt } from './registry-client.ts';

interface Followed {
  repositories: FollowedRepository[];
  owners: FollowedOwner[];
}

/** `stele repositories`: what is followed, how it stands, and what was found among the repositories of owners. */
export function repositoriesCommand(): Command {
  return new Command('repositories')
    .description('List the followed repositories with their states.')
    .option('--org <name>', 'only this organization')
    .option('--registry <url>', 'URL of a running registry; uses the key in STELE_KEY')
    .action(async (_options: unknown, command: Command) => {
      const { org, registry, json } = command.optsWithGlobals<CommonOptions & { org?: string; registry?: string }>();
      const followed = registry === undefined ? await readLocally(command, org) : await readRemotely(registry, org);
      if (json) printJson(followed);
      else printFollowed(followed);
    });
}

function readLocally(command: Command, only: string | undefined): Promise<Followed> {
  return withRegistryToRead(command, async (registry) => {
    const { describeOwners, describeRepositories } = await import('../sync/owners/describe-followed.ts');
    const { listRepositories } = await import('../sync/follow.ts');
    const { ownersIn } = await import('../sync/owners/owners.ts');
    const organizations = [...ownersIn(registry), ...(await listRepositories(registry))].map(({ org }) => org);
    const orgs = [...new Set(organizations)].filter((org) => only === undefined || org === only).sort();
    const repositories = await Promise.all(orgs.map((org) => describeRepositories(registry, org)));
    const owners = await Promise.all(orgs.map((org) => describeOwners(registry, org)));
    return { repositories: repositories.flat(), owners: owners.flat() };
  });
}

async function readRemotely(url: string, org: string | undefined): Promise<Followed> {
  const registry = await openRegistryAt(url, org ?? null);
  const repositories = await Array.fromAsync(registry.demandAll<FollowedRepository>('/v1/repositories?'));
  const { items } = await registry.demand('GET', '/v1/owners');
  return { repositories, owners: items as FollowedOwner[] };
}

const words: Record<SkipReason, string> = {
  archived: 'archived',
  fork: 'forked',
  excluded: 'excluded',
  configured: 'with an entry of its own',
};

/** `7 documents`, `6 of 7 documents, 1 rejected, uses 2 contracts` */
function describeDocuments({ documents: { published, rejected }, contracts }: FollowedRepository): string {
  const all = countText(published + rejected, 'document');
  const uses = contracts > 0 ? `, uses ${countText(contracts, 'contract')}` : '';
  return (rejected === 0 ? all : `${published} of ${all}, ${rejected} rejected`) + uses;
}

function printFollowed({ repositories, owners }: Followed): void {
  for (const followed of repositories) {
    const { repository, branch, state, detail, rejected } = followed;
    const where = branch === null ? repository : `${repository} ${branch}`;
    print(`${state} ${where} (${describeDocuments(followed)})${detail === null ? '' : `: ${detail}`}`);
    for (const { outcome, resource, detail: why } of rejected)
      print(`  ${outcome} ${resource}${why === null ? '' : `: ${why}`}`);
  }
  for (const { host, pattern, followed, skipped, detail } of owners) {
    const reasons = Map.groupBy(skipped, ({ reason }) => reason);
    const left = [...reasons].map(([reason, names]) => `${names.length} ${words[reason]}`).join(', ');
    const rest = left === '' ? '' : `, not followed: ${left}`;
    complain(`${host} ${pattern}: ${followed} followed${rest}${detail === null ? '' : `. ${detail}`}`);
  }
  if (repositories.length === 0 && owners.length === 0)
    complain('No repositories are followed. Add one to registry.config.ts, or pass it to stele serve.');
}
