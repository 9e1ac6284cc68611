import { types } from '../../src/model/kinds.ts';
import { excerptOf } from '../../src/render/excerpt.ts';
import { renderPages } from '../../src/sites/render/render-pages.ts';
import { compareDocuments } from '../../src/diff/compare-documents.ts';
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import type { Sandboxes } from '../../src/compile/sandboxes.ts';
import type { Representation } from '../../src/compile/compile.ts';
import { parseCoordinate, type Format } from '../../src/model/address.ts';
import { createReport, problemAtFile } from '../../src/model/problem.ts';
import type { Visibility } from '../../src/model/access.ts';
import {
  type CommitNote,
  type Resource,
  type Status,
  type Version,
  chooseLatest,
  resourceRef,
} from '../../src/model/resource.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue, type SyncQueue } from '../../src/sync/queue.ts';
import { publish } from '../../src/registry/publish.ts';
import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import { newId, type Log, type Registry } from '../../src/registry/registry.ts';
import type { Snapshot } from '../../src/source/snapshot.ts';
import type { Source } from '../../src/source/source.ts';
import { createMemoryCache, createMemoryBucket, type MemoryBucket } from '../memory-store.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import type { FaultyPorts } from '../faults/faulty-ports.ts';
import { knownKey } from '../registry/known-key.ts';

/** A line that a registry logged. */
export interface LogLine {
  level: Parameters<Log>[0];
  event: string;
  fields: Record<string, unknown>;
}

/** A registry in memory, with what a test looks into. */
export interface TestRegistry extends Registry {
  bucket: MemoryBucket;
  logged: LogLine[];
}

/**
 * A registry on a memory bucket. Its compiler takes any JSON document for OpenAPI 3.1 with the document's `info` for title and version;
 * `{"refuse": "why"}` is refused. Its source reaches nothing.
 */
export function createTestRegistry(user: UserConfig = {}, ports?: FaultyPorts): TestRegistry {
  const logged: LogLine[] = [];
  const bucket = createMemoryBucket();
  const faulty = ports?.bucket(bucket) ?? bucket;
  const [cache, compiler] = [createMemoryCache(), createFakeCompiler()];
  const now = () => new Date();
  const monotonic = () => performance.now();
  const random = (length: number) => new Uint8Array(randomBytes(length));
  const refs = createRefs(faulty, { now, monotonic, uniqueId: () => newId({ now, randomBytes: random }), maxAge: 0 });
  return {
    config: checkConfig(user, { base: '/', data: '/nowhere' }),
    bucket,
    objects: createObjects(faulty),
    refs,
    answers: createAnswerCache(refs),
    cache: ports?.cache(cache) ?? cache,
    source: unreachable,
    hosts: [],
    compiler: ports?.compiler(compiler) ?? compiler,
    now,
    monotonic,
    expiryTime: now,
    randomBytes: random,
    ownKey: knownKey('the secret of what this registry seals'),
    logKey: knownKey('the secret of the key of this public log'),
    log: (level, event, fields = {}) => void logged.push({ level, event, fields }),
    logged,
  };
}

/** A queue for a registry whose source reaches nothing. */
export function createTestQueue(registry: Registry): SyncQueue {
  return createSyncQueue(registry, createPulls);
}

const reachesNothing = async (): Promise<never> => {
  throw new Error('This test has no source.');
};
const unreachable: Source = {
  tip: reachesNothing,
  snapshot: reachesNothing,
  tags: reachesNothing,
  ancestry: reachesNothing,
  merge: reachesNothing,
  history: reachesNothing,
  bring: reachesNothing,
  bringBlobs: reachesNothing,
  watchable: () => null,
};

