import { setImmediate } from 'node:timers/promises';
import type { Coding } from '../../model/artifact.ts';
import { digestOf, isDigest } from '../../model/digest.ts';
import { type RegistryError, unavailable, conflict } from '../../model/errors.ts';
import type { Answered, Answers, PageRequest } from '../site.ts';
import { type Beginnings, pathsOf, type BuiltFile, type BuiltUnit, type Fields } from './build-folder.ts';
import { resourcesPerFile } from '../../search/ranking/shards.js';
import { codingEndings, imageItems, partItems, shardItem, type Item, type Unit } from './build-items.ts';
import { decodeJson } from '../../model/json.ts';

/** The context of a build. */
export interface Making {
  answers: Answers;
  beginnings: Beginnings;
  /** The header fields for each kind of file, collected during the build. */
  headers: Record<string, Fields>;
  /** The codings of each file besides the plain one. */
  codings: readonly Exclude<Coding, 'identity'>[];
  signal: AbortSignal;
}

/** Seconds to retry while the registry prepares a response, such as the search index. */
const patience = 600;

/** Builds all files of a unit. `former`: its previous files; unchanged documents are kept. */
export async function makeUnit(making: Making, unit: Unit, former: BuiltUnit | null): Promise<BuiltUnit> {
  const files: BuiltFile[] = [];
  const formerFiles = new Map((former?.files ?? []).map((file) => [file.path, file]));
  for (const item of unit.items) files.push(...(await makeItem(making, item, formerFiles)));
  if (unit.again) files.push(...repeat(making, files, unit.again));
  return { inputs: unit.inputs, files };
}

/** Keeps all files of a unit. */
export async function keepUnit({ beginnings, signal }: Making, former: BuiltUnit): Promise<BuiltUnit> {
  // Whoever stops the build is heard between two units.
  await setImmediate();
  signal.throwIfAborted();
  for (const path of pathsOf(former))
    if (!beginnings.keep(path))
      throw conflict(`${path} of the previous build disappeared during this build. Run it again.`);
  return former;
}

async function makeItem(making: Making, item: Item, earlier: ReadonlyMap<string, BuiltFile>): Promise<BuiltFile[]> {
  const files: BuiltFile[] = [];
  let isSame = false;
  for (const coding of ['identity', ...(item.isCoded ? making.codings : [])] as Coding[]) {
    const path = coding === 'identity' ? item.file : `${item.file}${codingEndings[coding]}`;
    const former = earlier.get(path);
    // If a file is unchanged, so are its codings.
    const unchanged: BuiltFile | null = isSame && former !== undefined && making.beginnings.keep(path) ? former : null;
    const file: BuiltFile | null = unchanged ?? (await makeFile(making, item, coding, path, former));
    if (coding === 'identity') isSame = file !== null && file === former;
    if (file !== null) files.push(file);
  }
  if (item.isParted) files.push(...(await makeParts(making, item, earlier)));
  if (item.isList) files.push(...(await makePages(making, item)));
  if (item.isIndex)
    for (const each of await shardItems(making, item)) files.push(...(await makeItem(making, each, earlier)));
  return files;
}

/** The parts of a long document that its page links to, and the images on all of them. */
async function makeParts(making: Making, item: Item, earlier: ReadonlyMap<string, BuiltFile>): Promise<BuiltFile[]> {
  const askText = async (path: string) => Buffer.from((await ask(making, { path }, item)).body).toString();
  const page = await askText(item.ask);
  const parts = partItems(item.ask, page);
  const pinned = item.ask.slice(0, -'/index.html'.length);
  const images = new Map<string, Item>();
  const files: BuiltFile[] = [];
  for (const path of [item.ask, ...parts.map((part) => part.ask)])
    for (const image of imageItems(pinned, path === item.ask ? page : await askText(path)))
      images.set(image.file, image);
  for (const each of [...parts, ...images.values()]) files.push(...(await makeItem(making, each, earlier)));
  return files;
}

/** The files of the search index that its first one names. */
async function shardItems(making: Making, item: Item): Promise<Item[]> {
  const read = async <T>(path: string) => decodeJson<T>((await ask(making, { path: `/search/${path}` }, item)).body);
  const { places, resources } = await read<{ places: string[]; resources: number }>('index.json');
  const paths = places.map((place) => `terms/${place}.json`);
  for (let number = 0; number < resources; number += resourcesPerFile) {
    const path = `resources/${number / resourcesPerFile}.json`;
    const index = await read<{ chunks: number[] }[]>(path);
    const records = index.flatMap(({ chunks }, at) => chunks.map((_, chunk) => `records/${number + at}-${chunk}.json`));
    paths.push(path, ...records);
  }
  return paths.map(shardItem);
}

/**
 * Builds one file. Null if the registry does not have this coding. Returns `former` itself if that
 * was kept.
 */
