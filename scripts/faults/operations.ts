import { isDeepStrictEqual } from 'node:util';
import { openApi, documentOf, type Api } from '../../test/server/v1/api.ts';
import { createTestRegistry } from '../../test/server/registry.ts';
import { watchFiles } from '../../test/store/watched-files.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { compareSemanticVersions, parseSemanticVersion } from '../../src/model/label.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import type { Files } from '../../src/store/files.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';

/** One request that changes something, under an Idempotency-Key of its own. */
export interface Operation {
  method: 'POST' | 'PATCH';
  path: string;
  key: string;
  body: object;
  slug: string;
  /** The version that it publishes; null for others. */
  label: string | null;
  /** Whether others publish the same label with other content: one of them may win. */
  isRival: boolean;
  isPrivate: boolean;
}

/** How an operation was answered; null where the connection ended first. */
export type Answer = { status: number; json: Record<string, unknown> } | null;

/** Operations with their answers. */
export type History = Map<Operation, Answer>;

/** The resource whose next version all writers want. Made before anything goes wrong. */
export const shared = 'shared';

/** Makes a public resource, publishes two versions, contends for one of another resource, and makes the first private. */
export function operationsFor(slug: string, contest = '1.0.0'): Operation[] {
  const common = { method: 'POST', slug, label: null, isRival: false, isPrivate: false } as const;
  const publish = (to: string, label: string): Operation => ({
    ...common,
    path: `/v1/apis/${to}/spec`,
    key: `publish-${slug}-${to}-${label}`,
    body: { version: label, onConflict: 'reject', document: documentOf(label, `${label} by ${slug}`) },
    slug: to,
    label,
    isRival: to === shared,
  });
  const body = { name: slug, slug, visibility: 'public' };
  const create = { ...common, path: '/v1/apis', key: `create-${slug}`, body };
  const hide: Operation = {
    ...common,
    method: 'PATCH',
    path: `/v1/apis/${slug}`,
    key: `hide-${slug}`,
    body: { visibility: 'private' },
    isPrivate: true,
  };
  return [create, publish(slug, '1.0.0'), publish(shared, contest), publish(slug, '1.1.0'), hide];
}

/** Sends an operation once. */
export async function send(
  url: string,
  secret: string,
  { method, path, key, body }: Pick<Operation, 'method' | 'path' | 'key' | 'body'>,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'idempotency-key': key };
  try {
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  } catch {
    return null;
  }
}

/** A registry on a folder. `files`: what goes wrong; by default nothing does. */
export async function openFolderRegistry(folder: string, files: Files = watchFiles(folder)): Promise<Registry> {
  return openBucketRegistry(await openFsBucket(folder, { files }), 0);
}

/** A registry on a bucket. `maxAge`: milliseconds after which it asks for what others wrote; undefined is as in a server. */
export function openBucketRegistry(bucket: Bucket, maxAge?: number): Registry {
  const plain = createTestRegistry({ rateLimit: { key: 1e9, address: 1e9, failures: 1e9 } });
  const options = { ...plain, uniqueId: () => newId(plain), ...(maxAge !== undefined && { maxAge }) };
  const refs = createRefs(bucket, options);
  return { ...plain, bucket, objects: createObjects(bucket), refs, answers: createAnswerCache(refs) };
}

/** Serves a folder. */
export async function openFolder(folder: string, files?: Files): Promise<Api> {
  return openApi(await openFolderRegistry(folder, files));
}

/** Makes a store with a key, the shared resource and as many entries in its log. Returns the key. */
export async function makeStore(folder: string, entries = 0): Promise<string> {
  await using api = await openFolder(folder);
  return await beginStore(api, entries);
}

/** Makes a key, the shared resource and as many others in an empty store. Returns the key. */
export async function beginStore(api: Api, others = 0): Promise<string> {
  const author = { actor: 'operator:faults', origin: null };
  const { text } = await createKey(api.registry, { org: 'acme', name: 'faults', scopes: ['admin'] }, author);
  for (const slug of [shared, ...Array.from({ length: others }, (_, n) => `old-${n}`)]) {
    const made = await send(api.url, text, operationsFor(slug)[0]!);
    if (!isSuccess(made)) throw new Error(`The store is not made: ${JSON.stringify(made)}`);
  }
  return text;
}

