import { keepComments, refuseMembers, type KeptComment } from './comments.ts';
import { openStandIn, pageOf, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface GiteaApi extends StandIn {
  statuses: { sha: string; context: string; state: string; description: string; target_url?: string }[];
  /** Pull requests of every repository, newest first. */
  pulls: unknown[];
  owned: Owned;
  /** Names of repositories by the names that they had before. */
  former: Record<string, string>;
  comments: KeptComment[];
}

/** Stands for the API of Gitea and Forgejo, with 30 on a page however many are asked for. Answers have the shapes of their Swagger document. */
export async function openGiteaApi(): Promise<GiteaApi> {
  const statuses: GiteaApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };
  const former: GiteaApi['former'] = {};
  const kept = keepComments();
  const reviews: { id: number; body: string; lines: number[] }[] = [];

  function answerComments({ method, body }: Recorded, number: number, rest: string): Said | null {
    if (rest === `issues/${number}/comments` && method === 'GET') {
      const all = kept.comments.filter((each) => each.number === number && !each.at);
      return { status: 200, body: all.map(({ id, text }) => ({ id, body: text })) };
    }
    if (rest === `issues/${number}/comments` && method === 'POST') {
      const refused = refuseMembers(body, ['body'], ['updated_at']);
      if (refused) return refused;
      return { status: 201, body: { id: kept.add({ number, text: String(body!['body']) }).id } };
    }
    if (rest === `pulls/${number}/reviews` && method === 'GET')
      return { status: 200, body: reviews.map(({ id, body: text }) => ({ id, body: text, state: 'COMMENT' })) };
    if (rest === `pulls/${number}/reviews` && method === 'POST') {
      const comments = (body?.['comments'] ?? []) as { path: string; body: string; new_position: number }[];
      const refused =
        refuseMembers(body, ['event', 'commit_id', 'body', 'comments']) ??
        comments.map((each) => refuseMembers(each, ['path', 'body', 'new_position'], ['old_position'])).find(Boolean);
      if (refused) return refused;
      const lines = comments.map((each) => {
        const at = { path: each.path, line: each.new_position };
        return kept.add({ number, text: each.body, at }).id;
      });
      const review = { id: reviews.length + 1000, body: String(body!['body']), lines };
      reviews.push(review);
      return { status: 200, body: { id: review.id } };
    }
    const index = reviews.findIndex(({ id }) => rest === `pulls/${number}/reviews/${id}`);
    if (index < 0 || method !== 'DELETE') return null;
    kept.remove(reviews[index]!.lines);
    reviews.splice(index, 1);
    return { status: 204 };
  }

  function findOne(method: string, path: string): Said | null {
    const [, id, name] = /^\/api\/v1\/(?:repositories\/(\d+)|repos\/([^/]+\/[^/]+))$/.exec(path) ?? [];
    if (method !== 'GET' || (id ?? name) === undefined) return null;
    const all = owned.repositories as { id?: number; full_name: string }[];
    const body = all.find((each) =>
      id === undefined ? each.full_name.toLowerCase() === name : String(each.id) === id,
    );
    if (body !== undefined) return { status: 200, body };
    const now = name === undefined ? undefined : former[name];
    return now === undefined ? null : { status: 301, headers: { location: `/api/v1/repos/${now}` } };
  }

  function answer(request: Recorded): Said | null {
    const { method, path, body } = request;
    const [, kind] = /^\/api\/v1\/(orgs|users)\/acme\/repos$/.exec(path) ?? [];
    if (kind !== undefined) {
      if ((kind === 'orgs') === owned.isUser) return null;
      const { page, headers } = pageOf(request, owned.repositories, 30);
      return { status: 200, headers, body: page };
    }
    const found = findOne(method, path);
    if (found !== null) return found;
    const [, rest = ''] = /^\/api\/v1\/repos\/acme\/[\w-]+\/(.*)$/.exec(path) ?? [];
    if (rest === 'pulls') {
      const { page, headers } = pageOf(request, pulls, 30);
      return { status: 200, headers: { ...headers, 'x-total-count': String(pulls.length) }, body: page };
    }
    const [, edited] = /^issues\/comments\/(\d+)$/.exec(rest) ?? [];
    if (edited !== undefined && method === 'PATCH') {
      const comment = kept.find(Number(edited));
      if (!comment) return null;
      comment.text = String(body!['body']);
      return { status: 200, body: { id: comment.id } };
    }
    const [, number] = /^(?:issues|pulls)\/(\d+)\//.exec(rest) ?? [];
    if (number !== undefined) return answerComments(request, Number(number), rest);
    if (method !== 'POST' || !rest.startsWith('statuses/')) return null;
    const status = { sha: rest.split('/')[1]!, ...(body as { context: string; state: string; description: string }) };
    statuses.push(status);
    const { state, ...more } = status;
    return { status: 201, body: { id: statuses.length, status: state, ...more } };
  }

  return { ...(await openStandIn(answer)), statuses, pulls, owned, former, comments: kept.comments };
}
