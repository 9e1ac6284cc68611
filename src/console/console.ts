import { Router, type Request, type Response } from 'express';
import { grantsIn, organizationsOf } from '../model/access.ts';
import { isResourceType, isSlug } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { sessionOf } from '../server/authenticate.ts';
import { readForm } from '../server/body/read-form.ts';
import { assertOwnPage, isCrossSite } from '../server/login/cross-site.ts';
import { nothingHere } from '../server/nothing-here.ts';
import { splitTarget } from '../server/read/read-request.ts';
import { nameRoute } from '../server/route-name.ts';
import type { Registry } from '../registry/registry.ts';
import type { SignedIn } from '../server/server-context.ts';
import { documentBodyBytes, plainBodyBytes } from '../server/v1/body-limits.ts';
import { createRateLimit } from '../server/rate/rate-limit.ts';
import { typedIn, type Typed } from './fields.ts';
import type { Form } from './forms.ts';
import { keyForms } from './key-forms.ts';
import { organizationPages } from './organization-views.ts';
import type { Page } from './pages.ts';
import { publishedPage, showPublish, submitPublish } from './publish-page.ts';
import { resourceForms } from './resource-forms.ts';
import { replayPath, showReplay, submitReplay } from './replay-page.ts';
import { repositoryForms } from './repository-forms.ts';
import { repositoryPages, repositoryRunPage } from './repository-views.ts';
import { resourcePage, runPage, runsPage } from './resource-view.ts';
import type { RunRecord } from './run-view.ts';
import { streamRun } from './run-events.ts';
import { expiredPage, sendPage, viewPage } from './show.ts';
import { showStart, submitStart } from './start-page.ts';
import { editPath, showEditor, submitEditor } from '../sites/console/site-editor.ts';
import { settingsForms } from './settings-views.ts';
import { appearanceForms } from '../sites/console/site-appearance.ts';
import { siteForms } from '../sites/console/site-forms.ts';
import {
  showSitePublish,
  showUpload,
  siteDone,
  sitePublishPath,
  submitSitePublish,
  submitUpload,
  uploadPath,
} from '../sites/console/site-publish.ts';
import { sitePages } from '../sites/console/site-views.ts';
import { showForm, showTyped, submitForm } from './submit.ts';
import { versionForms } from './version-forms.ts';
import { ask, type Console, type Visit } from './visit.ts';
import { webhookForms } from './webhook-forms.ts';

const forms: readonly Form[] = [
  ...resourceForms,
  ...versionForms,
  ...repositoryForms,
  ...keyForms,
  ...webhookForms,
  ...siteForms,
  ...appearanceForms,
  ...settingsForms,
];
const pages: readonly Page[] = [
  ...organizationPages,
  ...repositoryPages,
  ...sitePages,
  publishedPage,
  resourcePage,
  runsPage,
  runPage,
];
const publishPath = '/:type/:slug/publish';

/** What answers at a path of an organization's console. */
interface Place {
  path: string;
  get(visit: Visit): Promise<void>;
  post?(visit: Visit, typed: Typed, form: FormData): Promise<void>;
  /** Shows a form again with what was typed. */
  again?(visit: Visit, typed: Typed, why: string): Promise<void>;
}

const places: readonly Place[] = [
  ...forms.map((form): Place => ({
    path: form.path,
    get: (visit) => showForm(visit, form),
    post: (visit, typed) => submitForm(visit, form, typed),
    again: (visit, typed, why) => showTyped(visit, form, typed, why),
  })),
  eventsOf(runPage, 'get{one}Sync'),
  eventsOf(repositoryRunPage, 'getRepositorySync'),
  { path: publishPath, get: (visit) => showPublish(visit), post: submitPublish, again: showPublish },
  { path: replayPath, get: (visit) => showReplay(visit), post: submitReplay, again: showReplay },
  { path: editPath, get: (visit) => showEditor(visit), post: submitEditor, again: showEditor },
  { path: uploadPath, get: (visit) => showUpload(visit), post: submitUpload, again: showUpload },
  {
    path: sitePublishPath,
    get: (visit) => showSitePublish(visit),
    post: submitSitePublish,
    again: showSitePublish,
  },
  // After the forms: `/keys/new` is not the page of a key.
  ...pages.map((page): Place => ({ path: page.path, get: (visit) => showPage(visit, page) })),
];

/** The stream of a run's changes. */
function eventsOf({ path }: Page, operation: string): Place {
  const read = async (visit: Visit) => (await ask<RunRecord>(visit, operation)).body;
  return { path: `${path}/events`, get: (visit) => streamRun(visit, () => read(visit)) };
}

/** The first document of a resource, of any organization. */
const start: Place = {
  path: '/console/new',
  get: async (visit) => showStart(visit),
  post: submitStart,
  again: async (visit, typed, why) => showStart(visit, typed, why),
};

const signedInAgain = 'You signed in again. What you typed is still here: look at it, then send it.';

