import { digestOf } from '../model/digest.ts';
import { isRegistryError, type RegistryError } from '../model/errors.ts';
import { types } from '../model/kinds.ts';
import { comparedWith, whyCompared } from '../model/compared-with.ts';
import { createReport, holdIn, type Report } from '../model/problem.ts';
import { impactGroups } from '../model/dependency.ts';
import { findVersion, nameOf } from '../model/resource.ts';
import { problemTypes } from '../server/error-answers.ts';
import { untilClosed } from '../server/request.ts';
import { checkDocument } from '../server/v1/documents.ts';
import { sendCheckedForm, type CheckResult, type ShownForm } from './show.ts';
import { describedField, faultsIn, type Field, type Typed } from './fields.ts';
import type { Page } from './pages.ts';
import {
  perform,
  resourceOf,
  here,
  operationId,
  subjectOf,
  type Answered,
  type ConsoleRequest,
} from './console-request.ts';

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

function fieldsFor(request: ConsoleRequest): Field[] {
  const operation = request.operations.find(operationId(request, 'publish{one}'));
  const described = ['/version', '/latest'].map((name) => describedField(operation, name, false));
  return [documentField(types[request.type!].noun), ...described];
}

/** Shows the form that publishes a version of the page's resource. */
export async function showPublish(
  request: ConsoleRequest,
  typed: Typed | null = null,
  error: string | null = null,
): Promise<void> {
  await perform(request, 'get{one}');
  send(request, typed, { error });
}

/** Checks a document, or publishes it. Both pass the same gate. */
export async function submitPublish(request: ConsoleRequest, typed: Typed): Promise<void> {
  const isCheck = typed['do']?.[0] === 'check';
  const once = typed['once']?.[0] ?? '';
  const text = typed['/document']?.[0] ?? '';
  const version = typed['/version']?.[0]?.trim() ?? '';
  try {
    const { body } = await perform(request, 'publish{one}', {
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
      const to = here(request, publishedPage.path, { version: body.version });
      return request.response.redirect(303, to);
    }
    const found = body.outcome === 'published' ? await changesIn(request, text, body.version) : {};
    send(request, typed, {
      report: body.report as Report,
      verdict: verdictOf({ ...body, text, asked: version }),
      ...found,
    });
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const faults = faultsIn(error, fieldsFor(request));
    const { status } = problemTypes[error.code];
    const report = reportOf(error);
    // What waits for approval waits for its breaks.
    const found = report !== null && holdIn(report) !== null ? await changesIn(request, text, version) : {};
    send(request, typed, { error: error.message, faults, report, ...found, status: isCheck ? 200 : status });
  }
}

/**
 * What would change since the version before, or where the label is not known, since the latest, and whom that breaks: nothing where
 * there is none.
 */
async function changesIn(
  request: ConsoleRequest,
  text: string,
  version: string,
): Promise<Pick<CheckResult, 'changes' | 'impact'>> {
  const resource = await resourceOf(request);
  const label = version || (resource?.latest ?? '');
  const before = resource && (version === '' ? findVersion(resource, label) : comparedWith(resource, { label }));
  if (!before) return {};
  const asked = { body: { document: '-', from: before.label }, document: Buffer.from(text) };
  const { body } = await perform(request, 'compare{one}', asked);
  const changes = { ...body, why: version === '' ? 'the latest version' : whyCompared(resource, { label }) };
  if (body.verdict !== 'breaking') return { changes };
  const { operations, context, session, response } = request;
  const value = { document: '-', coordinate: nameOf(resource), ...(version !== '' && { version }), impact: true };
  const { document } = asked;
  const given = { value, document, digest: digestOf(document), size: document.byteLength };
  const wanted = operations.checkBody(operations.find('checkDocument'), given)!;
  const told = await checkDocument(context.registry, session.principal, wanted, untilClosed(response));
  const { impact } = told.body as Answered<'checkDocument'>;
  return { changes, ...(impact && { impact: impactGroups(impact) }) };
}

/** The result of a dry run in a sentence or two. `text`: the document; `asked`: the version that was typed. */
export function verdictOf({
  outcome,
  version,
  text = version,
  asked = '',
}: Pick<Published, 'outcome' | 'version'> & { text?: string; asked?: string }): ShownForm['verdict'] {
  if (outcome === 'unchanged') return { text: `Nothing new: this is version ${version}.`, tone: 'good' };
  const [, stated] = /^(.+)\+\d+$/.exec(version) ?? [];
  const isRevised = stated !== undefined && asked === '' && !text.includes(version);
  const why = isRevised
    ? ` The document says ${stated}, which is published with other content and never changes. For a version of its own, raise the version in the document.`
    : '';
  return { text: `This can be published, as version ${version}.${why}`, tone: 'good' };
}

/** The findings that an error contains. */
export function reportOf(error: RegistryError): Report | null {
  return error.problems.length === 0 ? null : createReport([...error.problems]);
}

function send(request: ConsoleRequest, typed: Typed | null, result: CheckResult): void {
  const title = `Publish a version of ${subjectOf(request)}`;
  const lead = ['It becomes an immutable version: its bytes never change.'];
  sendCheckedForm(request, fieldsFor(request), { typed, title, lead, cancel: here(request, '/:type/:slug') }, result);
}

/** What to do with a version that was just published. */
export const publishedPage: Page = {
  path: '/:type/:slug/published/:version',
  async show(request) {
    const { body } = await perform(request, 'get{one}Version');
    const { visibility } = (await perform(request, 'get{one}')).body;
    return {
      eyebrow: body.coordinate,
      title: `Version ${body.version} is published`,
      lead: 'This URL answers with the same bytes for ever, as JSON, as YAML, and as a page.',
      tags: [{ text: visibility, tag: visibility === 'public' ? 'good' : '' }],
      actions: [
        { text: 'Open its page', href: body.url, isMain: true },
        { text: 'To the resource', href: here(request, '/:type/:slug') },
        { text: 'Connect a repository', href: here(request, '/:type/:slug/connection') },
      ],
      sections: [{ title: 'Use it', snippet: snippetOf(request, body.url, visibility) }],
    };
  },
};

/** Commands that read the version. What needs a key is read to a file first: generators send none. */
function snippetOf({ type, params }: ConsoleRequest, url: string, visibility: string): string {
  const file = `${params['slug']}.json`;
  const isPublic = visibility === 'public';
  const read = isPublic ? `curl ${url}` : `curl ${url} -H "Authorization: Bearer $STELE_KEY" -o ${file}`;
  return type === 'apis' ? `${read}\nnpx openapi-typescript ${isPublic ? url : file} -o types.ts` : read;
}
