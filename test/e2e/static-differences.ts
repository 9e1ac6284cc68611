import type { Answer } from '../server/http.ts';

/** A request that the registry and nginx may answer otherwise. */
export interface Probe {
  /** As the documentation has it. */
  name: string;
  target: string;
  method?: string;
  headers?: Record<string, string>;
  /** A field whose value is the asked server's own tag of the target. */
  tagIn?: string;
  /** What is shown of the answer beside its status. */
  show?: readonly (keyof typeof facts)[];
}

const facts = {
  type: ({ headers }: Answer) => headers.get('content-type') ?? 'no type',
  coding: ({ headers }: Answer) => headers.get('content-encoding') ?? 'plain',
  tag: ({ headers }: Answer) => {
    const tag = headers.get('etag');
    return tag === undefined ? 'no tag' : tag.startsWith('"sha256:') ? 'digest as tag' : 'own tag';
  },
  length: ({ headers }: Answer) => (headers.has('content-length') ? '`Content-Length`' : 'no `Content-Length`'),
  digest: ({ headers }: Answer) => (headers.has('repr-digest') ? '`Repr-Digest`' : 'no `Repr-Digest`'),
  credential: ({ headers }: Answer) =>
    headers.has('www-authenticate') ? '`WWW-Authenticate`' : 'no `WWW-Authenticate`',
  request: ({ headers }: Answer) => (headers.has('x-request-id') ? '`X-Request-Id`' : 'no `X-Request-Id`'),
  age: ({ headers }: Answer) => headers.get('cache-control') ?? 'no `Cache-Control`',
  ranges: ({ headers }: Answer) => `\`Accept-Ranges\`: ${headers.get('accept-ranges') ?? 'not sent'}`,
  items: ({ body }: Answer) => `${(JSON.parse(body.toString()) as { items: unknown[] }).items.length} items`,
};

const pay = '/@acme/apis/pay';
const pinned = `${pay}@1.0.1`;
const page = { Accept: 'text/html' };

