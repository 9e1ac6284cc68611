import { formatPrincipal, isAllowed, partOf } from '../model/access.ts';
import { isResourceType, isSlug, resourceTypes, slugFrom, type ResourceType } from '../model/address.ts';
import { type RegistryError, tooLarge, forbidden, malformed, conflict } from '../model/errors.ts';
import { types } from '../model/kinds.ts';
import { showReport } from '../registry/gate/show-report.ts';
import { organizationsFor } from '../registry/maintenance/organizations.ts';
import { publish, type PublishResult } from '../registry/publish.ts';
import { findReadable } from '../registry/readable.ts';
import { newId } from '../registry/registry.ts';
import { createUpload } from '../source/upload.ts';
import { isCheck, type FormPage } from './form-page.ts';
import { describedField, type Field, type Typed } from '../server/v1/described-field.ts';
import { firstOf } from './fields.ts';
import { documentField, publishedPage, verdictOf } from './publish-page.ts';
import { here, nobodys, type ConsoleRequest } from './console-request.ts';

/** The option that lets the document decide its kind. */
const asItSays = { value: '', text: 'as the document says' };

/** What was typed, as far as it can be used. */
interface Draft {
  org: string;
  /** Null: what the document says that it is. */
  type: ResourceType | null;
  slug: string;
  /** If not, the slug stands for one that the document's title will give. */
  isNamed: boolean;
  text: string;
}

type Target = Draft & { type: ResourceType };

/** The organization that is proposed: the first, or for whoever runs the registry the only one. */
export async function organizationFor(request: Pick<ConsoleRequest, 'session' | 'context'>): Promise<string> {
  const { principal } = request.session;
  const [first = nobodys, ...others] = await organizationsFor(request.context.registry, principal);
  return principal.kind === 'operator' && others.length > 0 ? nobodys : first;
}

async function fieldsFor(request: ConsoleRequest): Promise<Field[]> {
  const organizations = await organizationsFor(request.context.registry, request.session.principal);
  const create = request.operations.find('createApi');
  return [
    {
      name: '/org',
      label: 'Organization',
      kind: organizations.length > 0 ? 'select' : 'line',
      isRequired: true,
      options: [
        ...(organizations.includes(request.org) ? [] : [{ value: '', text: 'choose one' }]),
        ...organizations.map((value) => ({ value, text: value })),
      ],
      initial: request.org === nobodys ? '' : request.org,
      maxLength: 63,
    },
    documentField('an OpenAPI document, a JSON Schema or a ruleset'),
    {
      name: '/type',
      label: 'Kind',
      kind: 'select',
      options: [asItSays, ...resourceTypes.map((value) => ({ value, text: types[value].one }))],
    },
    { ...describedField(create, '/slug', false), isRequired: false },
    { ...describedField(create, '/visibility', false), initial: 'private' },
  ];
}

/** Makes a resource with its first document, both or neither; or only checks it. */
export const startPage: FormPage = {
  path: '/console/new',
  fields: fieldsFor,
  form(request) {
    const href = here({ ...request, params: {} }, '/repositories/new');
    return {
      title: 'Publish a document',
      lead: ['Paste a document or choose a file. It is checked before anything is published.'],
      ...(request.org !== nobodys && { note: { text: 'Is it in git?', link: 'Follow the repository', href } }),
      check: 'Check',
      cancel: request.site.links.path('/account'),
    };
  },
  async submit(request, typed) {
    const draft = readDraft(request, typed);
    const { type, foreseen } = await foresee(request, typed, draft);
    const slug = draft.isNamed ? draft.slug : slugFrom(foreseen.compiled.artifact?.title ?? '');
    const filled = { ...typed, '/slug': [slug ?? ''] };
    const report = await showReport(request.context.registry, request.session.principal, foreseen.report);
    if (foreseen.outcome === 'rejected') {
      const error = 'This document cannot be published: see what was found.';
      return { typed: filled, error, report, status: isCheck(typed) ? 200 : 422 };
    }
    if (foreseen.outcome === 'conflict') return { typed: filled, error: foreseen.detail, report, status: 409 };
    if (slug === null) throw invalid('/slug', 'The document has no title. Name it.');
    const chosen = { ...draft, type, slug, isNamed: true };
    if (!draft.isNamed) await assertFree(request, chosen);
    if (isCheck(typed)) {
      const verdict = verdictOf({ outcome: 'published', version: foreseen.version.label });
      return { typed: filled, report, verdict };
    }
    const result = await run(request, typed, chosen, false);
    if (result.outcome !== 'published' && result.outcome !== 'unchanged') {
      throw conflict('Somebody else published it at the same moment. Try again.');
    }
    const params = { type: chosen.type, slug, version: result.version.label };
    return here({ ...request, org: chosen.org, params }, publishedPage.path);
  },
};

