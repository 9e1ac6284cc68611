// Answers requests for a static build as the registry does: content negotiation, ranges of versions, 410, digests.
// `stele build --host cloudflare` and `--host netlify` write it into the build. It has no imports: `table` says what is the
// same for the whole build, and `rules/edge/…` what there is to know of one resource.

/**
 * The response to a request. `file`: reads a file of the build, by its path from the root; null if there is none.
 * @param {Request} request
 * @param {(path: string) => Promise<Response | null>} file
 */
export async function answer(request, table, file) {
  const url = new URL(request.url);
  const path = pathOf(url.pathname, table.base);
  const accept = request.headers.get('accept');
  const absent = (status, code, folder = '') => refuse({ table, file, accept }, status, code, folder);
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: table.headers.preflight ?? {} });
  if (request.method !== 'GET' && request.method !== 'HEAD') return absent(405, 'method_not_allowed');
  if (path === null) return absent(404, 'not_found');
  const format = url.searchParams.get('format');
  const [, name, selector, ending, tail] =
    /^\/(@[a-z0-9-]+\/(?:apis|schemas|rulesets)\/[a-z0-9-]+)(?:@([^/]+?))?(\.json|\.yaml)?(\/[^/]+)?$/.exec(path) ?? [];
  if (name === undefined) {
    const moved = Object.hasOwn(table.moved, path) ? table.moved[path] : null;
    if (moved !== null) {
      const headers = { ...table.headers.moved, Location: `${table.base}${moved}${url.search}` };
      return new Response(null, { status: 301, headers });
    }
    const found = siteFile(table, path) ?? plainFile(path, accept, url.searchParams);
    if (found === null) return absent(404, 'not_found');
    if (found === 'unacceptable') return absent(406, 'not_acceptable');
    return send(request, table, file, { type: typeOf(found, accept), ...found }, absent);
  }
  const rules = await read(file, `/rules/edge/${name}.json`);
  if (rules === null) return absent(404, 'not_found');
  if (rules.isGone) return absent(410, 'gone', `/${name}`);
  if (tail === '/versions' && selector === undefined) {
    const kind = recordKind(accept, format, 'versions');
    if (kind === null) return absent(406, 'not_acceptable');
    const cursor = /^[A-Za-z0-9_-]+$/.exec(url.searchParams.get('cursor') ?? '')?.[0];
    const end = kind === 'versions-page' ? '/index.html' : cursor ? `.${cursor}.json` : '.json';
    return send(
      request,
      table,
      file,
      { kind, path: `/${name}/versions${end}`, type: table.headers[kind]?.['content-type'] },
      absent,
    );
  }
  if (tail === '/dependants' && selector === undefined) {
    const found = listFile(path, accept, url.searchParams);
    return found === 'unacceptable'
      ? absent(406, 'not_acceptable')
      : send(request, table, file, { type: typeOf(found, accept), ...found }, absent);
  }
  const label = labelOf(rules, selector);
  const range = label === null && selector !== undefined ? rules.ranges[selector] : undefined;
  if (range !== undefined) {
    const Location = `${table.base}/${name}@${range}${ending ?? ''}${tail ?? ''}${url.search}`;
    return new Response(null, { status: 307, headers: { ...table.headers.range, Location } });
  }
  const gone = label ?? selector;
  if (rules.gone.includes(gone)) return absent(410, 'gone', `/${name}@${gone}`);
  const types = typesOf(table, name);
  const kind = kindOf(name, { ending, tail, format, accept, types });
  if (kind === 'malformed') return absent(400, 'malformed');
  if (label === null && rules.latest === null && selector === undefined && ['page', 'users'].includes(kind)) {
    const headers = { 'content-location': `${table.base}/${name}/index.html` };
    return send(request, table, file, { kind: 'users', path: `/${name}/index.html`, type: htmlType, headers }, absent);
  }
  if (label === null || kind === null) return absent(404, 'not_found');
  if (kind === 'unacceptable') return absent(406, 'not_acceptable');
  const about = rules.versions[label];
  const base = `/${name}@${label}`;
  const found = { kind, path: fileOf(kind, base, tail), type: typeOf({ kind, path: tail ?? '' }, accept, types) };
  const headers = ownHeaders(kind, {
    table,
    about,
    base,
    tail,
    isLatest: selector === undefined || selector === 'latest',
  });
  return send(request, table, file, { ...found, headers }, absent);
}

