import { repositoryRef, type Repository, type Run, type RunDocument } from '../../model/connection.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Report } from '../../model/problem.ts';
import { defaultVisibility } from '../../registry/gate/policy.ts';
import { followGiven, unfollow, type GivenRepository } from '../../sync/follow.ts';
import { describeOwners, describeRepositories, type FollowedRepository } from '../../sync/owners/describe-followed.ts';
import { findRun, newestRuns } from '../../sync/runs.ts';
import { nothingHere } from '../nothing-here.ts';
import { bodyOf, type Answer, type Call, type Handler } from './call.ts';
import { isText, matchesQuery, positionOf, sendPage } from './list-pages.ts';
import { documentRecord, endWithin, readReport, runRecord } from './sync-routes.ts';

export const listRepositories: Handler = async (call) => {
  const { query } = call;
  const after = positionOf(call, isText);
  const keyOf = ({ repository, id }: FollowedRepository) => `${repository} ${id}`;
  const items = (await followed(call)).filter((each) => {
    if (after !== null && keyOf(each) <= after) return false;
    if (query['state'] !== undefined && each.state !== query['state']) return false;
    return matchesQuery(call, each.repository);
  });
  return sendPage(call, items, (item) => item, keyOf);
};

export const listOwners: Handler = async ({ registry, org }) => ({
  status: 200,
  body: { items: await describeOwners(registry, org) },
});

export const followOne: Handler = async (call) => {
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
};

export const getRepository: Handler = async (call) => {
  const { registry, org, path } = call;
  const repository = await findFollowed(call, path['repository']!);
  const documents = (await registry.refs.read<Repository>(repositoryRef(org, repository.id)))?.value.documents ?? {};
  const rejected = repository.rejected.map(async (each) => {
    const digest = documents[each.path]?.report ?? null;
    return digest === null ? each : { ...each, report: await readReport(call, digest) };
  });
  return { status: 200, body: { ...repository, rejected: await Promise.all(rejected) } };
};

export const unfollowOne: Handler = async ({ registry, org, path, author }) => {
  await unfollow(registry, org, path['repository']!, author);
  return { status: 204 };
};

export const syncRepository: Handler = async (call) => {
  const { context, org, query } = call;
  const { id } = await findFollowed(call, call.path['repository']!);
  const requested = await context.queue.request(org, id, 'manual');
  const run = await endWithin(call, requested.done, query['wait'] as number);
  const headers = { Location: `${context.url}/v1/repositories/${id}/syncs/${requested.run.id}` };
  return { status: run ? 200 : 202, headers, body: describe(run ?? requested.run) };
};

export const listRepositorySyncs: Handler = async (call) => {
  const { registry, org } = call;
  const { id } = await findFollowed(call, call.path['repository']!);
  const before = positionOf(call, isText);
  async function* runs() {
    for await (const run of newestRuns(registry, org, before)) if (run.repository === id) yield run;
  }
  return sendPage(
    call,
    runs(),
    (run) => describe(run),
    (run) => run.id,
  );
};

export const getRepositorySync: Handler = async ({ registry, principal, org, path }): Promise<Answer> => {
  const run = await findRun(registry, org, path['run']!);
  if (run === null || run.repository !== path['repository']) throw new RegistryError('not_found', nothingHere);
  const reports = await Promise.all(
    run.documents
      .filter(({ outcome, report }) => outcome === 'rejected' && report !== null)
      .slice(0, maxReports)
      .map(async (document) => [document, await readReport({ registry, principal }, document.report!)] as const),
  );
  return { status: 200, body: describe(run, new Map(reports)) };
};

/** The most rejected documents of a run whose reports are in an answer. */
const maxReports = 20;

function followed({ registry, context, org }: Call): Promise<FollowedRepository[]> {
  return describeRepositories(registry, org, (owner, id) => context.queue.hasNews(owner, id));
}

async function findFollowed(call: Call, id: string): Promise<FollowedRepository> {
  const stored = await call.registry.refs.read<Repository>(repositoryRef(call.org, id));
  const repository = stored && (await followed(call)).find((each) => each.id === id);
  if (!repository) throw new RegistryError('not_found', nothingHere);
  return repository;
}

/** A run with all its documents, for who may read the whole organization. */
function describe(run: Run, reports: ReadonlyMap<RunDocument, Report> = new Map()): object {
  const documents = run.documents.map((document) => ({
    ...documentRecord(run, document),
    resource: document.resource,
    ...(reports.has(document) && { report: reports.get(document) }),
  }));
  return runRecord(run, documents);
}
