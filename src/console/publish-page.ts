import { digestOf } from '../model/digest.ts';
import { types } from '../model/kinds.ts';
import { comparedWith, whyCompared } from '../model/compared-with.ts';
import { holdIn, type Report } from '../model/problem.ts';
import { impactGroups } from '../model/dependency.ts';
import { findVersion, nameOf } from '../model/resource.ts';
import { untilClosed } from '../server/request.ts';
import { checkDocument } from '../server/v1/documents.ts';
import { isCheck, reportOf, type FormPage, type CheckResult } from './form-page.ts';
import { describedField, type Field, type Typed } from '../server/v1/described-field.ts';
import { firstOf } from './fields.ts';
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

/** Publishes a version of the page's resource. The check passes the same gate. */
export const publishPage: FormPage = {
  path: '/:type/:slug/publish',
  async open(request) {
    await perform(request, 'get{one}');
    return {};
  },
  fields(request) {
    const operation = request.operations.find(operationId(request, 'publish{one}'));
    const described = ['/version', '/latest'].map((name) => describedField(operation, name, false));
    return [documentField(types[request.type!].noun), ...described];
  },
  form: (request) => ({
    title: `Publish a version of ${subjectOf(request)}`,
    lead: ['It becomes an immutable version: its bytes never change.'],
    check: 'Check',
    cancel: here(request, '/:type/:slug'),
  }),
  async submit(request, typed) {
    const { text, version } = versionIn(typed);
    const { body } = await perform(request, 'publish{one}', {
      body: {
        document: text === '' ? '' : '-',
        ...(version !== '' && { version }),
        latest: typed['/latest'] !== undefined,
        dryRun: isCheck(typed),
      },
      document: Buffer.from(text),
      ...(!isCheck(typed) && { once: firstOf(typed, 'once') }),
    });
    if (!isCheck(typed)) return here(request, publishedPage.path, { version: body.version });
    const found = body.outcome === 'published' ? await changesIn(request, text, body.version) : {};
    return { report: body.report as Report, verdict: verdictOf({ ...body, text, asked: version }), ...found };
  },
  async explain(request, typed, error) {
    // What waits for approval waits for its breaks.
    const report = reportOf(error);
    const { text, version } = versionIn(typed);
    return report !== null && holdIn(report) !== null ? changesIn(request, text, version) : {};
  },
};

function versionIn(typed: Typed): { text: string; version: string } {
  return { text: firstOf(typed, '/document'), version: firstOf(typed, '/version').trim() };
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
}: Pick<Published, 'outcome' | 'version'> & { text?: string; asked?: string }): NonNullable<CheckResult['verdict']> {
  if (outcome === 'unchanged') return { text: `Nothing new: this is version ${version}.`, tone: 'good' };
  const [, stated] = /^(.+)\+\d+$/.exec(version) ?? [];
  const isRevised = stated !== undefined && asked === '' && !text.includes(version);
  const why = isRevised
    ? ` The document says ${stated}, which is published with other content and never changes. To publish a new version, raise the version in the document.`
    : '';
  return { text: `This can be published, as version ${version}.${why}`, tone: 'good' };
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
