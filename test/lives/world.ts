import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeChanges } from '../../src/compile/place-changes.ts';
import { detectFiles } from '../../src/compile/detect.ts';
import { readVersion } from '../../src/compile/identity.ts';
import { findIgnored } from '../../src/compile/ignored.ts';
import type { Sandboxes } from '../../src/compile/sandboxes.ts';
import { readSettings } from '../compile/read-settings.ts';
import { rememberResults } from '../../src/compile/remember-results.ts';
import { runCompile } from '../../src/compile/run.ts';
import type { Config, UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import { compareDocuments } from '../../src/diff/compare-documents.ts';
import { createHosts } from '../../src/hosts/hosts.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createExpiryClock } from '../../src/registry/keys/expiry-clock.ts';
import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import type { SigningKey } from '../../src/model/transparency/note.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { outlineDocument, renderDocument } from '../../src/render/render.ts';
import { excerptOf } from '../../src/render/excerpt.ts';
import { renderPages } from '../../src/sites/render/render-pages.ts';
import { createApp } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import { createV1 } from '../../src/server/v1/v1.ts';
import type { Source } from '../../src/source/source.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { createMemoryCache, createMemoryBucket } from '../memory-store.ts';
import { assertFormat } from '../../src/store/format.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createSyncQueue, type SyncQueue } from '../../src/sync/queue.ts';
import { openReconciler } from '../../src/sync/reconcile.ts';
import { createWorld, type FakeSource } from '../registry/world.ts';
import { openGiteaApi, type GiteaApi } from '../servers/gitea-api.ts';
import { openMailServer, type MailServer, type TakenMail } from '../servers/smtp.ts';
import { openWitness, type WitnessServer } from '../servers/witness.ts';
import { knownKey } from '../registry/known-key.ts';

/** A process that serves the registry. */
export interface Node {
  registry: Registry;
  queue: SyncQueue;
  url: string;
  /** From so many writes on, nothing of it reaches the store. `isLast`: whether the last of them does. */
  die(writes: number, isLast: boolean): void;
  /** So many writes of keys that begin so fail, and no other. */
  stumble(prefix: string, writes: number): void;
  /** The call of the store after so many, of keys that begin so, waits until it may go on. `reached`: it waits. */
  pause(prefix: string, calls: number): { reached: Promise<void>; goOn(): void };
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body; empty where it is no JSON. */
  json: Record<string, unknown>;
}

export interface Sent {
  key?: string | null;
  body?: unknown;
  raw?: string;
  /** An `Idempotency-Key`. */
  once?: string;
  accept?: string;
  /** The organization that is meant, where there are several. */
  org?: string;
}

/** The processes, the clock and the repositories of a life. The seed decides all of them. */
export interface LifeWorld extends AsyncDisposable {
  source: FakeSource;
  /** Where a repository is now: a host may rename it. */
  moved: Map<string, string>;
  nodes: Node[];
  bucket: Bucket;
  config: UserConfig;
  now(): number;
  pass(milliseconds: number): void;
  /** Lets time pass, and processes answer from what they read before. */
  passUnseen(milliseconds: number): void;
  /** The other way round: what processes read before is too old for them. */
  age(): void;
  /** Opens a process on a bucket, and syncs what it follows as a start does. */
  open(bucket?: Bucket): Promise<Node>;
  /** Ends this process, which may be dying, and starts another in its place. */
  replace(node: Node): Promise<void>;
  /** Ends all processes and starts as many again. */
  restart(): Promise<void>;
  /** Sends a request to the node whose turn it is, or to the one that is named. */
  call(method: string, path: string, sent?: Sent, node?: Node): Promise<Answer>;
  /** Looks at all repositories and owners, as the timer does. */
  look(): Promise<void>;
  /** Which node answers next. */
  turn: number;
  /** What was logged as an error. */
  errors: string[];
  /** What was logged of documents. */
  documents: Record<string, unknown>[];
  /** The repository of a consumer, which is made when it is first asked for. */
  consumer(): string;
  /** Every request to `/v1` so far: method and path. */
  asked: Set<string>;
  /** The repositories of the owner, as the host lists them. */
  owned: { id: number; full_name: string }[];
  /** The witness of the public log. */
  witness: { key: SigningKey; setSilent(isSilent: boolean): void };
  /** What was sent to people. */
  mails: TakenMail[];
}

/** The real compiler in this process: what the sandbox does, without it. */
function createCompiler(): Sandboxes {
  return rememberResults({
    id: 'life/1',
    renderer: 'life-1',
    async compile(input, load) {
      const read = new Map<string, { blob: string | null; bytes: Uint8Array | null }>();
      const { artifact, report } = await runCompile(input, async (paths) => {
        const files = await load(paths);
        for (const file of files)
          read.set(file.path, file.found ? { blob: file.blob, bytes: file.bytes } : { blob: null, bytes: null });
        return files;
      });
      return { artifact, report, files: [...read].map(([path, file]) => ({ path, ...file })) };
    },
    detect: async (files, limits) => detectFiles(files, limits),
    ignored: async (patterns, paths) => findIgnored(patterns, paths),
    readSettings: async (file, limits) => readSettings(file, limits),
    readVersion: async (file, limits) => readVersion(file, limits),
    outline: async (document) => outlineDocument(document),
    excerpt: async (document, part) => excerptOf(document, part),
    render: async (document) => renderDocument(document),
    renderPages: async (pages) => renderPages(pages, null),
    compare: async (before, after, limits, rules) =>
      placeChanges(compareDocuments(before, after, rules), after, limits),
    close: async () => undefined,
  });
}

/** One for all lives: what it remembers does not depend on them. */
const compiler = createCompiler();

/** A source that finds what was renamed under its new name alone. */
function renaming(source: Source, moved: ReadonlyMap<string, string>): Source {
  const origins = () => new Map([...moved].map(([from, to]) => [to, from]));
  const at = <R extends { url: string }>(remote: R): R => ({
    ...remote,
    url: moved.has(remote.url) ? `${remote.url}/gone` : (origins().get(remote.url) ?? remote.url),
  });
  return {
    tip: (remote, signal) => source.tip(at(remote), signal),
    snapshot: (remote, ...rest) => source.snapshot(at(remote), ...rest),
    tags: (remote, ...rest) => source.tags(at(remote), ...rest),
    ancestry: (remote, ...rest) => source.ancestry(at(remote), ...rest),
    merge: (remote, ...rest) => source.merge(at(remote), ...rest),
    history: (remote, ...rest) => source.history(at(remote), ...rest),
    bring: (remote, ...rest) => source.bring(at(remote), ...rest),
    bringBlobs: (remote, ...rest) => source.bringBlobs(at(remote), ...rest),
    watchable: () => null,
  };
}

/** A bucket as a process sees it that is killed. */
function makeMortal(bucket: Bucket): Pick<Node, 'die' | 'stumble' | 'pause'> & { bucket: Bucket } {
  let left = Infinity;
  let stumbling = { prefix: '', writes: 0 };
  let isLastDone = false;
  let pausing = { prefix: '', calls: Infinity, reach: () => {}, wait: Promise.resolve() };
  const pauseAt = async (key: string): Promise<void> => {
    if (!key.startsWith(pausing.prefix) || pausing.calls-- !== 0) return;
    pausing.reach();
    await pausing.wait;
  };
  const assertAlive = (): void => {
    if (left < 0) throw new Error('This process was killed.');
  };
  async function write<T>(work: () => Promise<T>): Promise<T> {
    assertAlive();
    if (--left >= 0) return work();
    if (isLastDone) await work();
    throw new Error('This process was killed while it wrote.');
  }
  async function read<T>(key: string, work: () => Promise<T>): Promise<T> {
    assertAlive();
    await pauseAt(key);
    return work();
  }
  return {
    bucket: {
      get: (key) => read(key, () => bucket.get(key)),
      getPart: (key, start, end) => read(key, () => bucket.getPart(key, start, end)),
      list: (prefix, options) => read(prefix, () => bucket.list(prefix, options)),
      async putIfAbsent(key, bytes) {
        if (key.startsWith(stumbling.prefix) && stumbling.writes-- > 0) throw new Error('The disk is full.');
        await pauseAt(key);
        return write(() => bucket.putIfAbsent(key, bytes));
      },
      delete: (key) => write(() => bucket.delete(key)),
      check: () => read('', () => bucket.check()),
    },
    stumble: (prefix, writes) => void (stumbling = { prefix, writes }),
    pause(prefix, calls) {
      const [reached, waited] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      pausing = { prefix, calls, reach: reached.resolve, wait: waited.promise };
      return { reached: reached.promise, goOn: waited.resolve };
    },
    die(writes, isLast) {
      left = writes;
      isLastDone = isLast;
    },
  };
}

/** The git host, the mail server and the witnesses of all lives. */
let standIns: Promise<[GiteaApi, MailServer, WitnessServer]> | null = null;

export async function openLifeWorld(seed: number, given: UserConfig): Promise<LifeWorld> {
  process.env['STELE_TEST_OWNER_TOKEN'] = 'a-token';
  process.env['STELE_TEST_KEY'] = 'the secret of every key of every life';
  const [gitea, { url: smtp, mails }, witnesses] = await (standIns ??= Promise.all([
    openGiteaApi(),
    openMailServer(),
    openWitness(),
  ]));
  gitea.owned.repositories = [];
  const secret = { env: 'STELE_TEST_KEY' };
  // Each life has a witness of its own.
  const own = `/${randomUUID()}`;
  const config = {
    ...given,
    hosts: { gitea: { url: 'https://git.test', apiUrl: `${gitea.url}/api/v1` } },
    mail: { smtp, from: 'Stele <stele@registry.test>' },
    publicLog: { key: secret, witnesses: [{ url: witnesses.url + own, key: witnesses.vkey }] },
    secretKey: secret,
  };
  const base = createWorld(config);
  const moved = new Map<string, string>();
  const source = renaming(base.source, moved);
  let counter = 0;
  const randomBytes = (length: number) =>
    new Uint8Array(createHash('sha512').update(`${seed} ${counter++}`).digest()).slice(0, length);
  const { now, monotonic } = base.registry;
  let readTime = 0;
  const errors: string[] = [];
  const documents: LifeWorld['documents'] = [];
  const log: Registry['log'] = (level, event, fields = {}) => {
    if (level === 'error') errors.push(`${event} ${JSON.stringify(fields)}`);
    if (event === 'document') documents.push(fields);
  };

  function openRegistry(bucket: Bucket): Registry {
    const checked: Config = checkConfig(world.config, { base: '/nowhere', data: '/nowhere/data' });
    const uniqueId = () => newId({ now, randomBytes });
    const refs = createRefs(bucket, { now, monotonic: () => readTime, uniqueId });
    return {
      config: checked,
      bucket,
      objects: createObjects(bucket),
      refs,
      answers: createAnswerCache(refs),
      cache: createMemoryCache(),
      source,
      hosts: createHosts(checked),
      compiler,
      now,
      monotonic,
      expiryTime: createExpiryClock({ now, monotonic, log, refs }),
      ownKey: knownKey('the secret of what this registry seals'),
      randomBytes,
      log,
    };
  }

  async function lookWith({ registry, queue }: Node): Promise<void> {
    const reconciler = await openReconciler(registry, queue);
    await reconciler.first;
    await reconciler.close();
  }

  let folder: string | null = null;
  const world: LifeWorld = {
    source: base.source,
    moved,
    nodes: [],
    bucket: createMemoryBucket(),
    config,
    turn: 0,
    errors,
    documents,
    asked: new Set(),
    consumer: () => (folder ??= mkdtempSync(join(tmpdir(), 'stele-consumer-'))),
    owned: gitea.owned.repositories as LifeWorld['owned'],
    mails,
    witness: {
      key: witnesses.key,
      setSilent: (isSilent) => void (isSilent ? witnesses.silent.add(own) : witnesses.silent.delete(own)),
    },
    now: () => now().getTime(),
    pass(milliseconds) {
      base.pass(milliseconds);
      readTime += milliseconds;
    },
    passUnseen: base.pass,
    age: () => void (readTime += 1000),
    async open(bucket = world.bucket) {
      await assertFormat(bucket);
      const mortal = makeMortal(bucket);
      const registry = openRegistry(mortal.bucket);
      const queue = createSyncQueue(registry, createPulls);
      const context = { registry, queue, isReady: () => true, url: 'https://registry.test' };
      const app = createApp({ ...context, v1: (site) => createV1({ ...context, site }) });
      const listening = await listen(app, { host: '127.0.0.1', port: 0 });
      const close = async (): Promise<void> => {
        await queue.close();
        await listening.close(0);
      };
      const { die, stumble, pause } = mortal;
      return { registry, queue, url: listening.url, die, stumble, pause, close };
    },
    async replace(node) {
      await node.close();
      world.nodes[world.nodes.indexOf(node)] = await world.open();
    },
    async restart() {
      const count = world.nodes.length;
      await Promise.all(world.nodes.map((node) => node.close()));
      world.nodes = [];
      for (let at = 0; at < count; at++) world.nodes.push(await world.open());
      await lookWith(world.nodes[0]!);
    },
    look: () => lookWith(world.nodes[world.turn % world.nodes.length]!),
    async call(method, path, { key, body, raw, once, accept, org } = {}, node) {
      const { url } = node ?? world.nodes[world.turn % world.nodes.length]!;
      // What is read may be half a second old, so whoever reads waits. What a change decides by may not.
      if (method === 'GET') world.age();
      if (path.startsWith('/v1/')) world.asked.add(`${method} ${path.split('?')[0]!}`);
      const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const type = raw === undefined ? 'application/json' : 'application/octet-stream';
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(key && { authorization: `Bearer ${key}` }),
          ...(sent !== undefined && { 'content-type': type }),
          ...(once !== undefined && { 'idempotency-key': once }),
          ...(accept !== undefined && { accept }),
          ...(org !== undefined && { 'stele-organization': org }),
        },
        ...(sent !== undefined && { body: sent }),
      });
      const text = await response.text();
      const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '');
      const json = isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {};
      return { status: response.status, headers: response.headers, text, json };
    },
    async [Symbol.asyncDispose]() {
      if (folder !== null) rmSync(folder, { recursive: true });
      await Promise.all(world.nodes.map((node) => node.close()));
    },
  };
  return world;
}
