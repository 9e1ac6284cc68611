import { type IncomingMessage, type RequestListener, Agent, createServer, request as send } from 'node:http';
import { inspect } from 'node:util';
import express, { type ErrorRequestHandler, type Express, type IRouter, type Request, type Response } from 'express';
import { notFound, malformed } from '../model/errors.ts';
import type { Log, Registry } from '../registry/registry.ts';
import { createSearch } from '../search/search.ts';
import { createSite, type Site, type Answered, type Answers, type PageRequest } from '../site/site.ts';
import { addAssetFiles, bytesOf, pageSharing, sendPage } from './send-page.ts';
import { basePathOf, belowBase, type ServerContext } from './server-context.ts';
import { createAuthenticate, type Authenticate } from './authenticate.ts';
import { createDoor, type Face } from './door.ts';
import { addDiscovery, addDocs, addFrontPages } from './read/front-pages.ts';
import { addPublicLog } from './read/public-log-handler.ts';
import { sendProblem, isProblemCode, problemTypes, type ProblemCode, absent } from './error-answers.ts';
import { type AnswerEarly, createHits, type Hits } from './fast-path.ts';
import { keepAliveTimeout, type App } from './listen.ts';
import { defaultHeaders } from './headers.ts';
import { addHealth } from './health.ts';
import { addMcp } from './mcp/mcp-handler.ts';
import { createMetrics, createObserver, type Observer } from './observe.ts';
import { createOci, isOci } from './oci/oci.ts';
import { addPreviews } from './read/preview-handler.ts';
import { createReadLimit, type ReadLimit } from './rate-limit.ts';
import { createReads, isRead } from './read/reads.ts';
import { requestIdOf, routeNameOf } from './request.ts';
import { addSearch } from './read/search-handler.ts';
import { createOwnHost } from '../sites/server/send-site.ts';
import { createSiteAt, hostOf } from '../sites/server/site-hosts.ts';
import { problemPage, problemsPage } from '../site/pages/message-pages.ts';
import { onlyGet } from './methods.ts';
import { prefersPage } from './read/read-request.ts';
import { duplexPair } from 'node:stream';
import { createDocs } from '../site/docs/docs-page.ts';

/**
 * The whole server: registry reads and the OCI face, and an Express application for everything else. Reads bypass
 * Express, which would cost a quarter of their speed (`scripts/bench/read.ts`) and decodes paths
 * too early.
 */
export function createApp(given: ServerContext): App {
  const made = given.site ?? createSite(given.registry, given.url, { hasLogin: given.login !== undefined });
  const site = given.dev?.listening(made) ?? made;
  const context = { ...given, site };
  const authenticate = createAuthenticate(context);
  const limit = createReadLimit(context);
  const base = basePathOf(given.url);
  const siteAt = createSiteAt(context.registry.config);
  const hits =
    limit === null
      ? createHits(context.registry, { kept: site.answers, keepAlive: keepAliveTimeout, base, siteAt })
      : null;
  const metrics = createMetrics(context.queue, context.registry.caches);
  const observer = createObserver(context.registry, metrics);
  const everythingElse = faceOfApp(context, createOthers(context, authenticate, observer, limit));
  const read = createReads(context, authenticate, { limit, hits });
  const oci = createOci(context, authenticate, limit);
  const ownHost = createOwnHost(context, authenticate, limit);
  const enter = createDoor(context.registry, observer, everythingElse);

  function choose(request: IncomingMessage): Face {
    const target = readTarget(request.url!);
    if (target === null) throw malformed(noTarget);
    const name = siteAt && siteAt(hostOf(request));
    if (name) {
      request.url = target;
      return ownHost(name);
    }
    const below = belowBase(target, base);
    if (below === null) throw notFound(notBelow(base));
    request.url = below;
    if (isOci(below)) return oci;
    return isRead(below) ? read : everythingElse;
  }

  const receive: RequestListener = (request, response) => enter(request, response, choose);
  const early = hits && observer.isQuiet ? observeHits(hits, observer, context.registry.log) : null;
  return Object.assign(receive, { early, metrics });
}

function observeHits(hits: Hits, observer: Observer, log: Log): AnswerEarly {
  return (request, socket) => {
    const startedAt = performance.now();
    try {
      const answered = hits.answer(request, socket);
      if (answered !== null) observer.count(request.method!, answered.route, answered.status, startedAt);
      return answered !== null;
    } catch (error) {
      log('error', 'an answer that was kept could not be sent', { error: inspect(error) });
      return false;
    }
  };
}

const noTarget = 'The request target is not a valid path.';
const notBelow = (base: string) => `This registry is at ${base}/.`;

/** The face of an Express application. Its own error handler answers errors; what that throws comes out here. */
function faceOfApp(context: ServerContext & { site: Site }, app: Express): Face {
  return {
    answer: (request, response) =>
      new Promise((resolve, reject) => {
        response.once('close', resolve);
        app(request as Request, response as Response, reject);
      }),
    refuse: (request, response, error) => sendProblem(context, request, response, error),
    routeOf: (request) => patternOf(request as Request),
  };
}

