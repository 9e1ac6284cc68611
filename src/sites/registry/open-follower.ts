import type { Registry } from '../../registry/registry.ts';
import { currentOf, siteRef, type DocumentationSite } from '../model/documentation-site.ts';
import { readContents } from './deployment-contents.ts';
import { publishEmbeds } from './publish-site.ts';
import { resolveEmbed } from './resolve-embeds.ts';

/** Milliseconds between two looks for what other processes published. */
const pause = 60_000;
/** Milliseconds after a change of this process: an import publishes many versions at once. */
const soon = 300;
/** A look reads the sites of all organizations. It gets at most this share of the time. */
const share = 0.05;

/** Publishes sites again when what they embed has a new version, until it is closed. */
export function openFollower(registry: Registry): { close(): Promise<void> } {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  let earliest = 0;

  function plan(milliseconds: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(look, Math.max(milliseconds, earliest - registry.monotonic())).unref();
  }

  function look(): void {
    const begun = registry.monotonic();
    running = running
      .then(() => (isClosed ? 0 : followSites(registry)))
      .catch((error: unknown) => registry.log('warn', 'sites not followed', { error: String(error) }))
      .then(() => {
        const now = registry.monotonic();
        earliest = now + (now - begun) / share;
        if (!isClosed) plan(pause);
      });
  }

  const unwatch = registry.refs.watch((name) => void (name.startsWith('resources/') && !isClosed && plan(soon)));
  plan(soon);
  return {
    async close() {
      isClosed = true;
      unwatch();
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

/**
 * Publishes every site again that embeds a newest version which is not the newest any more. It
 * compares what is recorded with what the log says now, so that it may be called at any time and
 * repeated: a change that one call misses is found by the next, and without a change nothing
 * happens. Returns how many sites were published.
 */
export async function followSites(registry: Registry): Promise<number> {
  let published = 0;
  for await (const name of registry.refs.list('sites/')) {
    const site = (await registry.refs.read<DocumentationSite>(name))?.value;
    if (!site || site.deletedAt !== null) continue;
    try {
      if (await followSite(registry, site)) published++;
    } catch (error) {
      registry.log('warn', 'site not followed', { site: siteRef(site), error: String(error) });
    }
  }
  return published;
}

async function followSite(registry: Registry, site: DocumentationSite): Promise<boolean> {
  const { org } = site;
  const deployment = currentOf(site);
  if (deployment === null) return false;
  const contents = await readContents(registry, deployment.manifest);
  const reader = { kind: 'key', id: 'follow', org, scopes: ['read'], resources: null } as const;
  const embeds = { ...contents.embeds };
  const moved: string[] = [];
  for (const [coordinate, { manifest, follows }] of Object.entries(contents.embeds)) {
    if (!follows) continue;
    // An embed that cannot be read now stays as it is: readers do not see it.
    const resolved = await resolveEmbed(registry, reader, coordinate);
    if (resolved === null || resolved.embedded.manifest === manifest) continue;
    embeds[coordinate] = resolved.embedded;
    moved.push(`${coordinate} is ${resolved.embedded.label}`);
  }
  if (moved.length === 0) return false;
  return publishEmbeds(registry, site, deployment, { ...contents, embeds }, `${moved.join(', ')}.`.slice(0, 500));
}
