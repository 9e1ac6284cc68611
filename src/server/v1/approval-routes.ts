import { nameOfAuthor, type Decision } from '../../model/approval.ts';
import { repositoryId, repositoryName } from '../../model/connection.ts';
import { pick } from '../../model/json.ts';
import { nameOf } from '../../model/resource.ts';
import {
  approversOf,
  decide,
  findHeld,
  listHeld,
  whyNotDecide,
  type HeldHere,
} from '../../registry/approval/decide.ts';
import { orAbsent } from '../error-answers.ts';
import { bodyOf, type Call, sendPage, operationsAbout, resourceNamed } from './call.ts';

export const approvalOperations = operationsAbout('part', {
  async listApprovals(call) {
    const { registry, principal, org, query } = call;
    const named = query['resource'] as string | undefined;
    const only = named === undefined ? null : nameOf(resourceNamed(org, named));
    const all = await listHeld(registry, principal, org);
    return sendPage(call, (after) => all.filter(({ held }) => after === null || held.id < after), {
      isShown: ({ resource }) => only === null || nameOf(resource) === only,
      describe: (each) => recordOf(call, each),
      keyOf: ({ held }) => held.id,
    });
  },

  async getApproval(call) {
    const { registry, principal, org, path } = call;
    const found = orAbsent(await findHeld(registry, principal, org, path['approval']!));
    return { status: 200, body: { ...(await recordOf(call, found)), approvers: await approversOf(registry, found) } };
  },

  /** Decides, and then looks again at the repository and at the pull request, whose checks say so at once. */
  async decideApproval(call) {
    const { context, registry, principal, org, path, author } = call;
    const given = bodyOf<Pick<Decision, 'verdict' | 'reason'>>(call);
    const decided = await decide(registry, principal, org, path['approval']!, given, author);
    const { source, commit } = decided.held;
    const { connection } = decided.resource;
    if (connection !== null && commit !== null) {
      // Where it is connected now: the repository may have another name since.
      const id = repositoryId(connection.repository, connection.branch);
      if (source.startsWith('pull ')) await context.queue.checkAgain(org, id, commit);
      else await context.queue.request(org, id, 'manual');
    }
    return { status: 200, body: await recordOf(call, decided) };
  },
});

async function recordOf({ registry, principal, context }: Call, here: HeldHere): Promise<object> {
  const { resource, held, state, decisions, expiresAt } = here;
  const { id, source, label, from, commit, count, changes, preview, at } = held;
  const why = await whyNotDecide(registry, principal, here);
  return {
    id,
    resource: nameOf(resource),
    state,
    source,
    version: label,
    comparedWith: from === '' ? null : from,
    latest: held.latest ?? null,
    repository: resource.connection && commit !== null ? repositoryName(resource.connection.repository) : null,
    commit,
    authors: [...new Set(held.authors.map(nameOfAuthor))],
    changes,
    more: count - changes.length,
    decisions: decisions.map((each) => pick(each, 'verdict', 'by', 'name', 'reason', 'at')),
    mayDecide: why === null,
    whyNot: why,
    preview: preview === null ? null : `${context.url}/previews/${preview}`,
    heldAt: at,
    expiresAt,
  };
}
