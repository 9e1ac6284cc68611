import { formatCoordinate } from '../../model/address.ts';
import {
  publicDetail,
  repositoryId,
  repositoryName,
  type Run,
  type RunDocument,
  repositoryRef,
  type Repository,
  type Connection,
  connectionState,
} from '../../model/connection.ts';
import { showReport } from '../../registry/gate/show-report.ts';
import { notFound, forbidden, conflict } from '../../model/errors.ts';
import { createWaitingPlaces } from '../../scheduling/places.ts';
import type { components } from './management.d.ts';
import type { Report } from '../../model/problem.ts';
import { findRun, newestRuns } from '../../sync/runs.ts';
import { readJson } from '../../registry/stored.ts';
import { within } from '../../scheduling/waiting.ts';
import { absent, orAbsent } from '../error-answers.ts';
import {
  answerRecord,
  type Answer,
  type Call,
  type Calls,
  type Routes,
  sendPage,
  bodyOf,
  matchesQuery,
  guardOf,
  operationsAbout,
  sendSorted,
} from './call.ts';
import type { Digest } from '../../model/digest.ts';
import { defaultVisibility } from '../../registry/gate/policy.ts';
import { followGiven, unfollow, type GivenRepository } from '../../sync/follow.ts';
import { describeOwners, describeRepositories, type FollowedRepository } from '../../sync/owners/describe-followed.ts';
import { isAllowed } from '../../model/access.ts';
import type { Resource } from '../../model/resource.ts';
import { connectRecord, disconnectRecord, readConnection } from '../../sync/connect.ts';
import { offerTags, type ReleaseTags } from '../../sync/sync-tags.ts';
import { hostOf } from '../../registry/remote.ts';
import type { Generation } from '../../store/records.ts';

/** What is synced: a resource, or a site. */
interface Synced {
  org: string;
  /** `@org/type/slug` */
  name: string;
  /** Path of its runs under `/v1`. */
  runs: string;
  connection: { repository: string; branch: string | null } | null;
  isOwn(document: RunDocument, run: Run): boolean;
}

/** How to answer about the sync runs of something: ask for one, list them, get one. */
export function createSyncRoutes<A extends 'resource' | 'site'>(
  about: A,
  syncedOf: (call: Calls[A]) => Synced,
): Routes {
  return operationsAbout(about, {
    async 'sync{one}'(call) {
      const synced = syncedOf(call);
      const { name, connection, runs } = synced;
      if (connection === null) throw conflict(`${name} has no connection. Create one with PUT first.`);
      const id = repositoryId(connection.repository, connection.branch);
      return sync(call, id, runs, (run) => describeRun(call, synced, run));
    },

    async 'list{one}Syncs'(call) {
      const { registry } = call;
      const synced = syncedOf(call);
      return sendPage(call, (before) => newestRuns(registry, synced.org, before), {
        isShown: (run) => isAbout(synced, run),
        describe: (run) => describeRun(call, synced, run),
        keyOf: ({ id }) => id,
      });
    },

    async 'get{one}Sync'(call) {
      const synced = syncedOf(call);
      const run = await findRun(call.registry, synced.org, call.path['run']!);
      if (run === null || !isAbout(synced, run)) throw absent();
      return { status: 200, body: await describeRun(call, synced, run) };
    },
  });
}

/** Those of a resource. */
export const resourceSyncs = createSyncRoutes('resource', ({ coordinate, found }) => {
  const name = formatCoordinate(coordinate);
  return {
    org: coordinate.org,
    name,
    runs: `${coordinate.type}/${coordinate.slug}/syncs`,
    connection: found.value.connection,
    isOwn: ({ resource }) => resource === name,
  };
});

/** Requests that may wait at once. More are answered without waiting. */
const places = createWaitingPlaces(8);

/** Asks for a sync of a repository, and waits for it as long as the call says. `runs`: the path of its runs under `/v1`. */
async function sync(
  call: Call,
  id: string,
  runs: string,
  describe: (run: Run) => object | Promise<object>,
): Promise<Answer> {
  const { context, org, query } = call;
  const { run, done } = await context.queue.request(org, id, 'manual');
  const ended = await endWithin(call, done, query['wait'] as number);
  const headers = { Location: `${context.url}/v1/${runs}/${run.id}` };
  return { status: ended ? 200 : 202, headers, body: await describe(ended ?? run) };
}

