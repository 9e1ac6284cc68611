import { Command, Option } from 'commander';
import { malformed, unavailable } from '../model/errors.ts';
import type { Precompressed } from '../site/build/build-items.ts';
import type { Built } from '../site/build/build.ts';
import { edgeHosts, type EdgeHost, plainHostLimits } from '../site/build/rules-edge.ts';
import { withStore, type CommonOptions } from './command-context.ts';
import { complain, print, printJson, withProgressUnless } from './output.ts';

interface BuildCommandOptions {
  out: string;
  base?: string;
  fresh?: boolean;
  precompressed?: Precompressed;
  host?: EdgeHost;
}

/** `stele build --out DIR`: writes everything public as plain files, for any static host. */
export function buildCommand(): Command {
  return new Command('build')
    .description('Write all public content as static files, with rules for nginx.')
    .requiredOption('--out <folder>', 'output folder: new, empty, or an earlier build')
    .option('--base <path>', 'path that the files are served under (default: the path of `url` in the configuration)')
    .addOption(
      new Option(
        '--precompressed <codings>',
        'compressed files beside each file: none, gzip, or all (gzip, br and zstd)',
      ).choices(['none', 'gzip', 'all']),
    )
    .addOption(
      new Option(
        '--host <host>',
        'adds a function that answers there as the registry does; no compressed files by default',
      ).choices(edgeHosts),
    )
    .option('--fresh', 'rebuild everything, even what has not changed')
    .action(async (_options: unknown, command: Command) => {
      const {
        out,
        base,
        host,
        precompressed = host === undefined ? 'all' : 'none',
        fresh = false,
        json = false,
      } = command.optsWithGlobals<CommonOptions & BuildCommandOptions>();
      const built = await withStore(command, async (registry) => {
        const url = publicUrl(registry.config.url, base, json);
        const { buildSite } = await import('../site/build/build.ts');
        return untilStopped((signal) =>
          withProgressUnless(json, 'Building', (say) =>
            buildSite(registry, {
              out,
              url,
              async openAnswers(snapshot, site) {
                // A build without changes does not need the server.
                const { openAnswers } = await import('../server/app.ts');
                const { createSyncQueue } = await import('../sync/queue.ts');
                const { createPulls } = await import('../pulls/pulls.ts');
                return openAnswers(snapshot, site, createSyncQueue(snapshot, createPulls));
              },
              program: `${command.parent?.version()}`,
              precompressed,
              host: host ?? null,
              isFresh: fresh,
              say,
              signal,
            }),
          ),
        );
      });
      printBuilt(built, out, json);
    });
}

/** Returns the public URL of the files. Feeds, sitemaps and canonical links need absolute URLs. */
function publicUrl(url: string | null, base: string | undefined, json: boolean): string {
  if (url === null && !json)
    complain(
      'The configuration has no `url`: absolute URLs in feeds, sitemap and llms.txt start with http://localhost.',
    );
  const whole = new URL(url ?? 'http://localhost');
  const path = base ?? whole.pathname;
  // Before it is in a URL, which resolves dots and drops line breaks.
  if (!/^[A-Za-z0-9/._~-]{0,500}$/.test(path) || /\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(path))
    throw malformed(`${JSON.stringify(base ?? url)} is not a valid base path. Use a path such as /docs.`);
  whole.pathname = path;
  return whole.href.replace(/\/$/, '');
}

async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(unavailable('Stopped. The previous build is unchanged.'));
  process.on('SIGTERM', stop).on('SIGINT', stop);
  try {
    return await work(stopping.signal);
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
  }
}

function printBuilt(built: Built, out: string, json: boolean): void {
  if (json) return printJson(built);
  const { outcome, resources, files, bytes, made } = built;
  const size = `${files} files (${bytes} bytes) of ${resources} resources`;
  if (outcome === 'built') {
    complain(
      'With the generated rules (/docs/static-build), a web server responds as this registry does. Without them:',
    );
    for (const limit of plainHostLimits) complain(`  ${limit}`);
  }
  print(outcome === 'unchanged' ? `${out}: unchanged, ${size}` : `${out}: ${size}, ${made} written`);
}
