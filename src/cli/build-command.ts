import { Command } from 'commander';
import { RegistryError } from '../model/errors.ts';
import { createPulls } from '../pulls/pulls.ts';
import { createSyncQueue } from '../sync/queue.ts';
import { buildSite, type Built } from '../site/build/build.ts';
import { plainHostLimits } from '../site/build/static-limits.ts';
import { withRegistry, type CommonOptions } from './command-context.ts';
import { describeCommands, programOf } from './describe-commands.ts';
import { complain, print, printJson, withProgress } from './output.ts';

interface BuildCommandOptions {
  out: string;
  base?: string;
  fresh?: boolean;
}

/** `stele build --out DIR`: everything public as plain files, for any static host. */
export function buildCommand(): Command {
  return new Command('build')
    .description('Write everything public as plain files, with rules for nginx, Caddy, Netlify and Cloudflare Pages.')
    .requiredOption('--out <folder>', 'where to: a folder that is empty, absent, or an earlier build')
    .option('--base <path>', "path that the files are served under (default: that of the configuration's url)")
    .option('--fresh', 'make everything again, whether it changed or not')
    .action(async (_options: unknown, command: Command) => {
      const { out, base, fresh = false, json = false } = command.optsWithGlobals<CommonOptions & BuildCommandOptions>();
      const built = await withRegistry(command, async (registry) => {
        const url = publicUrl(registry.config.url, base, json);
        return untilStopped((signal) =>
          withProgress('Building', (tell) =>
            buildSite(registry, {
              out,
              url,
              async openAnswers(snapshot, site) {
                // Loading the server takes time, which a build of what has not changed is spared.
                const { openAnswers } = await import('../server/ask-in-process.ts');
                return openAnswers(
                  snapshot,
                  site,
                  createSyncQueue(snapshot, createPulls),
                  describeCommands(programOf(command)),
                );
              },
              program: `${command.parent?.version()}`,
              isFresh: fresh,
              tell,
              signal,
            }),
          ),
        );
      });
      tellBuilt(built, out, json);
    });
}

/** Where the files will be reached. Feeds, sitemaps and canonical links need whole URLs. */
function publicUrl(url: string | null, base: string | undefined, json: boolean): string {
  if (url === null && !json)
    complain('The configuration has no url: whole URLs (feeds, sitemap, llms.txt) begin with http://localhost.');
  const whole = new URL(url ?? 'http://localhost');
  if (base !== undefined) whole.pathname = base;
  if (!/^[A-Za-z0-9/._~-]*$/.test(whole.pathname) || /\/\/|\/\.\.?(?:\/|$)/.test(whole.pathname))
    throw new RegistryError('malformed', `${JSON.stringify(base ?? url)} is no path for files to be under.`);
  return whole.href.replace(/\/$/, '');
}

/** Runs the work until it is done, or ends it, without harm, on SIGINT or SIGTERM. */
async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new RegistryError('unavailable', 'Stopped. What was built before still stands.'));
  process.on('SIGTERM', stop).on('SIGINT', stop);
  try {
    return await work(stopping.signal);
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
  }
}

function tellBuilt(built: Built, out: string, json: boolean): void {
  if (json) return printJson(built);
  const { outcome, resources, files, bytes, made } = built;
  const size = `${files} files (${bytes} bytes) of ${resources} resources`;
  if (outcome === 'built') {
    complain(
      'A web server that reads the rules there (/docs/static-build) answers as this registry does. A host that reads none:',
    );
    for (const limit of plainHostLimits) complain(`  ${limit}`);
  }
  print(outcome === 'unchanged' ? `${out}: nothing has changed, ${size}` : `${out}: ${size}, ${made} made`);
}
