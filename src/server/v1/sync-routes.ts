import { formatCoordinate } from '../../model/address.ts';
import { publicDetail, repositoryId, repositoryName, type Run, type RunDocument } from '../../model/connection.ts';
import { showReport } from '../../registry/gate/show-report.ts';
import { RegistryError } from '../../model/errors.ts';
import { createWaitingPlaces } from '../../scheduling/places.ts';
import type { Report } from '../../model/problem.ts';
import { findRun, newestRuns } from '../../sync/runs.ts';
import { readJson } from '../../registry/stored.ts';
import { within } from '../../scheduling/waiting.ts';
import { nothingHere } from '../nothing-here.ts';
import type { Answer, Call, ResourceCall } from './call.ts';
import { isText, positionOf, sendPage } from './list-pages.ts';
import type { Digest } from '../../model/digest.ts';

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
export interface SyncRoutes<C extends Call> {
  request(call: C): Promise<Answer>;
  list(call: C): Promise<Answer>;
  get(call: C): Promise<Answer>;
}

export function createSyncRoutes<C extends Call>(syncedOf: (call: C) => Synced): SyncRoutes<C> {
  return {
    async request(call) {
      const { context, query } = call;
      const synced = syncedOf(call);
      const { org, name, connection } = synced;
      if (connection === null)
        throw new RegistryError('conflict', `${name} has no connection. Create one with PUT first.`);
      const id = repositoryId(connection.repository, connection.branch);
      const requested = await context.queue.request(org, id, 'manual');
      const run = await endWithin(call, requested.done, query['wait'] as number);
      const headers = { Location: `${context.url}/v1/${synced.runs}/${requested.run.id}` };
      return { status: run ? 200 : 202, headers, body: await describe(call, synced, run ?? requested.run) };
    },

    async list(call) {
      const { registry } = call;
      const synced = syncedOf(call);
      const { org } = synced;
      const before = positionOf(call, isText);
      async function* runs() {
        for await (const run of newestRuns(registry, org, before)) if (isAbout(synced, run)) yield run;
      }
      return sendPage(
        call,
        runs(),
        (run) => describe(call, synced, run),
        ({ id }) => id,
      );
    },

    async get(call) {
      const synced = syncedOf(call);
      const run = await findRun(call.registry, synced.org, call.path['run']!);
      if (run === null || !isAbout(synced, run)) throw new RegistryError('not_found', nothingHere);
      return { status: 200, body: await describe(call, synced, run) };
    },
  };
}

/** Those of a resource. */
export const resourceSyncs = createSyncRoutes<ResourceCall>(({ coordinate, found }) => {
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
const places = createWaitingPlaces({ ofOne: 8, ofOrganization: 32, ofAll: 256 });

/** The finished run, or null if it takes longer, or too many wait already. */
export async function endWithin(
  { org, principal }: Pick<Call, 'org' | 'principal'>,
  done: Promise<Run>,
  seconds: number,
): Promise<Run | null> {
  const leave = seconds === 0 ? null : places.take(org, principal.id);
  if (leave === null) return null;
  return within(seconds * 1000, done).finally(leave);
}

/** Whether the run includes what is synced, or its connected repository. */
function isAbout({ connection, isOwn }: Synced, run: Run): boolean {
  const isConnected = connection !== null && run.repository === repositoryId(connection.repository, connection.branch);
  return isConnected || run.documents.some((document) => isOwn(document, run));
}

/** A run as described in the API, with only its own documents. */
async function describe(call: Call, { isOwn }: Synced, run: Run): Promise<object> {
  const shown = run.documents.filter((document) => isOwn(document, run));
  const documents = shown.map(async (document) => ({
    ...documentRecord(run, document),
    report: document.report && (await readReport(call, document.report)),
  }));
  return runRecord(run, await Promise.all(documents));
}

/** A run as described in the API, with these records of its documents. */
export function runRecord(run: Run, documents: readonly object[]): object {
  const { id, state, trigger, url, branch, from, to, startedAt, finishedAt, progress = null, detail } = run;
  const about = { id, state, trigger, repository: repositoryName(url), branch, from, to };
  return { ...about, startedAt, finishedAt, progress, detail: publicDetail(url, detail), documents };
}

/** A document of a run as described in the API, without its report. */
export function documentRecord({ url }: Run, { path, outcome, label, detail }: RunDocument): object {
  return { path, outcome, version: label, detail: publicDetail(url, detail) };
}

/** A report as far as the asker may see it. */
export async function readReport(
  { registry, principal }: Pick<Call, 'registry' | 'principal'>,
  digest: Digest,
): Promise<Report> {
  return showReport(registry, principal, await readJson<Report>(registry, digest));
}
