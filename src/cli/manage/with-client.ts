import type { Command } from 'commander';
import { isSlug } from '../../model/address.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { OpenRegistry } from '../../open.ts';
import { operator, withRegistry, withStore } from '../command-context.ts';
import { askingWith, openRegistryAt, type Client } from '../registry-client.ts';

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
  if (org === null) throw new RegistryError('malformed', 'Set --org to the organization.');
  if (!makesStore) return withStore(command, (opened) => workHere(opened, org, work));
  return withRegistry(command, async (opened) => {
    const { assertOrganizationExists } = await import('../../registry/maintenance/organizations.ts');
    if (isSlug(org)) await assertOrganizationExists(opened, org);
    return workHere(opened, org, work);
  });
}

/** Runs the work with the management API of an open registry, without a server, and the syncs that it asks for. */
export async function workHere<T>(
  registry: OpenRegistry,
  org: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const [
    { createOperations },
    { createRoutes, matchRoute, ownDescription },
    { createSyncQueue },
    { createPulls },
    { digestOf },
    { nothingHere },
  ] = await Promise.all([
    import('../../server/v1/operations.ts'),
    import('../../server/v1/api-description.ts'),
    import('../../sync/queue.ts'),
    import('../../pulls/pulls.ts'),
    import('../../model/digest.ts'),
    import('../../server/error-answers.ts'),
  ]);
  const queue = createSyncQueue(registry, createPulls);
  const url = registry.config.url ?? '';
  const operations = createOperations({ registry, queue, url, isReady: () => true });
  const table = createRoutes(ownDescription().operations);
  const client = askingWith(org, async (method, target, body) => {
    const [path, query] = target.split('?') as [string, string?];
    const { route, values } = matchRoute(table, path)!;
    const isFile = body instanceof Uint8Array;
    const bytes = isFile ? Buffer.from(body) : Buffer.from(JSON.stringify(body ?? null));
    const asker = {
      principal: { kind: 'operator', id: operator.actor.slice('operator:'.length) },
      org,
      address: operator.origin,
      secret: '',
      subject: `${method} ${target}`,
      ifMatch: undefined,
      closed: () => new AbortController().signal,
    } as const;
    const answer = await operations
      .perform(route.operations.get(method.toLowerCase())!, asker, {
        path: values,
        query: new Map(new URLSearchParams(query)),
        headers: new Map(),
        readBody: async () => {
          if (body === undefined) return null;
          const value = isFile ? null : (JSON.parse(bytes.toString()) as { document?: string });
          const document = isFile ? bytes : value?.document === undefined ? null : Buffer.from(value.document);
          return { value, document, digest: digestOf(bytes), size: bytes.byteLength };
        },
      })
      .catch((error: unknown) => {
        // The operator may read everything, so it is not there.
        if (!isRegistryError(error, 'not_found') || error.message !== nothingHere) throw error;
        throw new RegistryError(
          'not_found',
          `The data folder has no ${path.split('/').slice(2, 4).join('/')} of ${org}.`,
        );
      });
    return (answer.body ?? {}) as Record<string, unknown>;
  });
  try {
    const done = await work(client);
    await queue.settled();
    return done;
  } finally {
    await queue.close();
  }
}
