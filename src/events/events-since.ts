import type { Repository } from '../model/connection.ts';
import type { Resource } from '../model/resource.ts';
import type { DocumentationSite } from '../sites/model/documentation-site.ts';
import type { Registry } from '../registry/registry.ts';
import type { Generation } from '../store/generations.ts';
import type { Pin } from '../registry/graph/affected.ts';
import { eventsOfPins } from './consumer-events.ts';
import { eventsOfRepository, eventsOfResource, eventsOfSite, type Happened } from './events.ts';

/** The kinds of records whose changes are events. */
export const eventKinds = ['resources', 'repositories', 'sites'] as const;

/**
 * What happened to a record after its generation `from`, and not before `since` (milliseconds since 1970),
 * oldest first; and its newest generation. `url`: public base URL. `pins`: only what affects these consumers of the
 * resource.
 */
export async function eventsSince(
  registry: Registry,
  url: string,
  name: string,
  { from, since, pins = null }: { from: number; since: number; pins?: readonly Pin[] | null },
): Promise<{ happened: Happened[]; newest: number }> {
  const happened: Happened[] = [];
  const between = (before: Generation<unknown> | null, after: Generation<unknown>) =>
    pins === null
      ? eventsBetween(name, url, before, after)
      : eventsOfPins(url, pins, before as Generation<Resource> | null, after as Generation<Resource>).reverse();
  let newest = 0;
  let after: Generation<unknown> | null = null;
  for await (const generation of registry.refs.history<unknown>(name)) {
    newest ||= generation.generation;
    if (after !== null) happened.push(...between(generation, after));
    after = generation;
    if (generation.generation <= from || Date.parse(generation.at) < since) break;
    if (generation.generation === 1) happened.push(...between(null, generation));
  }
  return { happened: happened.reverse(), newest };
}

/** The events between two successive generations of a record, newest first like its history. */
function eventsBetween(
  name: string,
  url: string,
  before: Generation<unknown> | null,
  after: Generation<unknown>,
): Happened[] {
  const events = name.startsWith('resources/')
    ? eventsOfResource(url, before as Generation<Resource> | null, after as Generation<Resource>)
    : name.startsWith('sites/')
      ? eventsOfSite(url, before as Generation<DocumentationSite> | null, after as Generation<DocumentationSite>)
      : eventsOfRepository(url, before as Generation<Repository> | null, after as Generation<Repository>);
  return events.reverse();
}
