import type { Response } from 'express';
import { pageHeaders } from '../server/headers.ts';
import { splitTarget } from '../server/read/read-request.ts';
import { type ShownField, showFields, type Field, type Typed } from './fields.ts';
import { sectionsOf } from './organization-views.ts';
import { shownTable, type View } from './pages.ts';
import { here, mayPublish, nobodys, type Answered, type Console, type ConsoleRequest } from './console-request.ts';
import { countsInWords, type Verdict } from '../model/comparison.ts';
import type { ImpactGroup, ToldUser } from '../model/dependency.ts';
import type { Report } from '../model/problem.ts';
import { newId } from '../registry/registry.ts';
import { verdictTags } from '../site/pages/diff-page.ts';
import { describeReport } from '../site/pages/report-page.ts';

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
  check?: string | null;
  isDanger?: boolean;
  cancel: string;
  /** What is wrong, or what happened to the form. */
  error: string | null;
  /** The entity tag of what the form changes. */
  etag?: string | null;
  once: string;
  /** What the check found (`describeReport`). */
  report?: object | null;
  verdict?: { text: string; tone: 'good' | 'bad' } | null;
  /** What would change since the version before. */
  changes?: object | null;
  /** Whom it would break, by how they get it. */
  impact?: readonly object[];
  /** The heading of what the check found. Default: `Report`. */
  findings?: string;
  /** Stands there until something was checked. */
  waiting?: string;
  /** Safe HTML of the page that would be published. */
  preview?: string | null;
  /** More stylesheets. */
  styles?: string[];
  /** Another way to the same end. */
  note?: { text: string; link: string; href: string } | null;
  /** Whether the check runs while one types. */
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

/** The frame of a page: where one is, and what else there is. */
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
    lead: null,
    tags: [],
    actions: [],
    secret: null,
    notice: null,
    reload: null,
    events: null,
    ...view,
    sections: (view.sections ?? []).map((section) => ({ ...section, table: shownTable(section) })),
    ...frame(request, view.title, view.eyebrow),
  });
}

export function formPage(request: ConsoleRequest, form: ShownForm): string {
  return request.site.page('console-form', {
    notice: null,
    check: null,
    isDanger: false,
    etag: null,
    report: null,
    verdict: null,
    changes: null,
    impact: [],
    isLive: false,
    note: null,
    preview: null,
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

/** A form that is checked while one types, with the result of the check. */
export type CheckedForm = Partial<ShownForm> & Pick<ShownForm, 'title' | 'lead' | 'cancel'> & { typed: Typed | null };

/** The result of a check, or of an attempt to publish. */
export interface CheckResult {
  error?: string | null;
  faults?: ReadonlyMap<string, string>;
  report?: Report | null;
  verdict?: ShownForm['verdict'];
  /** What would change, compared with which version, and why with that one. */
  changes?: (Answered<'compare{one}'> & { why: string }) | null;
  impact?: readonly ImpactGroup<ToldUser & { detail: string }>[];
  /** Safe HTML of the page that would be published. */
  preview?: string | null;
  status?: number;
}

/** Sends a form with what its check found. */
export function sendCheckedForm(
  request: ConsoleRequest,
  fields: readonly Field[],
  { typed, ...form }: CheckedForm,
  {
    error = null,
    faults = new Map(),
    report = null,
    verdict = null,
    changes = null,
    impact = [],
    preview = null,
    status = 200,
  }: CheckResult = {},
): void {
  const shown = showFields(fields, typed, faults);
  // The lines of the report lead to the text; `console.js` goes to the line.
  const area = shown.find(({ kind }) => kind === 'document' || kind === 'text');
  const html = formPage(request, {
    submit: 'Publish',
    check: 'Check',
    isLive: true,
    once: newId(request.context.registry),
    ...form,
    fields: shown,
    error,
    report: report && describeReport(report, area ? { file: () => `#${area.id}` } : null),
    verdict,
    changes: changes && showChanges(changes),
    impact,
    preview,
  });
  sendPage(request.response, html, status);
}

/** The most changes that are listed. The rest are counted. */
const maxChanges = 50;

/** The changes as the page lists them: what breaks comes first. */
function showChanges({ from, why, counts, changes, reason }: NonNullable<CheckResult['changes']>): object {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = changes.slice(0, maxChanges);
  const words = total === 0 ? 'nothing changes' : countsInWords(counts);
  return {
    summary: reason ?? `Compared with ${from}, ${why}: ${words}.`,
    items: shown.map(({ verdict, message }) => ({ ...verdictTags[verdict as Verdict], message })),
    left: total - shown.length,
  };
}
