import { excerptOf } from '../../src/render/excerpt.ts';
import { renderPages } from '../../src/sites/render/render-pages.ts';
import { compareDocuments } from '../../src/diff/compare-documents.ts';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { parseDocument } from 'yaml';
import type { Compiled } from '../../src/compile/compile.ts';
import type { Sandboxes, Detected } from '../../src/compile/sandboxes.ts';
import { identityOf, readVersion } from '../../src/compile/identity.ts';
import { findIgnored } from '../../src/compile/ignored.ts';
import { readSettings } from '../compile/read-settings.ts';
import { types } from '../../src/model/kinds.ts';
import type { Config, UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import type { ResourceType } from '../../src/model/address.ts';
import { digestOf } from '../../src/model/digest.ts';
import type { Outline } from '../../src/model/outline.ts';
import { createReport, problemAtFile } from '../../src/model/problem.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { createExpiryClock } from '../../src/registry/keys/expiry-clock.ts';
import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import type { Host } from '../../src/hosts/host.ts';
import type { CommitPerson, Snapshot, SnapshotEntry } from '../../src/source/snapshot.ts';
import type { HistoryCommit, Source } from '../../src/source/source.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { createMemoryCache, createMemoryBucket, type MemoryBucket } from '../memory-store.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { knownKey } from './known-key.ts';

/** Repositories in memory, whose history a test writes. */
export interface FakeSource extends Source {
  /** Commits these files (text by path) to a branch and answers the commit. A new branch begins at `main`. */
  push(
    url: string,
    files: Record<string, string>,
    options?: {
      branch?: string;
      force?: boolean;
      parent?: string;
      committedAt?: string | null;
      people?: CommitPerson[];
      /** Another parent: a merge. */
      merges?: string;
    },
  ): string;
  deleteBranch(url: string, branch?: string): void;
  /** Moves a repository to another URL, with all its branches and tags. */
  move(from: string, to: string): void;
  /** Points a tag at a commit. */
  tag(url: string, name: string, commit: string): void;
  /** The next calls of `tip` reject as an unreachable host does. */
  setReachable(isReachable: boolean): void;
  /** Whether histories are too large to look for an ancestor in. */
  setTooLarge(isTooLarge: boolean): void;
}

interface Commit {
  files: Record<string, string>;
  parent: string | null;
  committedAt: string | null;
  people: CommitPerson[];
  merges: string | null;
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

function createFakeSource(): FakeSource {
  const branches = new Map<string, string>();
  const commits = new Map<string, Commit>();
  const tags = new Map<string, string>();
  let isReachable = true;
  let isTooLarge = false;
  const keyOf = (url: string, branch: string | null) => `${url}#${branch?.replace(/^refs\/heads\//, '') ?? 'main'}`;
  const refKey = (url: string, ref: string) => keyOf(url, ref === 'HEAD' ? null : ref);
  let clock = Date.parse('2025-01-01T00:00:00Z');
  /** The commit and its ancestors, newest first. */
  function lineOf(commit: string): string[] {
    const { parent } = commits.get(commit)!;
    return [commit, ...(parent === null ? [] : lineOf(parent))];
  }
  /** As `Snapshot.writers`: of a document, and of those that went where it was written. */
  const writersOf = (tip: string) => async (since: string | null, paths: readonly string[]) => {
    const before = since === null || !commits.has(since) ? new Set<string>() : reachedFrom(since);
    const there = [...reachedFrom(tip).difference(before)].map((id) => commits.get(id)!);
    const sidesOf = ({ parent, merges }: Commit) =>
      [parent, merges].filter((each) => each !== null).map((each) => commits.get(each)!.files);
    const all = new Set(paths);
    for (let size = -1; size < all.size;) {
      size = all.size;
      for (const commit of there) {
        const { files } = commit;
        const sides = sidesOf(commit);
        const isWritten = (path: string) => path in files && sides.every((side) => side[path] !== files[path]);
        if (![...all].some(isWritten)) continue;
        for (const path of sides.flatMap((side) => Object.keys(side)))
          if (!(path in files) && /\.(?:json|ya?ml)$/.test(path)) all.add(path);
      }
    }
    return there.flatMap((commit) => {
      const { files, people } = commit;
      const sides = sidesOf(commit);
      const isChanged = (path: string) =>
        sides.length === 0 ? path in files : sides.some((side) => side[path] !== files[path]);
      return [...all].some(isChanged) ? people : [];
    });
  };
  function reachedFrom(id: string, reached = new Set<string>()): Set<string> {
    if (reached.has(id)) return reached;
    reached.add(id);
    const { parent, merges } = commits.get(id)!;
    for (const each of [parent, merges]) if (each !== null) reachedFrom(each, reached);
    return reached;
  }
  return {
    push(url, files, { branch = 'main', force = false, parent: given, committedAt, people = [], merges } = {}) {
      const tip =
        branches.get(keyOf(url, branch)) ?? (branch.startsWith('refs/') ? branches.get(keyOf(url, 'main')) : null);
      const parent = given ?? (force ? null : (tip ?? null));
      const id = sha1(JSON.stringify([url, files, parent, ...people]));
      const next = new Date((clock += 60_000)).toISOString();
      const at = committedAt === undefined ? next : committedAt;
      commits.set(id, { files, parent, committedAt: at, people, merges: merges ?? null });
      branches.set(keyOf(url, branch), id);
      return id;
    },
    tag: (url, name, commit) => void tags.set(`${url}#${name}`, commit),
    tags: async ({ url }) =>
      [...tags].flatMap(([key, commit]) =>
        key.startsWith(`${url}#`) ? [{ name: key.slice(url.length + 1), commit }] : [],
      ),
    deleteBranch: (url, branch = 'main') => void branches.delete(keyOf(url, branch)),
    move(from, to) {
      for (const map of [branches, tags])
        for (const [key, commit] of [...map].filter(([each]) => each.startsWith(`${from}#`))) {
          map.delete(key);
          map.set(to + key.slice(from.length), commit);
        }
    },
    setReachable(next) {
      isReachable = next;
    },
    setTooLarge(next) {
      isTooLarge = next;
    },
    async tip({ url, ref }) {
      if (!isReachable) throw new RegistryError('unreachable', `${url} does not answer.`);
      const commit = branches.get(refKey(url, ref));
      const named = ref === 'HEAD' ? { branch: 'main' } : {};
      return commit ? { found: true, commit, ...named } : { found: false, detail: `${url} has no ${ref}.` };
    },
    async snapshot({ url }, commit) {
      const { files, committedAt } = commits.get(commit)!;
      return { ...snapshotOf(url, commit, files, committedAt), writers: writersOf(commit) };
    },
    async merge({ url }, commit, head) {
      const base = lineOf(head.commit).find((id) => lineOf(commit).includes(id));
      if (base === undefined) return { outcome: 'unrelated' };
      const { committedAt } = commits.get(head.commit)!;
      const [before, ours, theirs] = [base, commit, head.commit].map((id) => commits.get(id)!.files);
      const files = mergeFiles(before!, ours!, theirs!);
      if ('paths' in files) return { outcome: 'conflict', paths: files.paths };
      const writers: Snapshot['writers'] = async (...given) => [
        ...(await writersOf(commit)(...given)),
        ...(await writersOf(head.commit)(...given)),
      ];
      return { outcome: 'merged', snapshot: { ...snapshotOf(url, head.commit, files.merged, committedAt), writers } };
    },
    async ancestry(_remote, commit, ancestor) {
      if (isTooLarge) throw new RegistryError('too_large', 'It is too large.');
      const line = lineOf(commit);
      if (line.includes(ancestor)) return 'descendant';
      return line.at(-1) === lineOf(ancestor).at(-1) ? 'rewritten' : 'unrelated';
    },
    async history(_remote, commit) {
      const line: HistoryCommit[] = [];
      for (let at: string | null = commit; at !== null; at = commits.get(at)!.parent) {
        const { files, parent, committedAt } = commits.get(at)!;
        line.unshift({
          commit: at,
          committedAt,
          ...changesBetween(parent === null ? {} : commits.get(parent)!.files, files),
        });
      }
      return line;
    },
    bring: async () => undefined,
    bringBlobs: async () => undefined,
    watchable: () => null,
  };
}

/** Merges whole files: one that both sides changed differently is a conflict. */
function mergeFiles(
  before: Record<string, string>,
  ours: Record<string, string>,
  theirs: Record<string, string>,
): { merged: Record<string, string> } | { paths: string[] } {
  const merged: Record<string, string> = {};
  const paths: string[] = [];
  for (const path of new Set([...Object.keys(ours), ...Object.keys(theirs), ...Object.keys(before)])) {
    const isOurs = theirs[path] === before[path];
    if (!isOurs && ours[path] !== before[path] && ours[path] !== theirs[path]) paths.push(path);
    const text = isOurs ? ours[path] : theirs[path];
    if (text !== undefined) merged[path] = text;
  }
  return paths.length > 0 ? { paths } : { merged };
}

function changesBetween(
  before: Record<string, string>,
  after: Record<string, string>,
): Pick<HistoryCommit, 'files' | 'moves'> {
  const files = new Map<string, string | null>();
  const moves = new Map<string, string>();
  for (const [path, text] of Object.entries(after)) {
    if (before[path] === text) continue;
    files.set(path, sha1(text));
    const from = Object.keys(before).find((old) => before[old] === text && !Object.hasOwn(after, old));
    if (from !== undefined && !Object.hasOwn(before, path)) moves.set(path, from);
  }
  for (const path of Object.keys(before)) if (!Object.hasOwn(after, path)) files.set(path, null);
  return { files, moves };
}

export function snapshotOf(
  repository: string | null,
  commit: string | null,
  files: Record<string, string>,
  committedAt: string | null = null,
): Snapshot {
  return {
    origin: { repository, commit },
    committedAt,
    entries: async (): Promise<SnapshotEntry[]> =>
      Object.entries(files)
        .map(([path, text]) => ({ path, kind: 'file' as const, id: sha1(text) }))
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
    read: async (paths) =>
      paths.map((path) =>
        Object.hasOwn(files, path)
          ? { path, found: true, bytes: Buffer.from(files[path]!), blob: sha1(files[path]!) }
          : { path, found: false, problem: problemAtFile('file-missing', path, `There is no ${path}.`) },
      ),
  };
}

/** A compiler that knows just enough: documents are YAML mappings; `broken: true` is refused; `include` names more files. `stele.yaml` is read as it is. */
export interface FakeCompiler extends Sandboxes {
  /** Paths that were compiled, in order. */
  compiled: string[];
}

function createFakeCompiler(): FakeCompiler {
  const compiled: string[] = [];
  return {
    id: 'fake/1',
    renderer: 'fake-1',
    outline: async (document) => fakeOutline(document.json),
    compare: async (before, after, _, rules) => compareDocuments(before, after, rules),
    render: async () => null,
    excerpt: async (document, part) => excerptOf(document, part),
    renderPages: async (pages) => renderPages(pages, null),
    compiled,
    async compile({ entry, type, ruleset }, load): Promise<Compiled> {
      compiled.push(entry);
      const [file] = await load([entry]);
      if (!file?.found)
        return refuse(entry, file?.problem.message ?? 'absent', [{ path: entry, blob: null, bytes: null }]);
      const value = parse(file.bytes);
      const included = await load((value?.['include'] as string[] | undefined) ?? []);
      const files = [file, ...included].map((each) =>
        each.found
          ? { path: each.path, blob: each.blob, bytes: each.bytes }
          : { path: each.path, blob: null, bytes: null },
      );
      if (value?.['died']) return refuse(entry, 'It took too much memory.', files, 'sandbox-memory');
      if (value === null || value['broken']) return refuse(entry, 'It is broken.', files);
      if (ruleset && !value['ok']) return refuse(entry, 'The ruleset wants ok.', files);
      const info = value['info'] as { title?: string; version?: string } | undefined;
      const parts = included.map((each) => (each.found ? Buffer.from(each.bytes).toString() : null));
      const json = Buffer.from(JSON.stringify(parts.length > 0 ? { ...value, parts } : value));
      const yaml = parts.length > 0 ? json : file.bytes;
      return {
        artifact: {
          type: type ?? 'apis',
          kind: types[type ?? 'apis'].usual,
          specification: '3.1.0',
          title: info?.title ?? '',
          description: '',
          summary: '',
          version: info?.version ?? null,
          representations: [
            { format: 'json', coding: 'identity', bytes: json },
            { format: 'json', coding: 'gzip', bytes: gzipSync(json) },
            { format: 'yaml', coding: 'identity', bytes: yaml },
          ],
        },
        report: createReport(
          included.flatMap((each) => (each.found ? [] : [{ ...each.problem, severity: 'warning' as const }])),
        ),
        files,
      };
    },
    async detect(files) {
      return files.flatMap(({ path, bytes }): Detected[] => {
        const value = parse(bytes);
        const kind = value?.['openapi']
          ? 'openapi'
          : value?.['$schema']
            ? 'json-schema'
            : value?.['rules']
              ? 'redocly-ruleset'
              : null;
        if (kind === null) return [];
        const typeOfKind: Record<string, ResourceType> = {
          openapi: 'apis',
          'json-schema': 'schemas',
          'redocly-ruleset': 'rulesets',
        };
        return [
          {
            path,
            type: typeOfKind[kind]!,
            kind,
            title: (value?.['info'] as { title?: string } | undefined)?.title ?? null,
            ...identityOf(value),
          },
        ];
      });
    },
    ignored: async (patterns, paths) => findIgnored(patterns, paths),
    readSettings: async (file, limits) => readSettings(file, limits),
    readVersion: async (file, limits) => readVersion(file, limits),
    close: async () => undefined,
  };
}

/** Of `paths` and `components.schemas`, the names and digests alone. */
function fakeOutline(json: Uint8Array): Outline {
  const value = parse(json) as {
    paths?: Record<string, Record<string, unknown>>;
    components?: { schemas?: Record<string, object> };
  } | null;
  const operations = Object.entries(value?.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      id: null,
      summary: '',
      tags: [],
      parameters: [],
      deprecated: false,
      digest: digestOf(JSON.stringify(operation)),
    })),
  );
  const schemas = Object.entries(value?.components?.schemas ?? {}).map(([name, schema]) => ({
    name,
    properties: [],
    digest: digestOf(JSON.stringify(schema)),
  }));
  const rest = { description: '', tags: [], rules: [], servers: [], truncated: false };
  return { title: '', operations, schemas, ...rest };
}

