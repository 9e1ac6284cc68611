import { formatCoordinate } from '../../model/address.ts';
import {
  publicDetail,
  repositoryId,
  repositoryName,
  runRef,
  type Run,
  type RunDocument,
} from '../../model/connection.ts';
import { showReport } from '../../registry/gate/show-report.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Report } from '../../model/problem.ts';
import { readAmong } from '../../registry/read-among.ts';
import { findRun } from '../../sync/runs.ts';
import { readJson } from '../../registry/stored.ts';
import { nothingHere } from '../nothing-here.ts';
import type { ResourceCall, ResourceHandler } from './call.ts';
import { isText, positionOf, sendPage } from './list-pages.ts';

export const requestSync: ResourceHandler = async (call) => {
  const { context, coordinate, found, query } = call;
  const { connection } = found.value;
  if (connection === null) {
    throw new RegistryError(
      'conflict',
      `${formatCoordinate(coordinate)} has no connection. Create one with PUT first.`,
    );
  }
  const id = repositoryId(connection.repository, connection.branch);
  const requested = await context.queue.request(coordinate.org, id, 'manual');
  const run = await endWithin(requested.done, query['wait'] as number);
  const headers = { Location: `${context.url}/v1/${coordinate.type}/${coordinate.slug}/syncs/${requested.run.id}` };
  return { status: run ? 200 : 202, headers, body: await describe(call, run ?? requested.run) };
};

/** The finished run, or null if it takes longer. */
export async function endWithin(done: Promise<Run>, seconds: number): Promise<Run | null> {
  if (seconds === 0) return null;
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), seconds * 1000);
  try {
    return await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export const listSyncs: ResourceHandler = async (call) => {
  const { registry, coordinate } = call;
  const before = positionOf(call, isText);
  async function* runs() {
    const names = await Array.fromAsync(registry.refs.list(`runs/${coordinate.org}/`));
    for (const name of names.reverse()) {
      if (before !== null && name >= runRef(coordinate.org, before)) continue;
      const run = (await readAmong<Run>(registry, name))?.value;
      if (run && isAbout(call, run)) yield run;
    }
  }
  return sendPage(
    call,
    runs(),
    (run) => describe(call, run),
    ({ id }) => id,
  );
};

export const getSync: ResourceHandler = async (call) => {
  const run = await findRun(call.registry, call.coordinate.org, call.path['run']!);
  if (run === null || !isAbout(call, run)) throw new RegistryError('not_found', nothingHere);
  return { status: 200, body: await describe(call, run) };
};

/** Whether the run includes the resource or its connected repository. */
function isAbout({ coordinate, found }: ResourceCall, run: Run): boolean {
  const { connection } = found.value;
  const isConnected = connection !== null && run.repository === repositoryId(connection.repository, connection.branch);
  return isConnected || run.documents.some(({ resource }) => resource === formatCoordinate(coordinate));
}

/** A run as described in the API, with only the documents of this resource. */
async function describe({ registry, coordinate, principal }: ResourceCall, run: Run): Promise<object> {
  const { id, state, trigger, url, branch, from, to, startedAt, finishedAt, detail } = run;
  const own = run.documents.filter(({ resource }) => resource === formatCoordinate(coordinate));
  const documents = await Promise.all(
    own.map(async (document: RunDocument) => ({
      path: document.path,
      outcome: document.outcome,
      version: document.label,
      detail: publicDetail(url, document.detail),
      report:
        document.report && (await showReport(registry, principal, await readJson<Report>(registry, document.report))),
    })),
  );
  const progress = run.progress ?? null;
  const about = { id, state, trigger, repository: repositoryName(url), branch, from, to };
  return { ...about, startedAt, finishedAt, progress, detail: publicDetail(url, detail), documents };
}
