import { publish } from '../../src/registry/publish.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createUpload } from '../../src/source/upload.ts';

/** Publishes a version of `@acme/apis/{slug}`. */
export async function publishSmall(registry: Registry, slug: string, version: string): Promise<void> {
  await publish(registry, {
    coordinate: { org: 'acme', type: 'apis', slug },
    snapshot: createUpload('a.json', Buffer.from(smallText(version))),
    entry: 'a.json',
    version: null,
    onConflict: 'reject',
    latest: true,
    dryRun: false,
    create: {},
    author: { actor: 'operator:bench', origin: null },
  });
}

/** A document of 5 KB, whose every operation is another in each version. */
export function smallText(version: string): string {
  const responses = { 200: { description: 'The payment.' }, 404: { description: 'There is none.' } };
  const paths = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `/payments-${n}/latest`,
      { get: { operationId: `getPayment${n}`, summary: `Reads payment ${version}`, responses } },
    ]),
  );
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pay', version },
    servers: [{ url: 'https://api.test' }],
    paths,
  });
}