/** The finished run, or null if it takes longer, or too many wait already. */
async function endWithin(
  { org, principal }: Pick<Call, 'org' | 'principal'>,
  done: Promise<Run>,
  seconds: number,
): Promise<Run | null> {
  const leave = seconds === 0 ? null : places.take(org, principal.id);
  if (leave === null) return null;
  return within(seconds * 1000, done).finally(leave);
}

function isAbout({ connection, isOwn }: Synced, run: Run): boolean {
  const isConnected = connection !== null && run.repository === repositoryId(connection.repository, connection.branch);
  return isConnected || run.documents.some((document) => isOwn(document, run));
}

async function describeRun(call: Call, { isOwn }: Synced, run: Run): Promise<object> {
  const shown = run.documents.filter((document) => isOwn(document, run));
  const documents = shown.map(async (document) => ({
    ...documentRecord(run, document),
    report: document.report && (await readReport(call, document.report)),
  }));
  return runRecord(run, await Promise.all(documents));
}

function runRecord(run: Run, documents: readonly object[]): object {
  const { id, state, trigger, url, branch, from, to, startedAt, finishedAt, progress = null, detail, sandbox } = run;
  const about = { id, state, trigger, repository: repositoryName(url), branch, from, to };
  return {
    ...about,
    startedAt,
    finishedAt,
    progress,
    detail: publicDetail(url, detail),
    ...(sandbox && { sandbox }),
    documents,
  };
}

function documentRecord({ url }: Run, { path, outcome, label, detail }: RunDocument): object {
  return { path, outcome, version: label, detail: publicDetail(url, detail) };
}

async function readReport(
  { registry, principal }: Pick<Call, 'registry' | 'principal'>,
  digest: Digest,
): Promise<Report> {
  return showReport(registry, principal, await readJson<Report>(registry, digest));
}

export const repositoryOperations = operationsAbout('organization', {
  async listRepositories(call) {
    const { query } = call;
    const { state } = query;
    return sendSorted(call, await followed(call), {
      isShown: (each) => (state === undefined || each.state === state) && matchesQuery(call, each.repository),
      describe: (item) => item,
      keyOf: ({ repository, id }) => `${repository} ${id}`,
    });
  },

  listOwners: async ({ registry, org }) => ({ status: 200, body: { items: await describeOwners(registry, org) } }),

  async followRepository(call) {
    const { registry, org, author, context } = call;
    const {
      branch = null,
      path = null,
      credential = null,
      visibility,
      ...given
    } = bodyOf<Partial<GivenRepository> & Pick<GivenRepository, 'repository' | 'validation'>>(call);
    const usual = await defaultVisibility(registry, org);
    const whole = { ...given, branch, path, credential, visibility: visibility ?? usual };
    const id = await followGiven(registry, org, whole, author);
    const headers = { Location: `${context.url}/v1/repositories/${id}` };
    return { status: 201, headers, body: await findFollowed(call, id) };
  },

  async getRepository(call) {
    const { registry, org, path } = call;
    const repository = await findFollowed(call, path['repository']!);
    const documents = (await registry.refs.read<Repository>(repositoryRef(org, repository.id)))?.value.documents ?? {};
    const rejected = repository.rejected.map(async (each) => {
      const digest = documents[each.path]?.report ?? null;
      return digest === null ? each : { ...each, report: await readReport(call, digest) };
    });
    return { status: 200, body: { ...repository, rejected: await Promise.all(rejected) } };
  },

  async unfollowRepository({ registry, org, path, author }) {
    await unfollow(registry, org, path['repository']!, author);
    return { status: 204 };
  },

  async syncRepository(call) {
    const { id } = await findFollowed(call, call.path['repository']!);
    return sync(call, id, `repositories/${id}/syncs`, (run) => describeRepositoryRun(run));
  },

  async listRepositorySyncs(call) {
    const { registry, org } = call;
    const { id } = await findFollowed(call, call.path['repository']!);
    return sendPage(call, (before) => newestRuns(registry, org, before), {
      isShown: (run) => run.repository === id,
      describe: (run) => describeRepositoryRun(run),
      keyOf: (run) => run.id,
    });
  },

  async getRepositorySync({ registry, principal, org, path }) {
    const run = await findRun(registry, org, path['run']!);
    if (run === null || run.repository !== path['repository']) throw absent();
    const reports = await Promise.all(
      run.documents
        .filter(({ outcome, report }) => outcome === 'rejected' && report !== null)
        .slice(0, maxReports)
        .map(async (document) => [document, await readReport({ registry, principal }, document.report!)] as const),
    );
    return { status: 200, body: describeRepositoryRun(run, new Map(reports)) };
  },
});