function createFakeCompiler(): Sandboxes {
  return {
    id: 'fake 1',
    renderer: 'fake-1',
    outline: async () => null,
    compare: async (before, after, _, rules) => compareDocuments(before, after, rules),
    render: async () => null,
    excerpt: async (document, part) => excerptOf(document, part),
    renderPages: async (pages) => renderPages(pages, null),
    async compile({ type, entry }, load) {
      const [file] = await load([entry]);
      if (!file?.found) throw new Error(`${entry} is not in the snapshot.`);
      const text = Buffer.from(file.bytes).toString();
      const document = parseDocument(text);
      const files = [{ path: entry, blob: file.blob, bytes: file.bytes }];
      if (document.refuse !== undefined) {
        return { artifact: null, report: createReport([problemAtFile('fake', entry, document.refuse)]), files };
      }
      const artifact = {
        type: type ?? ('apis' as const),
        kind: types[type ?? 'apis'].usual,
        specification: '3.1.0',
        title: document.info?.title ?? 'untitled',
        description: '',
        summary: document.info?.description ?? '',
        version: document.info?.version ?? null,
        representations: [...encode('json', text), ...encode('yaml', toYaml(document))],
      };
      return { artifact, report: createReport([problemAtFile('fake-hint', entry, 'Well done.', 'info')]), files };
    },
    detect: reachesNothing,
    ignored: reachesNothing,
    readSettings: reachesNothing,
    readVersion: reachesNothing,
    close: async () => undefined,
  };
}

function parseDocument(text: string): {
  refuse?: string;
  info?: { title?: string; version?: string; description?: string };
} {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? document : { refuse: 'This is no object.' };
  } catch {
    return { refuse: 'This is not JSON.' };
  }
}

/** One level of YAML with JSON values: YAML all the same. */
export function toYaml(document: object): string {
  return Object.entries(document)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('');
}

function encode(format: Format, text: string): Representation[] {
  const bytes = Buffer.from(text);
  return [
    { format, coding: 'identity', bytes },
    { format, coding: 'gzip', bytes: gzipSync(bytes) },
    { format, coding: 'br', bytes: brotliCompressSync(bytes) },
    { format, coding: 'zstd', bytes: zstdCompressSync(bytes) },
  ];
}

/** A snapshot of one uploaded file. */
function snapshotOf(text: string, path = 'openapi.json'): Snapshot {
  return {
    origin: { repository: null, commit: null },
    committedAt: null,
    entries: async () => [{ path, kind: 'file', id: '0'.repeat(40) }],
    read: async (paths) => paths.map((each) => ({ path: each, found: true, bytes: Buffer.from(text), blob: null })),
  };
}

/** Publishes a version through the real verb, with the date of a commit as history; makes the resource when it is not there. */
export async function publishVersion(
  registry: Registry,
  coordinate: string,
  version: string,
  {
    visibility = 'public',
    document = {},
    note = null,
    committedAt = null,
  }: { visibility?: Visibility; document?: object; note?: CommitNote | null; committedAt?: string | null } = {},
): Promise<{ resource: Resource; version: Version; text: string }> {
  const parsed = parseCoordinate(coordinate)!.coordinate;
  const text = JSON.stringify({ openapi: '3.1.0', info: { title: parsed.slug, version }, ...document });
  const result = await publish(registry, {
    coordinate: parsed,
    snapshot: { ...snapshotOf(text), note, committedAt },
    entry: 'openapi.json',
    version,
    onConflict: 'reject',
    isPast: committedAt !== null,
    latest: committedAt === null,
    dryRun: false,
    create: { name: parsed.slug, visibility },
    author: { actor: 'operator:test', origin: null },
  });
  if (result.outcome !== 'published') throw new Error(`${coordinate}@${version} was not published: ${result.outcome}`);
  return { resource: result.resource, version: result.version, text };
}

/** Changes a resource in the store, as the verbs of the management API do. */
export async function changeResource(
  registry: Registry,
  coordinate: string,
  change: (resource: Resource) => Resource,
): Promise<void> {
  const name = resourceRef(parseCoordinate(coordinate)!.coordinate);
  await registry.refs.update<Resource>(name, (current) => ({
    value: change(current!.value),
    change: { actor: 'operator:test', origin: null, action: 'change' },
  }));
}

/** Gives a version a status, and lets latest follow from it. */
export async function setStatus(registry: Registry, coordinate: string, label: string, status: Status): Promise<void> {
  await changeResource(registry, coordinate, (resource) => {
    const versions = resource.versions.map((version) => (version.label === label ? { ...version, status } : version));
    const changed = { ...resource, versions };
    return { ...changed, latest: chooseLatest(changed) };
  });
}
