import { documentOf } from '../../test/server/v1/api.ts';
import { createTestRegistry } from '../../test/server/registry.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { newId } from '../../src/registry/registry.ts';
import { findVersion, resourceRef, type Resource } from '../../src/model/resource.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';

/** One request that changes something, under an Idempotency-Key of its own. */
export interface Operation {
  path: string;
  key: string;
  body: object;
  slug: string;
  /** The version that it publishes; null for one that makes the resource. */
  label: string | null;
}

/** How an operation was answered; null where the connection ended first. */
export type Answer = { status: number; json: Record<string, unknown> } | null;

/** Makes a resource and publishes two versions of it. */
export function operationsFor(slug: string): Operation[] {
  const publish = (label: string): Operation => ({
    path: `/v1/apis/${slug}/spec`,
    key: `publish-${slug}-${label}`,
    body: { document: documentOf(label, `Title of ${label}`) },
    slug,
    label,
  });
  const create = { path: '/v1/apis', key: `create-${slug}`, body: { name: slug, slug }, slug, label: null };
  return [create, publish('1.0.0'), publish('1.1.0')];
}

/** Sends an operation once. */
export async function send(url: string, secret: string, { path, key, body }: Operation): Promise<Answer> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'idempotency-key': key };
  try {
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  } catch {
    return null;
  }
}

/** A registry on a folder that nothing goes wrong with. */
export async function openFolderRegistry(folder: string) {
  const plain = createTestRegistry({ rateLimit: { key: 1e9, address: 1e9, failures: 1e9 } });
  const bucket = await openFsBucket(folder);
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain), maxAge: 0 });
  return { ...plain, bucket, objects: createObjects(bucket), refs };
}

/** Whether the store has what the operation makes. */
export async function isThere(folder: string, { slug, label }: Operation): Promise<boolean> {
  const { refs } = await openFolderRegistry(folder);
  const resource = (await refs.read<Resource>(resourceRef({ org: 'acme', type: 'apis', slug })))?.value;
  return resource !== undefined && (label === null || findVersion(resource, label) !== null);
}

/** What is wrong with the store, given what was acknowledged in it: sentences, none where all is well. */
export async function checkStore(folder: string, acknowledged: readonly Operation[]): Promise<string[]> {
  const registry = await openFolderRegistry(folder);
  const wrong = (await fsck(registry)).damages.map(({ key, detail }) => `${key}: ${detail}`);
  for (const operation of acknowledged) {
    const { slug, label } = operation;
    const coordinate = { org: 'acme', type: 'apis', slug } as const;
    const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value;
    if (resource === undefined) wrong.push(`${slug} was acknowledged and is not there`);
    const found = resource?.versions.filter((version) => version.label === label) ?? [];
    if (label !== null && found.length !== 1) wrong.push(`${slug}@${label} is there ${found.length} times`);
  }
  return wrong;
}

/** Whether the answer is a success. */
export function isSuccess(answer: Answer): boolean {
  return answer?.status === 200 || answer?.status === 201;
}

/** The code of a refusal. */
export function codeOf(answer: Answer): string {
  return String(answer?.json['type'] ?? '')
    .split('/')
    .at(-1)!;
}
