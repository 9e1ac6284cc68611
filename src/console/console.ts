import { Router, type Request, type Response } from 'express';
import { grantsIn, organizationsOf } from '../model/access.ts';
import { isResourceType, isSlug } from '../model/address.ts';
import { forbidden } from '../model/errors.ts';
import { sessionOf } from '../server/authenticate.ts';
import { readForm } from '../server/body/read-body.ts';
import { assertOwnPage, isCrossSite } from '../server/login/same-site.ts';
import { orAbsent } from '../server/error-answers.ts';
import { refuseMethod } from '../server/methods.ts';
import { splitTarget } from '../server/read/read-request.ts';
import { nameRoute } from '../server/request.ts';
import type { Registry } from '../registry/registry.ts';
import type { SignedIn } from '../server/server-context.ts';
import { documentBodyBytes, matchSegments, ownDescription, plainBodyBytes } from '../server/v1/api-description.ts';
import { createRateLimit } from '../server/rate-limit.ts';
import { typedIn } from './fields.ts';
import { approvalList, approvalPage } from './approvals.ts';
import {
  listPage,
  type Form,
  type FormCodes,
  type ListCode,
  type Page,
  type PlainForm,
  type PlainList,
} from './pages.ts';
import { keyCodes, keyList } from './keys.ts';
import { devicePage, deviceRefused, myKeyList, watchCodes, watchList } from './personal-keys.ts';
import { countAttention, organizationPages } from './organization-views.ts';
import { memberCodes } from './people.ts';
import { showForm, submitForm, type FormPage, pageOfForm } from './form-page.ts';
import { publishedPage, publishPage } from './publish-page.ts';
import { resourceCodes } from './resource-forms.ts';
import { replayPage } from './replay-page.ts';
import { repositoryCodes, repositoryList, repositoryPages } from './repository-views.ts';
import { resourcePage, runPage, runsPage } from './resource-view.ts';
import { expiredPage, sendPage, viewPage } from './show.ts';
import { organizationFor, startPage } from './start-page.ts';
import { editorPage, sitePublishPage, uploadPage } from '../sites/console/site-publish.ts';
import { siteCodes, siteList, sitePage } from '../sites/console/site-views.ts';
import { readOn } from '../server/v1/operations.ts';
import { nobodys, type Console, type ConsoleRequest } from './console-request.ts';
import { webhookCodes, webhookList } from './webhook-views.ts';

/** The code of all forms. */
export const formCodes: FormCodes = {
  ...resourceCodes,
  ...repositoryCodes,
  ...keyCodes,
  ...webhookCodes,
  ...siteCodes,
  ...memberCodes,
  ...watchCodes,
};

/** The code of all lists, by the operations that list. */
export const listCodes = {
  listKeys: keyList,
  listMyKeys: myKeyList,
  listMyWatches: watchList,
  listWebhooks: webhookList,
  listRepositories: repositoryList,
  listApprovals: approvalList,
  listSites: siteList,
};

function listPages(ofPerson: boolean): Page[] {
  return ownDescription().operations.flatMap(({ id, list, isPersonal }) => {
    if (list === null || isPersonal !== ofPerson) return [];
    return [listPage(id, list as PlainList, listCodes[id as keyof typeof listCodes] as ListCode<string>)];
  });
}

/** Every form of the description, with its code. */
export function consoleForms(): Form[] {
  return ownDescription().operations.flatMap(({ id, forms, isPersonal }) =>
    (forms as readonly PlainForm[]).map((form) => ({ operation: id, isPersonal, ...form, ...formCodes[form.path] })),
  );
}

const pages: readonly Page[] = [
  ...organizationPages,
  ...repositoryPages,
  sitePage,
  approvalPage,
  publishedPage,
  resourcePage,
  runsPage,
  runPage,
];
const formPages: readonly FormPage[] = [publishPage, replayPage, editorPage, uploadPage, sitePublishPage];

type Route = Page | FormPage;

const signedInAgain = 'You signed in again. What you typed is still here: look at it, then send it.';

/**
 * The console: pages on which people do what `/v1` does. Forms use the same operations, with the
 * same validation, and need no script.
 */
