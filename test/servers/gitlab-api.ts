import { keepComments, refuseMembers, type KeptComment } from './comments.ts';
import { openStandIn, pageOf, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface GitLabApi extends StandIn {
  statuses: { sha: string; name: string; status: string; description: string; target_url?: string }[];
  /** Merge requests of every project, newest first. */
  pulls: unknown[];
  owned: Owned;
  comments: KeptComment[];
  /** Lines that a merge request's diff shows. Others are refused. */
  shown: (path: string, line: number) => boolean;
}

/** Stands for the API of GitLab. Answers have the shapes of docs.gitlab.com/api; what is running cannot be told to run. */
export async function openGitLabApi(): Promise<GitLabApi> {
  const statuses: GitLabApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };
  const kept = keepComments();
  const shown = { now: (_path: string, _line: number) => true };

  function answerComments({ method, query, body }: Recorded, number: number, rest: string): Said | null {
    const diff_refs = { base_sha: 'b'.repeat(40), start_sha: 's'.repeat(40), head_sha: 'c'.repeat(40) };
    if (rest === '' && method === 'GET') return { status: 200, body: { iid: number, diff_refs } };
    if (rest === '/notes' && method === 'GET') {
      if (query['sort'] !== 'asc' || query['order_by'] !== 'created_at') return { status: 400, body: {} };
      const all = kept.comments.filter((each) => each.number === number);
      const notes = all.map(({ id, text, at }) => ({ id, body: text, type: at ? 'DiffNote' : null, system: false }));
      return { status: 200, headers: { 'x-next-page': '' }, body: notes };
    }
    if (rest === '/notes' && method === 'POST') {
      const refused = refuseMembers(body, ['body']);
      if (refused) return refused;
      const { id } = kept.add({ number, text: String(body!['body']) });
      return { status: 201, body: { id } };
    }
    if (rest === '/discussions' && method === 'POST') {
      const position = body?.['position'] as Record<string, unknown> | undefined;
      const names = ['base_sha', 'start_sha', 'head_sha', 'position_type', 'old_path', 'new_path', 'new_line'];
      const refused = refuseMembers(body, ['body', 'position']) ?? refuseMembers(position ?? null, names);
      if (refused) return refused;
      const at = { path: String(position!['new_path']), line: Number(position!['new_line']) };
      if (!shown.now(at.path, at.line))
        return { status: 400, body: { message: '400 Bad request - Note {:line_code=>["can\'t be blank"]}' } };
      const { id } = kept.add({ number, text: String(body!['body']), at });
      return { status: 201, body: { id: `d${id}`, notes: [{ id }] } };
    }
    const note = kept.find(Number(/^\/notes\/(\d+)$/.exec(rest)?.[1]));
    if (note && method === 'PUT') {
      note.text = String(body!['body']);
      return { status: 200, body: { id: note.id } };
    }
    if (!note || method !== 'DELETE') return null;
    kept.remove([note.id]);
    return { status: 204 };
  }

  function answer(request: Recorded): Said | null {
    const { method, path, query, body } = request;
    const [, kind, owner] = /^\/api\/v4\/(groups|users)\/([^/]+)\/projects$/.exec(path) ?? [];
    if (kind !== undefined) {
      if ((kind === 'groups') === owned.isUser || decodeURIComponent(owner!) !== 'acme') return null;
      if (!/^(?:true|false)$/.test(query['include_subgroups'] ?? ''))
        return { status: 400, body: { error: 'invalid' } };
      const { page, next } = pageOf(request, owned.repositories, Number(query['per_page'] ?? 20));
      const number = Number(query['page'] ?? 1);
      return { status: 200, headers: { 'x-next-page': next === null ? '' : String(number + 1) }, body: page };
    }
    const [, id, rest = ''] = /^\/api\/v4\/projects\/([^/]+)\/(.*)$/.exec(path) ?? [];
    if (decodeURIComponent(id ?? '') !== 'acme/contracts')
      return { status: 404, body: { message: '404 Project Not Found' } };
    if (rest === 'merge_requests') {
      const { page, headers, next } = pageOf(request, pulls, Number(query['per_page'] ?? 20));
      const number = Number(query['page'] ?? 1);
      return {
        status: 200,
        headers: { ...headers, 'x-next-page': next === null ? '' : String(number + 1) },
        body: page,
      };
    }
    const [, number, more = ''] = /^merge_requests\/(\d+)(\/.*)?$/.exec(rest) ?? [];
    if (number !== undefined) return answerComments(request, Number(number), more);
    if (method !== 'POST' || !rest.startsWith('statuses/')) return null;
    const sha = rest.split('/')[1]!;
    const { state, name = 'default', ...others } = body as { state: string; name?: string; description: string };
    const known = statuses.find((each) => each.sha === sha && each.name === name && each.status === 'running');
    if (known && state === 'running') {
      const message = 'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")';
      return { status: 400, body: { message } };
    }
    const status = { ...known, sha, name, status: state, ...others };
    if (known) Object.assign(known, status);
    else statuses.push(status);
    return { status: 201, body: { id: statuses.length, ...status, ref: 'main', allow_failure: false } };
  }

  const standIn = await openStandIn(answer);
  return {
    ...standIn,
    statuses,
    pulls,
    owned,
    comments: kept.comments,
    get shown() {
      return shown.now;
    },
    set shown(next) {
      shown.now = next;
    },
  };
}