/** Repeats every operation, one after the other, and says what is wrong with the answers. Adds them to the history. */
export async function repeat(url: string, secret: string, history: History): Promise<string[]> {
  const wrong: string[] = [];
  for (const [operation, before] of history) {
    const again = await send(url, secret, operation);
    const tell = (text: string) => wrong.push(`${operation.key}: ${text}`);
    if (isSuccess(before) && !isDeepStrictEqual(before, again)) tell(`repeated: ${JSON.stringify(again)}`);
    else if (!isSuccess(again) && !(operation.isRival && again?.status === 409))
      tell(`repeated: ${again?.status} ${codeOf(again)}`);
    history.set(operation, isSuccess(before) ? before : again);
    if (operation.isPrivate && isSuccess(again) && (await isServed(url, operation.slug))) tell('served though private');
  }
  return wrong;
}

/** Whether a stranger can read the resource. */
export async function isServed(url: string, slug: string): Promise<boolean> {
  const response = await fetch(`${url}/@acme/apis/${slug}.json`);
  await response.arrayBuffer();
  return response.ok;
}

/** Whether the store has what the operation makes. */
export async function isThere(folder: string, { slug, label, isPrivate }: Operation): Promise<boolean> {
  const { refs } = await openFolderRegistry(folder);
  const resource = (await refs.read<Resource>(resourceRef({ org: 'acme', type: 'apis', slug })))?.value;
  if (isPrivate) return resource?.visibility === 'private';
  return resource !== undefined && (label === null || resource.versions.some((version) => version.label === label));
}

/** What is wrong with the store in a folder, given what was acknowledged in it: sentences, none where all is well. */
export async function checkStore(folder: string, history: History): Promise<string[]> {
  return checkRegistry(await openFolderRegistry(folder), history);
}

/** As `checkStore`, of a registry that nobody has used. */
export async function checkRegistry(registry: Registry, history: History): Promise<string[]> {
  const wrong = (await fsck(registry)).damages.map(({ key, detail }) => `${key}: ${detail}`);
  const winners = new Map<string, string>();
  for (const [operation, answer] of history) {
    if (!isSuccess(answer)) continue;
    const { slug, label, isPrivate, isRival, key } = operation;
    const resource = (await registry.refs.read<Resource>(resourceRef({ org: 'acme', type: 'apis', slug })))?.value;
    if (resource === undefined) {
      wrong.push(`${slug} was acknowledged and is not there`);
      continue;
    }
    if (isPrivate && resource.visibility !== 'private') wrong.push(`${slug} was made private and is not`);
    if (label === null) continue;
    const found = resource.versions.filter((version) => version.label === label);
    if (found.length !== 1) wrong.push(`${slug}@${label} is there ${found.length} times`);
    else if (found[0]!.manifest !== answer!.json['digest']) wrong.push(`${slug}@${label} is another than acknowledged`);
    if (resource.latest === null || isBefore(resource.latest, label))
      wrong.push(`the latest of ${slug} is ${resource.latest}, before ${label}`);
    const place = `${slug}@${label}`;
    if (isRival && winners.has(place)) wrong.push(`${place} was won by ${winners.get(place)} and by ${key}`);
    winners.set(place, key);
  }
  return wrong;
}

function isBefore(a: string, b: string): boolean {
  return compareSemanticVersions(parseSemanticVersion(a)!, parseSemanticVersion(b)!) < 0;
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

/** Prints what was wrong, and makes the process end with 1 if anything was. */
export function conclude(summary: string, wrong: readonly string[]): void {
  console.log(summary);
  const fine = 'Every answer was true, nothing acknowledged was lost or changed, nothing was done twice.';
  console.log(wrong.length === 0 ? fine : `${wrong.length} wrong:\n${wrong.slice(0, 40).join('\n')}`);
  if (wrong.length > 0) process.exitCode = 1;
}

/** Numbers from 1 to `most`: the same sequence for the same seed (a linear congruential generator). */
export function createRandom(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 1 + Math.floor((state / 2 ** 32) * most);
  };
}