export function createConsole(given: Console): Router {
  const { site, context } = given;
  const { config } = context.registry;
  const { forms = [], personalForms = [] } = Object.groupBy(consoleForms(), ({ isPersonal }) =>
    isPersonal ? 'personalForms' : 'forms',
  );
  // After the forms: `/keys/new` is not the page of a key.
  const ofOrganization = [...forms.map(pageOfForm), ...formPages, ...listPages(false), ...pages];
  const ofPerson = [...personalForms.map(pageOfForm), devicePage, ...listPages(true)];

  async function answer(http: Request, response: Response): Promise<void> {
    const { path, query } = splitTarget(http.originalUrl);
    const isPost = http.method === 'POST';
    // Redirects too: they depend on who asks.
    response.setHeader('Cache-Control', 'private, no-store');
    if (!isPost && http.method !== 'GET' && http.method !== 'HEAD') refuseMethod(response, 'GET, HEAD, POST');
    const session = sessionOf(http);
    if (session === null) {
      if (!isPost) return response.redirect(303, context.login!.signInUrl(site.links.path(http.originalUrl))!);
      return keepTyped(http, response);
    }
    if (path === '/console' || path === '/console/')
      return response.redirect(303, site.links.path(await homeOf(session, context.registry)));
    const matched = orAbsent(find(path, new URLSearchParams(query), session));
    const { route, params } = matched;
    const isStart = route === startPage;
    const org = isStart && matched.org === nobodys ? await organizationFor({ ...given, session }) : matched.org;
    nameRoute(http, isStart ? route.path : `/console/${org === nobodys ? org : ':organization'}${route.path}`);
    // The form before may have been sent to another node.
    if (org !== nobodys) await readOn(context.registry, org);
    const type = params['type'];
    const asked = {
      ...given,
      http,
      response,
      session,
      org,
      params,
      type: type !== undefined && isResourceType(type) ? type : null,
      query: new URLSearchParams(query),
    };
    const request: ConsoleRequest = { ...asked, counts: await countAttention(asked) };
    if (!isPost) return 'show' in route ? showPage(request, route) : showForm(request, route);
    if ('show' in route) return refuseMethod(response, 'GET, HEAD');
    const form = await readForm(http, response, documentBodyBytes(config));
    const typed = await typedIn(form);
    const token = typed['token']?.[0];
    // The form of a session that ended, sent by the person who has a new one.
    if (token !== session.token && !isCrossSite(http, site.url)) return showForm(request, route, typed, signedInAgain);
    assertOwnPage(http, site.url, session, token);
    return submitForm(request, route, typed, form);
  }

  /** A page, which says what was done with the form that its address names. */
  async function showPage(request: ConsoleRequest, page: Page): Promise<void> {
    const view = await page.show(request);
    const isPersonal = request.org === nobodys;
    const path = request.query.get('done');
    const all = isPersonal ? [...ofPerson, deviceRefused] : ofOrganization;
    const done = all.flatMap((form) => (form.path === path && 'done' in form ? form.done : []))[0];
    const notice = done === undefined ? {} : { notice: { text: done, tone: 'good' as const } };
    const eyebrow = isPersonal ? {} : { eyebrow: `@${request.org}` };
    sendPage(request.response, viewPage(request, { ...eyebrow, ...notice, ...view }));
  }

  /** The session has ended: does nothing, and keeps what was typed. */
  async function keepTyped(http: Request, response: Response): Promise<void> {
    if (isCrossSite(http, site.url)) throw forbidden('Forms are accepted only from this registry.');
    const form = await readForm(http, response, plainBodyBytes);
    const typed = Object.entries(await typedIn(form)).flatMap(([name, values]) =>
      name === 'token' || name === 'once' || name === 'do'
        ? []
        : values.map((value) => [name, value] as [string, string]),
    );
    sendPage(response, expiredPage(given, { path: http.originalUrl, typed }), 401);
  }

  function find(
    path: string,
    query: URLSearchParams,
    { principal }: SignedIn,
  ): { route: Route; org: string; params: Record<string, string> } | null {
    if (path === startPage.path) {
      const named = query.get('org') ?? '';
      const isOwn = isSlug(named) && grantsIn(principal, named).length > 0;
      return { route: startPage, org: isOwn ? named : nobodys, params: {} };
    }
    const [, , org = '', ...rest] = path.split('/');
    if (org === nobodys) return principal.kind !== 'key' ? among(ofPerson, org, rest) : null;
    // The same for an organization that does not exist.
    if (!isSlug(org) || org === 'new' || grantsIn(principal, org).length === 0) return null;
    return among(ofOrganization, org, rest);
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.use(createRateLimit('console', context));
  router.use((http, response) => answer(http, response));
  return router;
}

/** Where a person begins: their organization, the page that lists them, or the first document. */
async function homeOf({ principal }: SignedIn, { refs }: Registry): Promise<string> {
  const organizations = organizationsOf(principal);
  if (principal.kind === 'operator') {
    for await (const _ of refs.list('resources/')) return '/account';
    return startPage.path;
  }
  return organizations.length === 1 ? `/console/${organizations[0]}` : '/account';
}

function among(all: readonly Route[], org: string, rest: readonly string[]) {
  for (const route of all) {
    const template = route.path.split('/').slice(1);
    const params = matchSegments(
      template.map((part) => part.replace(/^:(.+)/, '{$1}')),
      rest,
    );
    if (params !== null && isResourceType(params['type'] ?? 'apis')) return { route, org, params };
  }
  return null;
}