const htmlType = 'text/html; charset=utf-8';

/** The path below the base, with the escapes that clients may use undone; null if it is spelled otherwise than a registry spells it. */
function pathOf(pathname, base) {
  if (base !== '' && pathname !== base && !pathname.startsWith(`${base}/`)) return null;
  const path = pathname.slice(base.length).replace(/%(?:40|5e|7e|2b|3a)/gi, decodeURIComponent) || '/';
  return /%|\/\//.test(path) || path.length > 1024 ? null : path;
}

function labelOf({ versions, latest, digests }, selector) {
  if (selector === undefined || selector === 'latest') return latest;
  if (Object.hasOwn(versions, selector)) return selector;
  return digests[selector] ?? null;
}

/** The kind of file of a resource. Null: there is nothing at this path. */
function kindOf(name, { ending, tail, format, accept, types }) {
  const page = name.includes('/rulesets/') ? 'users' : 'page';
  if (tail !== undefined) {
    if (ending !== undefined) return null;
    if (tail === '/index.html') return page;
    if (tail === '/index.md') return 'markdown';
    if (tail === '/report' || tail === '/provenance') return recordKind(accept, format, 'record') ?? 'unacceptable';
    if (tail === '/attestation' || tail === '/manifest') return attestationKind(accept, format);
    if (/^\/diff(?:\.json|\.md)?$/.test(tail)) return diffKind(tail, format, accept);
    if (/^\/image-[0-9a-f]{16}\./.test(tail)) return tail.endsWith('.svg') ? 'drawing' : 'image';
    if (!name.includes('/apis/')) return null;
    if (tail === '/try') return 'try';
    return /^\/part-[a-z0-9-]+$/.test(tail) ? 'part' : null;
  }
  if (ending !== undefined) return ending.slice(1);
  if (format !== null) return format === 'json' || format === 'yaml' ? format : 'malformed';
  const offers = [...types.json, ...types.yaml, 'text/html'];
  const wanted = accept === null ? types.json[0] : choose(accept, offers);
  if (wanted === null) return 'unacceptable';
  return wanted === 'text/html' ? page : types.json.includes(wanted) ? 'json' : 'yaml';
}

/** The media types of a resource's documents, by format. */
function typesOf(table, name) {
  return table.types[name.split('/')[1]];
}

/** In which form to say what changed. */
function diffKind(tail, format, accept) {
  const forms = { json: 'diff', html: 'diff-page', markdown: 'diff-markdown', md: 'diff-markdown' };
  if (format !== null) return Object.hasOwn(forms, format) ? forms[format] : 'unacceptable';
  if (tail !== '/diff') return tail === '/diff.json' ? 'diff' : 'diff-markdown';
  const types = { 'application/json': 'diff', 'text/html': 'diff-page', 'text/markdown': 'diff-markdown' };
  const wanted = accept === null ? 'application/json' : choose(accept, Object.keys(types));
  return wanted === null ? 'unacceptable' : types[wanted];
}

/** Of data for programs and a page for people: which. */
/** An attestation is JSON, whatever is preferred. */
function attestationKind(accept, format) {
  const isTaken = format === null ? choose(accept ?? '*/*', ['application/json']) !== null : format === 'json';
  return isTaken ? 'record' : 'unacceptable';
}

function recordKind(accept, format, kind) {
  if (format !== null) return format === 'json' ? kind : null;
  const wanted = accept === null ? 'application/json' : choose(accept, ['application/json', 'text/html']);
  return wanted === null ? null : wanted === 'text/html' ? (kind === 'record' ? 'record-page' : `${kind}-page`) : kind;
}

