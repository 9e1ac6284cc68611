import { keepComments, refuseMembers, type KeptComment } from './comments.ts';
import { openStandIn, pageOf, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface BitbucketApi extends StandIn {
  statuses: { sha: string; key: string; state: string; name: string; description: string; url: string }[];
  /** Pull requests of every repository, newest first. */
  pulls: unknown[];
  owned: Owned;
  comments: KeptComment[];
  /** Annotations of reports, by commit and report. */
  reports: Map<string, { result: string; annotations: Record<string, unknown>[] }>;
}

/** Stands for the API of Bitbucket Cloud: a status has a key of 40 characters at most, and a link. */
export async function openBitbucketApi(): Promise<BitbucketApi> {
  const statuses: BitbucketApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };
  const kept = keepComments();
  const reports: BitbucketApi['reports'] = new Map();

  function answerReports({ method, body }: Recorded, commit: string, id: string, rest: string): Said | null {
    const key = `${commit} ${id}`;
    if (method === 'DELETE' && rest === '') {
      return reports.delete(key) ? { status: 204 } : { status: 404, body: {} };
    }
    if (method === 'PUT' && rest === '') {
      const refused = refuseMembers(
        body,
        ['title', 'details', 'report_type'],
        ['reporter', 'result', 'link', 'external_id', 'data', 'logo_url', 'remote_link_enabled'],
      );
      if (refused) return refused;
      reports.set(key, { result: String(body!['result']), annotations: reports.get(key)?.annotations ?? [] });
      return { status: 200, body: { type: 'report' } };
    }
    const report = reports.get(key);
    if (method !== 'POST' || rest !== '/annotations' || !report) return null;
    const items = body as unknown as Record<string, unknown>[];
    const required = ['external_id', 'annotation_type', 'summary'];
    const optional = ['path', 'line', 'details', 'severity', 'result', 'link'];
    const refused = items.map((each) => refuseMembers(each, required, optional)).find(Boolean);
    if (refused || items.length > 100 || report.annotations.length + items.length > 1000)
      return refused ?? { status: 400, body: { type: 'error' } };
    report.annotations.push(...items);
    return { status: 200, body: items };
  }

  function answerComments(request: Recorded, number: number, id: string): Said | null {
    const { method, query, body } = request;
    const raw = (body?.['content'] as { raw?: string } | undefined)?.raw;
    if (method === 'GET' && id === '') {
      const size = Number(query['pagelen'] ?? 10);
      if (size > 100) return { status: 400, body: { type: 'error', error: { message: 'Invalid pagelen' } } };
      const all = kept.comments.filter((each) => each.number === number);
      const { page, next } = pageOf(request, all, size);
      const values = (page as KeptComment[]).map((each) => ({
        id: each.id,
        content: { raw: each.text },
        deleted: false,
      }));
      return { status: 200, body: { size: all.length, pagelen: size, values, ...(next && { next }) } };
    }
    if (raw === undefined) return { status: 400, body: { type: 'error', error: { message: 'Bad request' } } };
    if (method === 'POST' && id === '') return { status: 201, body: { id: kept.add({ number, text: raw }).id } };
    const comment = kept.find(Number(id));
    if (!comment || method !== 'PUT') return null;
    comment.text = raw;
    return { status: 200, body: { id: comment.id } };
  }

  function answer(request: Recorded): Said | null {
    const { method, path, query, body } = request;
    if (path === '/2.0/repositories/acme') {
      const size = Number(query['pagelen'] ?? 10);
      if (size > 100) return { status: 400, body: { type: 'error', error: { message: 'Invalid pagelen' } } };
      const { page, next } = pageOf(request, owned.repositories, size);
      return { status: 200, body: { pagelen: size, values: page, ...(next && { next }) } };
    }
    const [, rest = ''] = /^\/2\.0\/repositories\/acme\/contracts\/(.*)$/.exec(path) ?? [];
    if (rest === 'pullrequests') {
      const size = Number(query['pagelen'] ?? 10);
      if (size > 50) return { status: 400, body: { type: 'error', error: { message: 'Invalid pagelen' } } };
      const { page, next } = pageOf(request, pulls, size);
      return { status: 200, body: { size: pulls.length, pagelen: size, values: page, ...(next && { next }) } };
    }
    const [, commit, report, more = ''] = /^commit\/([0-9a-f]{40})\/reports\/([^/]+)(\/.*)?$/.exec(rest) ?? [];
    if (commit !== undefined) return answerReports(request, commit, report!, more);
    const [, number, comment = ''] = /^pullrequests\/(\d+)\/comments\/?(\d*)$/.exec(rest) ?? [];
    if (number !== undefined) return answerComments(request, Number(number), comment);
    const [, sha] = /^commit\/([0-9a-f]{40})\/statuses\/build$/.exec(rest) ?? [];
    if (method !== 'POST' || sha === undefined) return null;
    const { key, url } = body as { key?: string; url?: string };
    if (!key || key.length > 40 || !url)
      return { status: 400, body: { type: 'error', error: { message: 'Bad request' } } };
    const status = { sha, ...(body as { key: string; state: string; name: string; description: string; url: string }) };
    const known = statuses.find((each) => each.sha === sha && each.key === key);
    if (known) Object.assign(known, status);
    else statuses.push(status);
    return { status: known ? 200 : 201, body: { type: 'build', ...status } };
  }

  return { ...(await openStandIn(answer)), statuses, pulls, owned, comments: kept.comments, reports };
}