export const connectionOperations = operationsAbout('resource', {
  'get{one}Connection': (call) => describeConnected(call, call.found),

  async 'connect{one}'(call) {
    const { branch = null, tags = null, credential = null, webhookSecret, ...given } = bodyOf<NewConnection>(call);
    assertMaySetSecret(call, webhookSecret);
    const { registry, coordinate, author } = call;
    const wanted = { ...given, branch, tags, credential };
    const connected = await connectRecord(registry, coordinate, wanted, author, guardOf(call), webhookSecret);
    const releases = await offerTags(registry, connected.value);
    return describeConnected(call, connected, releases);
  },
});

export const disconnectOperations = operationsAbout('resource', {
  async 'disconnect{one}'({ registry, coordinate, author, asker }) {
    await disconnectRecord(registry, coordinate, author, guardOf({ asker }));
    return { status: 204 };
  },
});

const maxReports = 20;

function followed({ registry, context, org }: Call): Promise<FollowedRepository[]> {
  return describeRepositories(registry, org, (owner, id) => context.queue.hasNews(owner, id));
}

async function findFollowed(call: Call, id: string): Promise<FollowedRepository> {
  const stored = await call.registry.refs.read<Repository>(repositoryRef(call.org, id));
  return orAbsent(stored && (await followed(call)).find((each) => each.id === id));
}

/** A run with all its documents, for who may read the whole organization. */
function describeRepositoryRun(run: Run, reports: ReadonlyMap<RunDocument, Report> = new Map()): object {
  const documents = run.documents.map((document) => ({
    ...documentRecord(run, document),
    resource: document.resource,
    ...(reports.has(document) && { report: reports.get(document) }),
  }));
  return runRecord(run, documents);
}

type NewConnection = components['schemas']['NewConnection'] & Pick<Connection, 'onConflict'>;

async function describeConnected(
  { registry, context }: Call,
  { value: resource, generation }: Generation<Resource>,
  releases: ReleaseTags | null = null,
): Promise<Answer> {
  const { connection } = resource;
  if (connection === null) throw notFound('The resource has no connection.');
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  const body = {
    ...describeConnection(connection),
    ...describeFollowed({ registry, context }, resource.org, connection, repository?.value ?? null, document),
    document: document && { outcome: document.outcome, version: document.label },
    ...(releases && { releases }),
  };
  return answerRecord(body, generation, repository?.generation ?? 0);
}

/** How the repository of a connection is followed, as described in the API. */
export function describeFollowed(
  { registry, context }: Pick<Call, 'registry' | 'context'>,
  org: string,
  { repository: url, branch }: { repository: string; branch: string | null },
  repository: Repository | null,
  document: Parameters<typeof connectionState>[1],
): object {
  const id = repositoryId(url, branch);
  const { state, detail, since } = connectionState(repository, document, context.queue.hasNews(org, id));
  const hasSecret = (repository?.hookSecrets ?? []).length > 0;
  const host = hostOf(registry, url)?.host.name ?? null;
  return {
    state,
    detail: publicDetail(url, detail),
    since,
    webhook: host && {
      // Without a secret of its own, the connection uses the configured one.
      url: `${context.url}/v1/hooks/${host}${hasSecret ? `?connection=${org}/${id}` : ''}`,
      hasSecret,
    },
    commit: repository?.commit ?? null,
    syncedAt: repository?.syncedAt ?? null,
  };
}

/** Throws `forbidden` unless the key may change the hook secret, which is that of the whole repository. */
export function assertMaySetSecret({ principal, org }: Call, webhookSecret: string | null | undefined): void {
  if (webhookSecret === undefined || isAllowed(principal, 'admin', { org })) return;
  const why = 'The hook secret applies to the whole repository. A key limited to some resources cannot change it.';
  throw forbidden(why);
}

function describeConnection({ repository, branch, path, tags, onConflict, credential }: Connection): object {
  return { repository: repositoryName(repository), branch, path, tags: tags ?? null, onConflict, credential };
}