export const probes: readonly Probe[] = [
  { name: 'a document', target: `${pinned}.json`, show: ['type', 'tag', 'digest'] },
  { name: 'a page', target: pinned, headers: page, show: ['tag', 'ranges'] },
  {
    name: 'a page, compressed',
    target: pinned,
    headers: { ...page, 'Accept-Encoding': 'br' },
    show: ['coding', 'tag'],
  },
  {
    name: 'a document, compressed',
    target: `${pinned}.json`,
    headers: { 'Accept-Encoding': 'gzip' },
    show: ['coding', 'ranges'],
  },
  ...[
    'application/openapi+yaml',
    'application/vnd.oai.openapi;version=3.0',
    'application/json;q=0.5, application/yaml;q=0.9',
    'image/png',
    'image/png, application/yaml',
  ].map((accept): Probe => ({
    name: `\`Accept: ${accept}\``,
    target: pinned,
    headers: { Accept: accept },
    show: ['type'],
  })),
  { name: '`?format=yaml`', target: `${pinned}?format=yaml`, show: ['type'] },
  { name: '`?format=xml`', target: `${pinned}?format=xml` },
  ...[
    'br;q=0',
    'gzip;q=1, br;q=0.5',
    'gzip;q=0.5, identity',
    'zstd;q=0.2, gzip;q=0.3, *;q=0.1',
    'identity;q=0',
    '*;q=0',
  ].map((coding): Probe => ({
    name: `\`Accept-Encoding: ${coding}\``,
    target: `${pinned}.json`,
    headers: { 'Accept-Encoding': coding },
    show: ['coding'],
  })),
  { name: '`If-None-Match` with its tag', target: `${pinned}.json`, tagIn: 'If-None-Match', show: ['length'] },
  {
    name: '`If-None-Match` with the tag of a page',
    target: pinned,
    headers: page,
    tagIn: 'If-None-Match',
    show: ['length'],
  },
  { name: '`If-Match` with its tag', target: `${pinned}.json`, tagIn: 'If-Match' },
  {
    name: '`If-Match` with another tag',
    target: `${pinned}.json`,
    headers: { 'If-Match': '"x"' },
    show: ['type', 'age'],
  },
  {
    name: '`If-Unmodified-Since` a date in the past',
    target: `${pinned}.json`,
    headers: { 'If-Unmodified-Since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
  },
  {
    name: '`If-Modified-Since` a date to come',
    target: `${pinned}.json`,
    headers: { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
  },
  ...['bytes=0-9', 'bytes=-3', 'bytes=-0', 'bytes=9-4', 'bytes=0-1,4-5', 'bytes=99999999-'].map((range): Probe => ({
    name: `\`Range: ${range}\``,
    target: `${pinned}.json`,
    headers: { Range: range },
  })),
  {
    name: '`Range` of a compressed document',
    target: `${pinned}.json`,
    headers: { Range: 'bytes=0-9', 'Accept-Encoding': 'br' },
  },
  { name: '`Range` of a report', target: `${pinned}/report`, headers: { Range: 'bytes=0-9' } },
  {
    name: '`Range` and `If-Range` with its tag',
    target: `${pinned}.json`,
    headers: { Range: 'bytes=1-9' },
    tagIn: 'If-Range',
  },
  { name: 'a range of versions: `@^1.0`', target: `${pay}@^1.0`, show: ['age'] },
  { name: '`@latest`', target: `${pay}@latest.json`, show: ['age'] },
  { name: 'a range between two versions: `@^1.1.7`', target: `${pay}@^1.1.7` },
  { name: '`POST` to a document', target: pinned, method: 'POST', show: ['type', 'age'] },
  { name: '`POST` to a missing resource', target: '/@acme/apis/none', method: 'POST' },
  { name: '`OPTIONS` of a missing resource', target: '/@acme/apis/none', method: 'OPTIONS' },
  { name: 'a missing resource', target: '/@acme/apis/none', show: ['type', 'age', 'credential', 'request'] },
  { name: 'a withdrawn version', target: `${pay}@1.1.1`, show: ['type', 'age', 'request'] },
  { name: 'a resource without a version, as a page', target: '/@acme/apis/soon', headers: page, show: ['type', 'age'] },
  { name: 'a resource without a version, as JSON', target: '/@acme/apis/soon', show: ['type'] },
  { name: 'versions, `?limit=1`', target: `${pay}/versions?limit=1`, show: ['items'] },
  { name: 'a search for JSON: `/search?q=pay`', target: '/search?q=pay', show: ['type'] },
  { name: '`@1.0.1/diff`, as a page', target: `${pay}@1.0.1/diff`, headers: page, show: ['type', 'age'] },
  { name: '`@1.0.1/diff`, as JSON', target: `${pay}@1.0.1/diff`, show: ['type', 'age'] },
  { name: '`@1.0.1/diff.md`', target: `${pay}@1.0.1/diff.md`, show: ['type', 'age'] },
  { name: '`/diff?from=&to=`', target: `${pay}/diff?from=1.0.0&to=1.0.1` },
  { name: '`/healthz`', target: '/healthz' },
];

/** An answer in a few words. */
export function describeAnswer(answer: Answer, { show = [] }: Probe): string {
  const shown = show.flatMap((name) => {
    if (name === 'items' && answer.status !== 200) return [];
    return [facts[name](answer)];
  });
  return [String(answer.status), ...shown].join(', ');
}

/** The page of the documentation. A line for each probe that is not answered the same by both. */
export function differencesPage(rows: readonly (readonly [string, string, string])[]): string {
  const differing = rows.filter(([, registry, nginx]) => nginx !== registry);
  return [
    '---',
    'title: Differences of a static build',
    'description: Where nginx responds differently from the registry, as a test found it.',
    'order: 61.5',
    '---',
    '',
    'nginx serves [a static build](static-build.md) by the rules in it. It responds differently from the',
    'registry to these requests. The test `test/e2e/static-differences.thorough.test.ts` writes the list and',
    'fails when it is out of date.',
    '',
    ...differing.flatMap(([request, registry, nginx]) => [
      `- ${request}`,
      `  - registry: ${registry}`,
      `  - nginx: ${nginx}`,
    ]),
    '',
  ].join('\n');
}
