import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { isSlug } from '../../model/address.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { Mirrored, Remote } from '../../registry/maintenance/mirror-registry.ts';
import type { Registry } from '../../registry/registry.ts';
import { untilAborted } from '../../scheduling/waiting.ts';
import { withRegistry, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';
import { readTarget } from '../registry-client.ts';

interface MirrorCommandOptions extends CommonOptions {
  org: string;
  once?: boolean;
}

/** Seconds for which a request waits for a change, and between two attempts to reach the registry. */
const wait = 25;
const pause = 5;

/** `stele mirror URL`: copies what changes in another registry, until it is stopped. */
export function mirrorCommand(): Command {
  return new Command('mirror')
    .description('Follow another registry: store the same versions here, to read from. Uses the key in STELE_KEY.')
    .argument('<registry>', 'URL of the registry to follow')
    .requiredOption('--org <name>', 'organization of the key, whose resources are mirrored')
    .option('--once', 'copy what has changed, then stop')
    .action(async (url: string, _options: unknown, command: Command) => {
      const { json = false, once = false, org } = command.optsWithGlobals<MirrorCommandOptions>();
      if (!isSlug(org))
        throw new RegistryError('malformed', `${JSON.stringify(org)} is not the name of an organization.`);
      const { base, key } = readTarget(url);
      const { openRemote } = await import('./mirror-client.ts');
      const stopping = new AbortController();
      const stop = (): void => stopping.abort();
      process.once('SIGTERM', stop).once('SIGINT', stop);
      const resources: Mirrored[] = [];
      const onMirrored = (mirrored: Mirrored): void => {
        if (once && json) resources.push(mirrored);
        else if (json) printJson(mirrored);
        else print(describe(mirrored));
        if (mirrored.outcome === 'refused') process.exitCode = 1;
      };
      try {
        const follow = {
          org,
          isOnce: once,
          onMirrored,
          signal: stopping.signal,
          complain: json ? () => undefined : complain,
        };
        await withRegistry(command, (registry) =>
          followRegistry(registry, openRemote(base, key, org, registry.config.limits), follow),
        );
      } finally {
        process.off('SIGTERM', stop).off('SIGINT', stop);
      }
      if (once && json) printJson({ resources });
    });
}

interface Follow {
  org: string;
  isOnce: boolean;
  onMirrored: (mirrored: Mirrored) => void;
  signal: AbortSignal;
  complain: (text: string) => void;
}

/** Mirrors until it is stopped, or has everything. A registry that does not answer is tried again. */
async function followRegistry(registry: Registry, remote: Remote, follow: Follow): Promise<void> {
  const { mirrorChanges } = await import('../../registry/maintenance/mirror-registry.ts');
  const { org, isOnce, onMirrored, signal } = follow;
  while (!signal.aborted) {
    try {
      const changes = mirrorChanges(registry, remote, { org, wait: isOnce ? 0 : wait, onMirrored });
      // Nothing is half done when a request that waits is given up.
      const hasMore = await untilAborted(changes, signal);
      if (isOnce && !hasMore) return;
    } catch (error) {
      if (signal.aborted) return;
      if (isOnce || !isRegistryError(error, 'unreachable')) throw error;
      follow.complain(`${error.message} Trying again in ${pause} seconds.`);
      await delay(pause * 1000, undefined, { signal }).catch(() => undefined);
    }
  }
}

function describe({ resource, outcome, versions, detail }: Mirrored): string {
  const added = versions.length > 0 ? `: ${versions.join(', ')}` : '';
  return `${outcome} ${resource}${added}${detail === null ? '' : `: ${detail}`}`;
}
