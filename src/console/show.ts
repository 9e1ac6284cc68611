import type { Response } from 'express';
import { pageHeaders } from '../server/headers.ts';
import { splitTarget } from '../server/read/read-request.ts';
import type { ShownField } from './fields.ts';
import { sectionsOf } from './organization-views.ts';
import { shownTable, type View } from './pages.ts';
import { here, mayPublish, nobodys, type Console, type ConsoleRequest } from './console-request.ts';

/** What a form's page shows. */
export interface ShownForm {
  title: string;
  eyebrow?: string;
  lead: readonly string[];
  /** What it will change for others. */
  notice?: View['notice'] | null;
  fields: readonly ShownField[];
  submit: string;
  /** A second button that changes nothing. */
  check?: string;
  isDanger?: boolean;
  cancel: string;
  /** What is wrong, or what happened to the form. */
  error: string | null;
  /** The entity tag of what the form changes. */
  etag?: string | null | undefined;
  once: string;
  /** What the check found (`describeReport`). */
  report?: object | null;
  verdict?: { text: string; tone: 'good' | 'bad' };
  /** What would change since the version before. */
  changes?: object | undefined;
  /** Whom it would break, by how they get it. */
  impact?: readonly object[];
  /** The heading of what the check found. Default: `Report`. */
  findings?: string;
  /** Stands there until something was checked. */
  waiting?: string;
  /** Safe HTML of the page that would be published. */
  preview?: string;
  /** More stylesheets. */
  styles?: string[];
  /** Another way to the same end. */
  note?: { text: string; link: string; href: string };
  /** Whether the check runs while one types. Default: if there is one. */
  isLive?: boolean;
}

/**
 * Sends a page of the console: for this person, now. Neither compressed (its token would be
 * guessed by sizes) nor kept by anybody.
 */
export function sendPage(response: Response, html: string, status = 200): void {
  for (const [name, value] of Object.entries(pageHeaders())) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'private, no-store');
  response.status(status).type('html').send(html);
}

function frame(request: ConsoleRequest, title: string, eyebrow: string | undefined): object {
  const { site, org, type, params, session } = request;
  const { slug, site: ofSite } = params;
  const crumbs = [
    { text: 'Console', href: site.links.path('/account') },
    ...(org === nobodys ? [] : [{ text: `@${org}`, href: here(request, '') }]),
    ...(type !== null && slug !== undefined ? [{ text: slug, href: here(request, '/:type/:slug') }] : []),
    ...(ofSite === undefined ? [] : [{ text: ofSite, href: here(request, '/sites/:site') }]),
  ];
  const path = site.links.path(splitTarget(request.http.originalUrl).path);
  const isListed = crumbs.some(({ href }) => href === path);
  return {
    title,
    eyebrow: eyebrow ?? null,
    crumbs: isListed
      ? crumbs.map((crumb) => (crumb.href === path ? { text: crumb.text } : crumb))
      : [...crumbs, { text: title }],
    hidden: true,
    styles: ['console.css'],
    scripts: ['console.js'],
    nav: sectionsOf(request),
    manages: mayPublish(request) ? org : null,
    who: session.name,
    token: session.token,
    here: site.links.path(request.http.originalUrl),
  };
}

export function viewPage(request: ConsoleRequest, view: View): string {
  return request.site.page('console-page', {
    tags: [],
    actions: [],
    ...view,
    sections: (view.sections ?? []).map((section) => ({ ...section, table: shownTable(section) })),
    ...frame(request, view.title, view.eyebrow),
  });
}

export function formPage(request: ConsoleRequest, form: ShownForm): string {
  return request.site.page('console-form', {
    impact: [],
    findings: 'Report',
    waiting: 'The report appears here, before anything is published.',
    ...form,
    ...frame(request, form.title, form.eyebrow),
    styles: ['console.css', ...(form.styles ?? [])],
  });
}

/** The page for a form whose session ended: it keeps what was typed until one has signed in again. */
export function expiredPage(
  { site, context }: Console,
  { path, typed }: { path: string; typed: readonly [string, string][] },
): string {
  return site.page('console-expired', {
    title: 'Sign in again',
    crumbs: [{ text: 'Console' }],
    hidden: true,
    styles: ['console.css'],
    signIn: context.login!.signInUrl(site.links.path(path)),
    action: site.links.path(path),
    typed,
  });
}
