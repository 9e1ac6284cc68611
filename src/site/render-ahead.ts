import { setImmediate as othersTurn } from 'node:timers/promises';
import { findVersion, parseResourceRef, type Resource } from '../model/resource.ts';
import { isShortVersion, renderVersion } from '../registry/derived.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * Renders the latest and the newest version of each resource after its record changed, if that takes
 * long: as the work of its organization, one at a time, so that neither readers nor other
 * organizations wait for it. The page of a short document is made for its first reader. Code that
 * publishes does not know about it. If it fails, the first reader waits for the page.
 */
export function openRenderAhead(registry: Registry) {
  const changed = new Set<string>();
  let running: Promise<void> | null = null;
  let isOpen = true;

  async function renderChanged(): Promise<void> {
    // Lets the publisher's answer go first.
    await othersTurn();
    for (const name of changed) {
      changed.delete(name);
      if (!isOpen) return;
      await renderNewest(registry, name).catch((error: unknown) => {
        registry.log('debug', 'a page was not made ahead', { ref: name, error: String(error) });
      });
    }
  }

  const unwatch = registry.refs.watch((name) => {
    if (parseResourceRef(name) === null) return;
    changed.add(name);
    running ??= renderChanged().finally(() => (running = null));
  });

  return {
    /** Resolves when all that was published until now is rendered. */
    async settled(): Promise<void> {
      while (running !== null) await running;
    },
    async close(): Promise<void> {
      isOpen = false;
      unwatch();
      await running;
    },
  };
}

async function renderNewest(registry: Registry, name: string): Promise<void> {
  const resource = (await registry.refs.read<Resource>(name))?.value ?? null;
  if (resource === null || resource.deletedAt !== null) return;
  const latest = resource.latest === null ? null : findVersion(resource, resource.latest);
  for (const version of new Set([latest, resource.versions.at(-1) ?? null])) {
    if (version === null || version.status.state === 'withdrawn') continue;
    if (!(await isShortVersion(registry, version))) await renderVersion(registry, resource, version, 'publish');
  }
}