/** The media type that `Accept` prefers (RFC 9110 §12.5.1), the first among equals; null if it takes none. */
function choose(accept, types) {
  const ranges = accept.split(',').map((each) => {
    const [range, ...parameters] = each
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const weight = parameters.find((one) => one.startsWith('q='));
    return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
  const weightOf = (type) => {
    for (const range of [type, `${type.split('/')[0]}/*`, '*/*']) {
      const at = ranges.findIndex((one) => one.range === range);
      if (at >= 0) return { weight: ranges[at].weight, exact: range === type ? 2 : range === '*/*' ? 0 : 1, at };
    }
    return { weight: 0, exact: 0, at: 0 };
  };
  const rated = types.map((type, order) => ({ type, order, ...weightOf(type) })).filter(({ weight }) => weight > 0);
  rated.sort((a, b) => b.weight - a.weight || b.exact - a.exact || a.at - b.at || a.order - b.order);
  return rated[0]?.type ?? null;
}

/** The file of a documentation site at this path; null: it is not one. */
function siteFile({ sites }, path) {
  if (!path.startsWith('/sites/')) return null;
  const place = sites.find((each) => new RegExp(`^${each.path}$`).test(path));
  if (place === undefined) return null;
  const { kind, ending, mediaType } = place;
  return { kind, path: `${path}${ending}`, ...(mediaType !== null && { type: mediaType }) };
}

/** A list, as a page or as JSON a page at a time. */
function listFile(path, accept, query) {
  if (prefersPage(accept) && query.get('format') === null) return { kind: 'front', path: `${path}/index.html` };
  if (accept !== null && choose(accept, ['application/json']) === null) return 'unacceptable';
  const cursor = /^[A-Za-z0-9_-]+$/.exec(query.get('cursor') ?? '')?.[0];
  return { kind: 'listing', path: `${path}${cursor ? `.${cursor}` : ''}.json` };
}

function prefersPage(accept) {
  return accept !== null && /html/i.test(accept) && choose(accept, ['application/json', 'text/html']) === 'text/html';
}

/** The file of a path that names neither a resource nor a site. */
function plainFile(path, accept, query) {
  const wantsPage = prefersPage(accept);
  if (path === '/') return { kind: 'home', path: '/index.html' };
  if (/^\/@[a-z0-9-]+(?:\/(?:apis|schemas|rulesets|graph))?$/.test(path)) return listFile(path, accept, query);
  if (path === '/search') return wantsPage ? { kind: 'home', path: '/search/index.html' } : 'unacceptable';
  if (/^\/problems(?:\/[a-z_]+)?$/.test(path))
    return wantsPage ? { kind: 'plain-page', path: `${path}/index.html` } : { kind: 'problem', path: `${path}.json` };
  if (/^\/docs(?:\/[a-z0-9-]+)?\/index\.md$/.test(path)) return { kind: 'doc-markdown', path };
  if (/^\/docs(?:\/[a-z0-9-]+)?\/?$/.test(path)) {
    const folder = path.replace(/\/$/, '');
    const wanted = accept === null ? 'text/html' : choose(accept, ['text/html', 'text/markdown']);
    return wanted === 'text/markdown'
      ? { kind: 'doc-markdown', path: `${folder}/index.md` }
      : { kind: 'plain-page', path: `${folder}/index.html` };
  }
  if (/^\/search\/.+\.json$/.test(path)) return { kind: 'index', path };
  if (/^\/assets\/.+\.(?:css|js|svg|png)$/.test(path)) return { kind: 'asset', path };
  if (path === '/.well-known/api-catalog') return { kind: 'catalog', path };
  if (
    /^\/(?:llms\.txt|robots\.txt|sitemap(?:-\d+)?\.xml|apis\.json|@[^/]+\/catalog(?:\.json|-info\.yaml)|feed\.(?:atom|json)|feeds\/.+\.(?:atom|json))$/.test(
      path,
    )
  )
    return { kind: 'discovery', path };
  if (/^\/log\/(?:checkpoint|key(?:\.pem|\.proof)?)$/.test(path)) return { kind: 'log', path };
  if (/^\/log\/tile\/[0-9a-z/.]+$/.test(path)) return { kind: 'log-tile', path };
  return null;
}

function fileOf(kind, base, tail) {
  if (kind === 'json' || kind === 'yaml') return `${base}.${kind}`;
  if (kind === 'page' || kind === 'users') return `${base}/index.html`;
  if (kind === 'record') return `${base}${tail}.json`;
  if (kind === 'diff') return `${base}/diff.json`;
  if (kind === 'diff-page') return `${base}/diff/index.html`;
  if (kind === 'diff-markdown') return `${base}/diff.md`;
  return ['record-page', 'part', 'try'].includes(kind) ? `${base}${tail}/index.html` : `${base}${tail}`;
}

const extensions = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  txt: 'text/plain; charset=utf-8',
  xml: 'application/xml',
  atom: 'application/atom+xml; charset=utf-8',
  json: 'application/feed+json',
};

/** The media type of a file; undefined: that of its kind. */
function typeOf({ kind, path }, accept, documents) {
  if (kind === 'json' || kind === 'yaml') {
    const type = choose(accept ?? '*/*', documents[kind]) ?? documents[kind][0];
    return type === 'text/yaml' ? `${type}; charset=utf-8` : type;
  }
  if (path.endsWith('/llms.txt')) return 'text/markdown; charset=utf-8';
  if (path === '/apis.json') return 'application/apis+json';
  if (kind === 'discovery' && path.endsWith('/catalog.json')) return 'application/json';
  if (kind === 'discovery' && path.endsWith('.yaml')) return 'application/yaml';
  return ['asset', 'image', 'drawing', 'discovery'].includes(kind) ? extensions[path.split('.').pop()] : undefined;
}

/** Header fields of one version's file. */
function ownHeaders(kind, { table, about, base, tail, isLatest }) {
  const place = { json: '', yaml: '', page: '/index.html', users: '/index.html', markdown: '/index.md', part: tail }[
    kind
  ];
  const digest = about.digests[kind];
  const policy = kind === 'try' ? about.policy : ['page', 'users', 'part'].includes(kind) ? about.pagePolicy : null;
  const isShort = isLatest && ['json', 'yaml', 'record', 'image', 'drawing'].includes(kind);
  return {
    ...(['image', 'drawing', 'diff', 'diff-page', 'diff-markdown'].includes(kind) ? {} : about.headers),
    ...(place !== undefined && { 'content-location': `${table.base}${base}${place}` }),
    ...(digest && { etag: `"sha256:${digest}"`, 'repr-digest': `sha-256=:${base64Of(digest)}:` }),
    ...(policy && { 'content-security-policy': policy }),
    ...(isShort && { 'cache-control': table.headers.latest?.['cache-control'] }),
  };
}

function base64Of(hex) {
  return btoa(hex.replace(/../g, (pair) => String.fromCharCode(parseInt(pair, 16))));
}

async function send(request, table, file, { kind, path, type, headers = {} }, absent) {
  const found = await file(path);
  if (found === null) return absent(404, 'not_found');
  const fields = new Headers({ ...table.headers[kind], ...headers });
  if (type !== undefined) fields.set('content-type', type);
  if (kind === 'catalog') fields.set('link', `<${table.base}/.well-known/api-catalog>; rel="api-catalog"`);
  const tag = fields.get('etag') ?? found.headers.get('etag');
  if (tag !== null) fields.set('etag', tag);
  const known = request.headers.get('if-none-match');
  if (
    known !== null &&
    tag !== null &&
    (known === '*' || known.split(/\s*,\s*/).some((one) => bare(one) === bare(tag)))
  ) {
    fields.delete('content-type');
    return new Response(null, { status: 304, headers: fields });
  }
  return new Response(request.method === 'HEAD' ? null : found.body, { headers: fields });
}

function bare(tag) {
  return tag.replace(/^W\//, '');
}

/** An error: to people a page where there is one, to programs a problem document. */
async function refuse({ table, file, accept }, status, code, folder) {
  const wantsPage = prefersPage(accept);
  const isFile = status === 404 || status === 410;
  const path = status === 410 ? `${folder}/410` : '/404';
  const problem = table.problems[code];
  const body = isFile ? await file(`${path}.${wantsPage ? 'html' : 'json'}`) : null;
  const isPage = wantsPage && body !== null;
  const { 'cache-control': cache, 'referrer-policy': referrer } = table.headers.absent ?? {};
  const headers = {
    'Content-Type': isPage ? htmlType : 'application/problem+json',
    'Cache-Control': cache ?? 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy':
      (isPage ? table.headers.absent : table.headers.json)?.['content-security-policy'] ?? "default-src 'none'",
    ...(referrer && { 'Referrer-Policy': referrer }),
    ...(status === 405 && { Allow: 'GET, HEAD, OPTIONS' }),
  };
  return new Response(body?.body ?? JSON.stringify(problem ?? { status }), { status, headers });
}

async function read(file, path) {
  const found = await file(path);
  return found === null ? null : found.json();
}