function createOthers(
  context: Required<Pick<ServerContext, 'site'>> & ServerContext,
  authenticate: Authenticate,
  observer: Observer,
  limit: ReadLimit | null,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', 'simple');
  app.set('trust proxy', context.registry.config.proxies);
  const secure = defaultHeaders(context.url);
  app.use(async (request, response, next) => {
    response.set(secure);
    response.setHeader('X-Request-Id', requestIdOf(request));
    await authenticate(request);
    next();
  });
  addHealth(app, context);
  app.use(observer.router);
  if (context.dev) app.use(context.dev.router);
  addFrontPages(app, context.site, context.login);
  addAssetFiles(app, context.site);
  addProblemPages(app, context.site);
  addDiscovery(app, context.site, { hasManagement: context.v1 !== undefined, limit });
  addPublicLog(app, context.registry, limit);
  const search = createSearch(context.registry);
  const docs = createDocs(context.site);
  addSearch(app, context.site, search, limit, docs);
  addMcp(app, context, search, limit);
  addPreviews(app, context, limit);
  addDocs(app, context.site, docs);
  if (context.v1) app.use('/v1', context.v1(context.site));
  if (context.login) app.use(context.login.router);
  if (context.console) app.use('/console', context.console(context.site));
  app.use(() => {
    throw absent();
  });
  app.use(((error, request, response, _next) =>
    sendProblem(context, request, response, error)) satisfies ErrorRequestHandler);
  return app;
}

/** The route pattern of an Express request. Their number is finite, whatever clients request. */
function patternOf(request: Request): string {
  const { path } = (request.route ?? {}) as { path?: unknown };
  return routeNameOf(request) ?? (typeof path === 'string' ? path : 'unmatched');
}

/**
 * The path and query of a request target (RFC 9112 §3.2); of the absolute form, without scheme and
 * host. Null for an invalid target: a fragment, characters that URIs do not allow, or anything that
 * URL parsers understand differently.
 */
function readTarget(url: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(url) || url.includes('#')) return null;
  if (url.startsWith('/') || url === '*') return url;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  return url.replace(/^[^:]+:\/\/[^/?]*/, '').replace(/^(?!\/)/, '/');
}

function addProblemPages(app: IRouter, site: Site): void {
  const { config } = site.registry;
  const codes = Object.keys(problemTypes).filter(isProblemCode);
  const headers = pageSharing(config, { isPublic: true });
  async function answer(request: Request, response: Response, data: object, page: () => string): Promise<void> {
    if (prefersPage(request.headers.accept))
      return sendPage({ request, response }, site.registry, bytesOf(page()), { headers });
    response.set({ 'Cache-Control': 'public, max-age=3600', Vary: 'Accept' }).json(data);
  }

  app.get('/problems', (request, response) => {
    const kinds = codes.map((code) => ({ code, ...problemTypes[code] }));
    return answer(request, response, { items: codes.map(describe) }, () => problemsPage(site, kinds));
  });
  app.get('/problems/:code', (request, response) => {
    const { code } = request.params;
    if (!isProblemCode(code)) throw absent();
    return answer(request, response, describe(code), () => problemPage(site, { code, ...problemTypes[code] }));
  });
  app.all(['/problems', '/problems/:code'], onlyGet);

  function describe(code: ProblemCode): object {
    return { type: `${site.url}/problems/${code}`, code, ...problemTypes[code] };
  }
}

/**
 * Answers requests of this process over pipes, without sign-in, management API or limits. Nothing
 * else can connect.
 */
export function openAnswers(registry: Registry, site: Site, queue: ServerContext['queue']): Answers {
  const { reads: _, ...rateLimit } = registry.config.rateLimit;
  const unlimited = { ...registry, config: { ...registry.config, rateLimit } };
  const app = createApp({ registry: unlimited, site, queue, url: site.url, isReady: () => true });
  const base = basePathOf(site.url);
  const server = createServer({ keepAliveTimeout: 0 }, app);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  agent.createConnection = () => {
    const [ours, theirs] = duplexPair();
    server.emit('connection', theirs);
    // The agent calls these on sockets that it keeps alive. A pipe needs none of them.
    return Object.assign(ours, { setKeepAlive: ignore, setTimeout: ignore, ref: ignore, unref: ignore });
  };
  return {
    ask: (asked) => ask(agent, { ...asked, path: base + asked.path }),
    async close() {
      agent.destroy();
      server.closeAllConnections();
    },
  };
}

function ignore(): void {}

async function ask(
  agent: Agent,
  { path, method = 'GET', accept, coding = 'identity' }: PageRequest,
): Promise<Answered> {
  const headers = { 'Accept-Encoding': coding, ...(accept !== undefined && { Accept: accept }) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send({ agent, host: 'registry.invalid', path, method, headers }, resolve).once('error', reject).end();
  });
  // `stream/consumers` would make a Blob of it first.
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode!, headers: response.headers as Answered['headers'], body };
}
