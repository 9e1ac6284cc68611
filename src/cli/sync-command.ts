import { Command } from 'commander';
import { repositoryId, type Run } from '../model/connection.ts';
import { RegistryError } from '../model/errors.ts';
import { relinkResource } from '../sync/connect.ts';
import { createPulls } from '../pulls/pulls.ts';
import { createSyncQueue } from '../sync/queue.ts';
import { listRepositories } from '../sync/followed.ts';
import { followConfigured } from '../sync/reconcile.ts';
import type { Registry } from '../registry/registry.ts';
import { findResource } from '../registry/find-resource.ts';
import { operator, requireCoordinate, withRegistry, type CommonOptions } from './command-context.ts';
import { complain, printJson, withProgress } from './output.ts';
import { printRun } from './print-run.ts';
import { syncRemotely } from './remote-registry.ts';

/** `stele sync [coordinate]`: one reconciliation, in the foreground. */
export function syncCommand(): Command {
  return new Command('sync')
    .description('Bring the registry to where its repositories stand now.')
    .argument('[coordinate]', "only this resource's repository")
    .option('--relink', "accept the resource's repository as it is now, after it rewrote its history or was gone")
    .option('--registry <url>', 'ask a running registry over HTTP, with the key in STELE_KEY')
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { registry?: string; relink?: boolean }>();
      if (options.registry !== undefined) {
        if (options.relink)
          throw new RegistryError('malformed', 'Over HTTP, PUT the connection again: that accepts its repository.');
        if (name === undefined)
          throw new RegistryError('malformed', 'Name the resource: a registry is asked for one at a time.');
        return tell([await syncRemotely(options.registry, requireCoordinate(name).coordinate)], options);
      }
      if (options.relink && name === undefined)
        throw new RegistryError('malformed', 'Name the resource whose repository is accepted as it is now.');
      const runs = await withRegistry(command, async (registry) => {
        if (options.relink) await relinkResource(registry, requireCoordinate(name!).coordinate, operator);
        return withProgress('Syncing', () => syncAll(registry, name));
      });
      tell(runs, options);
    });
}

function tell(runs: readonly Run[], { json }: CommonOptions): void {
  if (runs.some(({ state, documents }) => state === 'failed' || documents.some(isRefused))) process.exitCode = 1;
  if (json) return printJson({ runs });
  if (runs.length === 0)
    complain('No repository is followed. Name one in registry.config.ts, or on the command line of stele serve.');
  for (const run of runs) printRun(run);
}

async function syncAll(registry: Registry, name: string | undefined): Promise<Run[]> {
  await followConfigured(registry);
  const queue = createSyncQueue(registry, createPulls);
  const wanted = name === undefined ? await everyRepository(registry) : [await repositoryOf(registry, name)];
  const runs = await Promise.all(wanted.map(async ({ org, id }) => (await queue.request(org, id, 'manual')).done));
  await queue.close();
  return runs;
}

interface Wanted {
  org: string;
  id: string;
}

async function everyRepository(registry: Registry): Promise<Wanted[]> {
  return (await listRepositories(registry)).map(({ org, url, branch }) => ({ org, id: repositoryId(url, branch) }));
}

async function repositoryOf(registry: Registry, name: string): Promise<Wanted> {
  const { coordinate } = requireCoordinate(name);
  const resource = await findResource(registry, coordinate);
  if (!resource?.connection)
    throw new RegistryError('not_found', `${name} is not there or not connected to a repository.`);
  return { org: coordinate.org, id: repositoryId(resource.connection.repository, resource.connection.branch) };
}

function isRefused({ outcome }: Run['documents'][number]): boolean {
  return outcome === 'rejected' || outcome === 'conflict';
}