function readDraft({ context }: ConsoleRequest, typed: Typed): Draft {
  const [org, type, slug] = ['/org', '/type', '/slug'].map((name) => firstOf(typed, name).trim());
  const text = firstOf(typed, '/document');
  if (org === '') throw invalid('/org', 'Choose the organization.');
  if (!isSlug(org!)) throw invalid('/org', notSlug('The organization', org!));
  if (type !== '' && !isResourceType(type!)) throw invalid('/type', 'Choose what it is.');
  if (slug !== '' && !isSlug(slug!)) throw invalid('/slug', notSlug('The name', slug!));
  if (text.trim() === '') throw invalid('/document', 'Paste a document, or choose a file.');
  const isNamed = slug !== '';
  const kind = type === '' ? null : (type as ResourceType);
  return { org: org!, type: kind, slug: isNamed ? slug! : `draft-${newId(context.registry)}`, isNamed, text };
}

function notSlug(what: string, given: string): string {
  const better = slugFrom(given);
  const advice = better === null ? '' : ` "${better}" would do.`;
  return `${what} must be 1 to 63 of a-z, 0-9 and single hyphens between them.${advice}`;
}

function invalid(field: string, message: string): RegistryError {
  return malformed(message, { extra: { field } });
}

/** The result of publishing: as the chosen kind, or as the first that fits the document. */
async function foresee(
  request: ConsoleRequest,
  typed: Typed,
  draft: Draft,
): Promise<{ type: ResourceType; foreseen: PublishResult }> {
  const { org, type: chosen, slug } = draft;
  const mayPublish = (type: ResourceType) =>
    isAllowed(request.session.principal, 'publish', { org, resource: { type, slug } });
  const [first = 'apis', ...others] = chosen === null ? resourceTypes.filter(mayPublish) : [chosen];
  let result = await foreseeAs(request, typed, draft, first);
  for (const type of others) {
    if (!result.foreseen.report.problems.some(({ rule }) => rule === 'kind-mismatch')) break;
    result = await foreseeAs(request, typed, draft, type);
  }
  return result;
}

async function foreseeAs(request: ConsoleRequest, typed: Typed, draft: Draft, type: ResourceType) {
  const target = { ...draft, type };
  if (draft.isNamed) await assertFree(request, target);
  return { type, foreseen: await run(request, typed, target, true) };
}

async function assertFree({ context, session }: ConsoleRequest, { org, type, slug }: Target): Promise<void> {
  if ((await findReadable(context.registry, session.principal, { org, type, slug })) === null) return;
  throw invalid(
    '/slug',
    `@${org}/${type}/${slug} exists already. Publish a version of it on its own page, or choose another name.`,
  );
}

async function run(
  request: ConsoleRequest,
  typed: Typed,
  { org, type, slug, isNamed, text }: Target,
  dryRun: boolean,
): Promise<PublishResult> {
  const { registry } = request.context;
  const { principal } = request.session;
  if (!isAllowed(principal, 'publish', { org, resource: { type, slug } })) {
    if (!isNamed && partOf(principal, org, 'publish')?.length) {
      throw invalid('/slug', 'Name it: you may publish only some names.');
    }
    throw forbidden(`You may not publish ${isNamed ? `@${org}/${type}/${slug}` : `in @${org}`}.`);
  }
  const bytes = Buffer.from(text);
  const { fileBytes } = registry.config.limits;
  if (bytes.byteLength > fileBytes) {
    throw tooLarge(`The document exceeds the limit of ${fileBytes} bytes.`);
  }
  const entry = /^\s*[{[]/.test(text.slice(0, 65_536)) ? 'document.json' : 'document.yaml';
  return publish(registry, {
    coordinate: { org, type, slug },
    snapshot: createUpload(entry, bytes),
    entry,
    reader: principal,
    version: null,
    onConflict: 'reject',
    latest: true,
    dryRun,
    create: { visibility: firstOf(typed, '/visibility') === 'public' ? 'public' : 'private' },
    author: { actor: formatPrincipal(principal), origin: request.http.ip ?? null },
    isAwaited: true,
  });
}
