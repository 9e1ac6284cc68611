import { isRegistryError, type RegistryError } from '../model/errors.ts';
import { types } from '../model/kinds.ts';
import { createReport, type Report } from '../model/problem.ts';
import { problemTypes } from '../server/error-answers.ts';
import { sendBench, type Found } from './bench.ts';
import { faultsIn, type Field, type Typed } from './fields.ts';
import type { Page } from './pages.ts';
import type { ShownForm } from './show.ts';
import { ask, here, subjectOf, type Visit } from './visit.ts';

/** Answer of a publish, or of its dry run. */
export interface Published {
  version: string;
  outcome: string;
  report: Report;
}

export const documentField = (noun: string): Field => ({
  name: '/document',
  label: 'Document',
  kind: 'document',
  hint: `Paste ${noun}, as JSON or YAML, or choose a file.`,
});

function fieldsFor({ type }: Visit): Field[] {
  return [
    documentField(types[type!].noun),
    { name: '/version', label: 'Version', kind: 'line', hint: 'Empty: the version in the document.' },
    { name: '/latest', label: 'It may become the latest version', kind: 'check', initial: 'yes' },
  ];
}

/** Shows the form that publishes a version of the page's resource. */
export async function showPublish(
  visit: Visit,
  typed: Typed | null = null,
  error: string | null = null,
): Promise<void> {
  await ask(visit, 'get{one}');
  send(visit, typed, { error });
}

/** Checks a document, or publishes it. Both pass the same gate. */
export async function submitPublish(visit: Visit, typed: Typed): Promise<void> {
  const isCheck = typed['do']?.[0] === 'check';
  const once = typed['once']?.[0] ?? '';
  const text = typed['/document']?.[0] ?? '';
  const version = typed['/version']?.[0]?.trim() ?? '';
  try {
    const { body } = await ask<Published>(visit, 'publish{one}', {
      body: {
        document: text === '' ? '' : '-',
        ...(version !== '' && { version }),
        latest: typed['/latest'] !== undefined,
        dryRun: isCheck,
      },
      document: Buffer.from(text),
      ...(!isCheck && /^[0-9a-z]{20}$/.test(once) && { once }),
    });
    if (!isCheck) {
      const to = here({ ...visit, params: { ...visit.params, version: body.version } }, publishedPage.path);
      return visit.response.redirect(303, to);
    }
    send(visit, typed, { report: body.report, verdict: verdictOf(body) });
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const faults = faultsIn(error, fieldsFor(visit));
    const { status } = problemTypes[error.code];
    send(visit, typed, { error: error.message, faults, report: reportOf(error), status: isCheck ? 200 : status });
  }
}

/** What a dry run foresees, in a sentence. */
export function verdictOf({ outcome, version }: Pick<Published, 'outcome' | 'version'>): ShownForm['verdict'] {
  if (outcome === 'unchanged') return { text: `Nothing new: this is version ${version}.`, tone: 'good' };
  return { text: `This can be published, as version ${version}.`, tone: 'good' };
}

/** The findings that an error contains. */
export function reportOf(error: RegistryError): Report | null {
  return error.problems.length === 0 ? null : createReport([...error.problems]);
}

function send(visit: Visit, typed: Typed | null, found: Found): void {
  const title = `Publish a version of ${subjectOf(visit)}`;
  const lead = ['It becomes an immutable version: its bytes never change.'];
  sendBench(visit, fieldsFor(visit), { typed, title, lead, cancel: here(visit, '/:type/:slug') }, found);
}

/** What to do with a version that was just published. */
export const publishedPage: Page = {
  path: '/:type/:slug/published/:version',
  async show(visit) {
    const { body } = await ask<{ url: string; coordinate: string; version: string }>(visit, 'get{one}Version');
    const { visibility } = (await ask<{ visibility: string }>(visit, 'get{one}')).body;
    return {
      eyebrow: body.coordinate,
      title: `Version ${body.version} is published`,
      lead: 'This URL answers with the same bytes for ever, as JSON, as YAML, and as a page.',
      tags: [{ text: visibility, tag: visibility === 'public' ? 'good' : '' }],
      actions: [
        { text: 'Open its page', href: body.url, isMain: true },
        { text: 'To the resource', href: here(visit, '/:type/:slug') },
        { text: 'Connect a repository', href: here(visit, '/:type/:slug/connection') },
      ],
      sections: [{ title: 'Use it', snippet: snippetOf(visit, body.url, visibility) }],
    };
  },
};

/** Commands that read the version. What needs a key is read to a file first: generators send none. */
function snippetOf({ type, params }: Visit, url: string, visibility: string): string {
  const file = `${params['slug']}.json`;
  const isPublic = visibility === 'public';
  const read = isPublic ? `curl ${url}` : `curl ${url} -H "Authorization: Bearer $STELE_KEY" -o ${file}`;
  return type === 'apis' ? `${read}\nnpx openapi-typescript ${isPublic ? url : file} -o types.ts` : read;
}
