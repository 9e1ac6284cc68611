import { digestOf } from '../../model/digest.ts';
import { isRegistryError, notFound } from '../../model/errors.ts';
import type { OpenRegistry } from '../../open.ts';
import { createPulls } from '../../pulls/pulls.ts';
import type { Body } from '../../server/body/read-body.ts';
import { nothingHere } from '../../server/error-answers.ts';
import { createRoutes, matchRoute, ownDescription } from '../../server/v1/api-description.ts';
import { createOperations } from '../../server/v1/operations.ts';
import { createSyncQueue } from '../../sync/queue.ts';
import { operator } from '../command-context.ts';
import { askingWith, type Client } from '../registry-client.ts';

/** Runs the work with the management API of an open registry, without a server, and the syncs that it asks for. */
export async function workHere<T>(
  registry: OpenRegistry,
  org: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const queue = createSyncQueue(registry, createPulls);
  const url = registry.config.url ?? '';
  const operations = createOperations({ registry, queue, url, isReady: () => true });
  const routes = createRoutes(ownDescription().operations);
  const client = askingWith(org, async (method, target, sent) => {
    const [path, query] = target.split('?') as [string, string?];
    const missing = () => {
      const name = path.split('/').slice(2, 4).map(decodeURIComponent).join('/');
      return notFound(`The data folder has no ${name} of ${org}.`);
    };
    const found = matchRoute(routes, path);
    if (found === null) throw missing();
    const { route, values } = found;
    const asker = {
      principal: { kind: 'operator', id: operator.actor.slice('operator:'.length) },
      org,
      address: operator.origin,
      secret: '',
      subject: `${method} ${target}`,
      ifMatch: undefined,
      closed: () => new AbortController().signal,
    } as const;
    const asked = {
      path: values,
      query: new Map(new URLSearchParams(query)),
      headers: new Map(),
      readBody: async () => bodyOf(sent),
    };
    const operation = route.operations.get(method.toLowerCase())!;
    const { body } = await operations.perform(operation, asker, asked).catch((error: unknown) => {
      // The operator may read everything, so it is not there.
      throw isRegistryError(error, 'not_found') && error.message === nothingHere ? missing() : error;
    });
    return (body ?? {}) as Record<string, unknown>;
  });
  try {
    const done = await work(client);
    await queue.settled();
    return done;
  } finally {
    await queue.close();
  }
}

function bodyOf(sent: unknown): Body | null {
  if (sent === undefined) return null;
  const bytes = Buffer.from(sent instanceof Uint8Array ? sent : JSON.stringify(sent));
  const about = { digest: digestOf(bytes), size: bytes.byteLength };
  if (sent instanceof Uint8Array) return { value: null, document: bytes, ...about };
  const value = JSON.parse(bytes.toString()) as { document?: string };
  return { value, document: value.document === undefined ? null : Buffer.from(value.document), ...about };
}