/**
 * The console: pages on which people do what `/v1` does. Forms ask the same operations, with the
 * same validation, and need no script.
 */
export function createConsole(given: Console): Router {
  const { site, context } = given;
  const { config } = context.registry;

  async function answer(request: Request, response: Response): Promise<void> {
    const { path, query } = splitTarget(request.originalUrl);
    const isPost = request.method === 'POST';
    // Redirects too: they depend on who asks.
    response.setHeader('Cache-Control', 'private, no-store');
    if (!isPost && request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD, POST');
      throw new RegistryError('method_not_allowed', 'This address supports only GET, HEAD, POST.');
    }
    const session = sessionOf(request);
    if (session === null) {
      if (!isPost) return response.redirect(303, context.login!.signInUrl(site.links.path(request.originalUrl))!);
      return keepTyped(request, response);
    }
    if (path === '/console' || path === '/console/')
      return response.redirect(303, site.links.path(await homeOf(session, context.registry)));
    const found = find(path, new URLSearchParams(query), session);
    if (found === null) throw new RegistryError('not_found', nothingHere);
    const { place, org, params } = found;
    nameRoute(request, place === start ? start.path : `/console/:organization${place.path}`);
    const type = params['type'];
    const visit: Visit = {
      ...given,
      request,
      response,
      session,
      org,
      params,
      type: type !== undefined && isResourceType(type) ? type : null,
      query: new URLSearchParams(query),
    };
    if (!isPost) return place.get(visit);
    if (place.post === undefined) {
      response.setHeader('Allow', 'GET, HEAD');
      throw new RegistryError('method_not_allowed', 'This address supports only GET, HEAD.');
    }
    const form = await readForm(request, response, documentBodyBytes(config));
    const typed = await typedIn(form);
    const token = typed['token']?.[0];
    // The form of a session that ended, sent by the person who has a new one.
    if (token !== session.token && !isCrossSite(request, site.url)) return place.again!(visit, typed, signedInAgain);
    assertOwnPage(request, site.url, session, token);
    return place.post(visit, typed, form);
  }

  /** Nobody is signed in any more: nothing is done, and nothing that was typed is lost. */
  async function keepTyped(request: Request, response: Response): Promise<void> {
    if (isCrossSite(request, site.url))
      throw new RegistryError('forbidden', 'Forms are accepted only from this registry.');
    const form = await readForm(request, response, plainBodyBytes);
    const typed = Object.entries(await typedIn(form)).flatMap(([name, values]) =>
      name === 'token' || name === 'once' || name === 'do'
        ? []
        : values.map((value) => [name, value] as [string, string]),
    );
    sendPage(response, expiredPage(given, { path: request.originalUrl, typed }), 401);
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.use(createRateLimit('console', context));
  router.use((request, response) => answer(request, response));
  return router;
}

async function showPage(visit: Visit, page: Page): Promise<void> {
  const view = await page.show(visit);
  const path = visit.query.get('done');
  const done = forms.find((form) => form.path === path)?.done ?? siteDone.get(path);
  const notice = done ? { notice: { text: done, tone: 'good' as const } } : {};
  sendPage(visit.response, viewPage(visit, { ...notice, ...view }));
}

/** Where a person begins: their organization, the page that lists them, or the first document. */
async function homeOf({ principal }: SignedIn, { refs }: Registry): Promise<string> {
  const own = organizationsOf(principal);
  if (principal.kind === 'operator') {
    for await (const _ of refs.list('resources/')) return '/account';
    return start.path;
  }
  return own.length === 1 ? `/console/${own[0]}` : '/account';
}

function find(
  path: string,
  query: URLSearchParams,
  { principal }: SignedIn,
): { place: Place; org: string; params: Record<string, string> } | null {
  if (path === start.path) {
    const named = query.get('org') ?? '';
    const isOwn = isSlug(named) && grantsIn(principal, named).length > 0;
    return { place: start, org: isOwn ? named : (organizationsOf(principal)[0] ?? 'local'), params: {} };
  }
  const [, , org = '', ...rest] = path.split('/');
  // The same for an organization that does not exist.
  if (!isSlug(org) || org === 'new' || grantsIn(principal, org).length === 0) return null;
  for (const place of places) {
    const params = match(place.path.split('/').slice(1), rest);
    if (params !== null) return { place, org, params };
  }
  return null;
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, wanted] of pattern.entries()) {
    const segment = segments[index]!;
    if (!wanted.startsWith(':')) {
      if (segment !== wanted) return null;
      continue;
    }
    const value = URL.canParse(`x:/${segment}`) ? decode(segment) : null;
    if (value === null || (wanted === ':type' && !isResourceType(value))) return null;
    params[wanted.slice(1)] = value;
  }
  return params;
}

function decode(segment: string): string | null {
  try {
    const value = decodeURIComponent(segment);
    return /[/\\\p{Cc}]/u.test(value) ? null : value;
  } catch {
    return null;
  }
}