function refuse(path: string, message: string, files: Compiled['files'], rule = 'broken'): Compiled {
  return { artifact: null, report: createReport([problemAtFile(rule, path, message)]), files };
}

function parse(bytes: Uint8Array): Record<string, unknown> | null {
  const document = parseDocument(Buffer.from(bytes).toString());
  const value: unknown = document.errors.length > 0 ? null : document.toJS();
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

/** A registry in memory, with a clock that only a test moves. */
export interface World {
  registry: Registry;
  bucket: MemoryBucket;
  source: FakeSource;
  compiler: FakeCompiler;
  /** What was logged. */
  events: { level: string; event: string; fields: Record<string, unknown> }[];
  /** Lets time pass. */
  pass(milliseconds: number): void;
  /** Sets the clock on the wall forward or back, while no time passes. */
  step(milliseconds: number): void;
  /** Another process on the same bucket: its own memory, the same clock. */
  another(): Registry;
}

/** `on`: the bucket to stand on, instead of one in memory. */
export function createWorld(
  user: UserConfig = { organizations: { acme: {} } },
  on: Bucket | null = null,
  hosts: readonly Host[] = [],
): World {
  const config: Config = checkConfig(user, { base: '/nowhere', data: '/nowhere/data' });
  const memory = createMemoryBucket();
  const bucket = on ?? memory;
  const source = createFakeSource();
  const compiler = createFakeCompiler();
  const events: World['events'] = [];
  let time = Date.parse('2026-01-01T00:00:00Z');
  let counter = 0;
  let passed = 0;
  const now = () => new Date(time);
  const monotonic = () => passed;
  const randomBytes = (length: number) =>
    new Uint8Array(createHash('sha512').update(`${process.pid} ${counter++}`).digest()).slice(0, length);
  const log: Registry['log'] = (level, event, fields = {}) => void events.push({ level, event, fields });
  const open = (): Registry => {
    const refs = createRefs(bucket, { now, monotonic, uniqueId: () => newId({ now, randomBytes }) });
    return {
      config,
      bucket,
      objects: createObjects(bucket),
      refs,
      answers: createAnswerCache(refs),
      cache: createMemoryCache(),
      source,
      hosts,
      compiler,
      now,
      monotonic,
      expiryTime: createExpiryClock({ now, monotonic, log, refs }),
      ownKey: knownKey('the secret of what this registry seals'),
      randomBytes,
      log,
    };
  };
  return {
    registry: open(),
    bucket: memory,
    source,
    compiler,
    events,
    pass(milliseconds) {
      time += milliseconds;
      passed += milliseconds;
    },
    step: (milliseconds) => void (time += milliseconds),
    another: open,
  };
}