async function makeFile(
  making: Making,
  item: Item,
  coding: Coding,
  path: string,
  former: BuiltFile | undefined,
): Promise<BuiltFile | null> {
  const { beginnings, headers } = making;
  const isDocument = item.kind === 'json' || item.kind === 'yaml';
  if (item.make !== undefined && coding === 'identity' && headers[item.kind] !== undefined) {
    const bytes = await item.make();
    beginnings.write(path, bytes);
    return { path, size: bytes.byteLength };
  }
  const asked: PageRequest = { path: item.ask, coding, ...(item.accept !== undefined && { accept: item.accept }) };
  if (isDocument && former?.digest !== undefined) {
    const { headers: fields } = await ask(making, { ...asked, method: 'HEAD' }, item);
    if (fields['etag'] === `"${former.digest}"` && beginnings.keep(path)) {
      headers[item.kind] ??= fieldsOf(fields);
      return former;
    }
  }
  const answer = await ask(making, asked, item);
  if ((answer.headers['content-encoding'] ?? 'identity') !== coding) return null;
  headers[item.kind] ??= fieldsOf(answer.headers);
  const bytes = item.status === undefined ? answer.body : withoutInstance(answer);
  // One document changes a few hundred files of the index, of many thousands.
  const isShard = item.kind === 'index' && coding === 'identity';
  if (isShard && former?.digest === digestOf(bytes) && beginnings.keep(path)) return former;
  beginnings.write(path, bytes);
  const policy = ownPolicy(item, answer.headers);
  const file = { path, size: bytes.byteLength, ...(policy !== undefined && { policy }) };
  if (isShard) return { ...file, digest: digestOf(bytes) };
  return isDocument ? { ...file, digest: digestIn(answer) } : file;
}

/** The further pages of a list, each in a file named by its cursor. */
async function makePages(making: Making, item: Item): Promise<BuiltFile[]> {
  const files: BuiltFile[] = [];
  let { body } = await ask(making, { path: item.ask }, item);
  for (;;) {
    const { next } = decodeJson<{ next: string | null }>(body);
    if (next === null) return files;
    ({ body } = await ask(making, { path: `${item.ask}?cursor=${next}` }, item));
    const path = item.file.replace(/\.json$/, `.${next}.json`);
    making.beginnings.write(path, body);
    files.push({ path, size: body.byteLength });
  }
}

/**
 * Sends a request, and retries while the registry is not ready. Throws for an unexpected status.
 */
async function ask({ answers, signal }: Making, asked: PageRequest, { status = 200 }: Item): Promise<Answered> {
  for (let waited = 0; ; waited += 1) {
    signal.throwIfAborted();
    const answer = await answers.ask(asked);
    if (answer.status === status) return answer;
    // Damage in the store is a 503 too, but waiting does not help.
    const mayPass = answer.status === 503 && answer.headers['retry-after'] !== undefined;
    if (!mayPass || waited >= patience) throw unexpected(asked, answer);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

function unexpected({ path }: PageRequest, { status, body }: Answered): RegistryError {
  const text = Buffer.from(body).toString().slice(0, 500);
  return unavailable(`The registry returned ${status} for ${path}: ${text}`);
}

function repeat(
  { beginnings }: Making,
  files: readonly BuiltFile[],
  { from, to }: { from: string; to: string },
): BuiltFile[] {
  const again: BuiltFile[] = [];
  for (const file of files) {
    const rest = file.path.startsWith(from) ? file.path.slice(from.length) : '';
    // Of 1.0, not of 1.0.1.
    if (!/^(?:\/|\.(?:json|yaml)(?:$|\.))/.test(rest)) continue;
    beginnings.repeat(file.path, `${to}${rest}`);
    again.push({ ...file, path: `${to}${rest}` });
  }
  return again;
}

/** Fields that differ between files, or that a static build has no use for. */
const ownFields =
  /^(?:accept-ranges|allow|cache-tag|connection|content-(?:encoding|length|location)|date|deprecation|etag|keep-alive|link|repr-digest|sunset|surrogate-key|transfer-encoding|www-authenticate|x-request-id)$/;

/** The header fields of every file of a kind. */
export function fieldsOf(headers: Answered['headers']): Fields {
  const entries = Object.entries(headers).filter(([name, value]) => value !== undefined && !ownFields.test(name));
  const fields = Object.fromEntries(entries) as Fields;
  const policy = fields['content-security-policy'];
  return policy === undefined ? fields : { ...fields, 'content-security-policy': withoutHosts(policy) };
}

/** A policy without the other hosts whose images a page may show. */
function withoutHosts(policy: string): string {
  return policy.replace(/(img-src 'self' data:)[^;]*/, '$1');
}

function ownPolicy({ kind }: Item, headers: Answered['headers']): string | undefined {
  const policy = headers['content-security-policy'];
  return policy !== undefined && (kind === 'try' || policy !== withoutHosts(policy)) ? policy : undefined;
}

function digestIn({ headers, body }: Answered): `sha256:${string}` {
  const tag = headers['etag']?.slice(1, -1) ?? '';
  if (!isDigest(tag) || tag !== digestOf(body))
    throw new TypeError('A document has an entity tag that is not its digest.');
  return tag;
}

/** An error response without its request id, which differs each time. */
function withoutInstance({ headers, body }: Answered): Uint8Array {
  if (!headers['content-type']?.includes('json')) return body;
  const { instance: _, ...document } = decodeJson<Record<string, unknown>>(body);
  return Buffer.from(JSON.stringify(document));
}
