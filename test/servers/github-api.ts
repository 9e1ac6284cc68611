import { keepComments, refuseMembers, type KeptComment } from './comments.ts';
import { openStandIn, pageOf, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

/** A check run as GitHub keeps it. */
export interface CheckRun {
  id: number;
  name: string;
  head_sha: string;
  app: { id: number };
  status: string;
  conclusion: string | null;
  details_url: string | null;
  output: { title: string; summary: string; annotations_count: number };
  annotations: Record<string, unknown>[];
}

export interface GitHubApi extends StandIn {
  apiUrl: string;
  runs: CheckRun[];
  statuses: { sha: string; state: string; context: string; description: string; target_url?: string }[];
  /** Pull requests of every repository, newest first. */
  pulls: unknown[];
  /** Repositories by the installation that has them. */
  installations: Map<string, number>;
  owned: Owned;
  comments: KeptComment[];
}

const appId = 4242;

/** Stands for the API of a GitHub of one's own, with an app whose id is 4242. Answers have the shapes of docs.github.com/rest. */
export async function openGitHubApi(): Promise<GitHubApi> {
  const runs: CheckRun[] = [];
  const statuses: GitHubApi['statuses'] = [];
  const pulls: unknown[] = [];
  const installations = new Map([
    ['acme/contracts', 7],
    ['acme', 7],
  ]);
  const owned: Owned = { repositories: [], isUser: false };
  let minted = 0;
  const kept = keepComments();

  function isApp({ headers }: Recorded): boolean {
    return /^bearer ey/i.test(headers.authorization ?? '');
  }

  function writeRun(run: CheckRun, body: Record<string, unknown>): Said {
    const { output, ...rest } = body as {
      output?: { title: string; summary: string; annotations?: Record<string, unknown>[] };
    };
    if ((output?.annotations ?? []).length > 50)
      return { status: 422, body: { message: 'No more than 50 annotations' } };
    Object.assign(run, rest);
    if (run.status !== 'completed') run.conclusion = null;
    run.annotations.push(...(output?.annotations ?? []));
    if (output) run.output = { ...output, annotations_count: run.annotations.length };
    return { status: 200, body: run };
  }

  function answer(request: Recorded): Said | null {
    const { method, path, query, body } = request;
    const [, owner, repo, rest = ''] = /^\/api\/v3\/repos\/([^/]+)\/([^/]+)\/(.*)$/.exec(path) ?? [];
    if (path.startsWith('/api/v3/app/installations/')) {
      if (!isApp(request)) return { status: 401, body: { message: 'A JSON web token could not be decoded' } };
      minted++;
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const token = `ghs_${path.split('/')[5]}_${minted}`;
      const permissions = { checks: 'write', contents: 'read', metadata: 'read' };
      return { status: 201, body: { token, expires_at, permissions, repository_selection: 'selected' } };
    }
    const [, kind, account, about] = /^\/api\/v3\/(orgs|users)\/([^/]+)\/(installation|repos)$/.exec(path) ?? [];
    if (kind !== undefined && (kind === 'orgs') === owned.isUser) return null;
    if (about === 'installation') {
      const id = installations.get(account!);
      return isApp(request) && id !== undefined ? { status: 200, body: { id, app_id: appId } } : null;
    }
    const isInstalled = path === '/api/v3/installation/repositories';
    if (isInstalled && !request.headers.authorization?.startsWith('token ghs_'))
      return { status: 403, body: { message: 'You must authenticate with an installation access token' } };
    if (isInstalled || (about === 'repos' && account === 'acme')) {
      const size = Number(query['per_page'] ?? 30);
      if (size > 100) return { status: 422, body: { message: 'per_page' } };
      const { page, headers } = pageOf(request, owned.repositories, size);
      const listed = { total_count: owned.repositories.length, repositories: page };
      return { status: 200, headers, body: isInstalled ? listed : page };
    }
    const name = `${owner}/${repo}`;
    if (rest === 'installation') {
      const id = installations.get(name);
      return isApp(request) && id !== undefined ? { status: 200, body: { id, app_id: appId } } : null;
    }
    if (rest === 'pulls') {
      const { page, headers } = pageOf(request, pulls, Number(query['per_page'] ?? 30));
      return { status: 200, headers, body: page };
    }
    const [, number] = /^issues\/(\d+)\/comments$/.exec(rest) ?? [];
    const [, commentId] = /^issues\/comments\/(\d+)$/.exec(rest) ?? [];
    if (number !== undefined && method === 'GET') {
      const all = kept.comments.filter((each) => each.number === Number(number));
      const { page, headers } = pageOf(request, all, Number(query['per_page'] ?? 30));
      return { status: 200, headers, body: (page as KeptComment[]).map(({ id, text }) => ({ id, body: text })) };
    }
    if ((number !== undefined && method === 'POST') || (commentId !== undefined && method === 'PATCH')) {
      const refused = refuseMembers(body, ['body']);
      if (refused) return refused;
      const text = String(body!['body']);
      const comment =
        number === undefined ? kept.find(Number(commentId)) : kept.add({ number: Number(number), text: '' });
      if (!comment) return null;
      comment.text = text;
      return { status: number === undefined ? 200 : 201, body: { id: comment.id, body: text } };
    }
    if (method === 'POST' && rest.startsWith('statuses/')) {
      statuses.push({ sha: rest.split('/')[1]!, ...(body as { state: string; context: string; description: string }) });
      return { status: 201, body: { id: statuses.length, state: body!['state'], context: body!['context'] } };
    }
    const isInstallation = (request.headers.authorization ?? '').startsWith('token ghs_');
    if (/check-runs/.test(rest) && method !== 'GET' && !isInstallation)
      return { status: 403, body: { message: 'You must authenticate via a GitHub App.' } };
    if (method === 'GET' && rest.endsWith('/check-runs')) {
      const found = runs.filter(
        (run) =>
          run.head_sha === rest.split('/')[1] &&
          run.name === query['check_name'] &&
          String(run.app.id) === query['app_id'],
      );
      const latest = found.slice(-1);
      return { status: 200, body: { total_count: latest.length, check_runs: latest } };
    }
    if (method === 'POST' && rest === 'check-runs') {
      const run: CheckRun = {
        id: runs.length + 1,
        name: '',
        head_sha: '',
        app: { id: appId },
        status: 'queued',
        conclusion: null,
        details_url: null,
        output: { title: '', summary: '', annotations_count: 0 },
        annotations: [],
      };
      const said = writeRun(run, body!);
      if (said.status === 200) runs.push(run);
      return said.status === 200 ? { ...said, status: 201 } : said;
    }
    const known = runs.find(({ id }) => rest === `check-runs/${id}`);
    return method === 'PATCH' && known ? writeRun(known, body!) : null;
  }

  const standIn = await openStandIn(answer);
  return {
    ...standIn,
    apiUrl: `${standIn.url}/api/v3`,
    runs,
    statuses,
    pulls,
    installations,
    owned,
    comments: kept.comments,
  };
}
