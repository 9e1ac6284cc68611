import { countsInWords, type Verdict } from '../model/comparison.ts';
import type { ImpactGroup, ToldUser } from '../model/dependency.ts';
import { insteadOf, isRegistryError, type RegistryError } from '../model/errors.ts';
import { createReport, type Report } from '../model/problem.ts';
import { newId } from '../registry/registry.ts';
import { problemTypes } from '../server/error-answers.ts';
import { verdictTags } from '../site/pages/diff-page.ts';
import { describeReport } from '../site/pages/version-pages.ts';
import {
  type Answered,
  type ConsoleRequest,
  assertMay,
  perform,
  here,
  hereAfter,
  operationId,
  subjectOf,
} from './console-request.ts';
import {
  type Field,
  type Typed,
  bodyFrom,
  describedField,
  describedParameter,
  queryFrom,
} from '../server/v1/described-field.ts';
import { faultsIn, firstOf, showFields, readYaml, typedFrom } from './fields.ts';
import type { View, Form } from './pages.ts';
import { formPage, sendPage, viewPage, type ShownForm } from './show.ts';
import type { Answer } from '../server/v1/call.ts';
import type { DescribedOperation } from '../server/v1/api-description.ts';
import { ruledLatest } from './resource-forms.ts';

/** The result of a check, or of an attempt to publish. */
export interface CheckResult extends Pick<ShownForm, 'verdict' | 'preview' | 'etag'> {
  /** What the fields have then. Default: what was typed. */
  typed?: Typed | null;
  error?: string | null;
  faults?: ReadonlyMap<string, string>;
  report?: Report | null;
  /** What would change, compared with which version, and why with that one. */
  changes?: Answered<'compare{one}'> & { why: string };
  impact?: readonly ImpactGroup<ToldUser & { detail: string }>[];
  status?: number;
}

/** A page with a form. */
export interface FormPage {
  path: string;
  /** Throws for whoever may not use the form. Absent: what it asks decides. */
  guard?(request: ConsoleRequest): void;
  fields(request: ConsoleRequest): readonly Field[] | Promise<readonly Field[]>;
  /** What the form starts with; after a session that ended, with what was typed. Throws for whoever may not see it. */
  open?(request: ConsoleRequest, typed: Typed | null, fields: readonly Field[]): Promise<CheckResult>;
  form(request: ConsoleRequest): Shown | Promise<Shown>;
  /** Does what was typed, or checks it (`isCheck`). Returns where to go, what to show, or what to say on the form. */
  submit(
    request: ConsoleRequest,
    typed: Typed,
    given: { fields: readonly Field[]; form: FormData },
  ): Promise<string | View | CheckResult>;
  /** What the form says of an error, beside what it says of each. */
  explain?(request: ConsoleRequest, typed: Typed, error: RegistryError, fields: readonly Field[]): Promise<CheckResult>;
  /** What was done, in a sentence. */
  done?: string;
}

type Shown = Pick<ShownForm, 'title' | 'lead' | 'cancel'> & Partial<ShownForm>;

/** Whether the button was pressed that changes nothing. */
export function isCheck(typed: Typed): boolean {
  return firstOf(typed, 'do') === 'check';
}

/** The findings that an error contains. */
export function reportOf(error: RegistryError): Report | null {
  return error.problems.length === 0 ? null : createReport([...error.problems]);
}

/** Shows the form; or again with what was typed, and why. */
export async function showForm(
  request: ConsoleRequest,
  page: FormPage,
  typed: Typed | null = null,
  why: string | null = null,
): Promise<void> {
  page.guard?.(request);
  const fields = await page.fields(request);
  const opened = await page.open?.(request, typed, fields);
  await send(request, page, fields, typed, { ...opened, ...(why !== null && { error: why }) });
}

/** Does what was typed, and goes on; or shows the form again with what was found. */
export async function submitForm(request: ConsoleRequest, page: FormPage, typed: Typed, form: FormData): Promise<void> {
  const fields = await page.fields(request);
  const submit = async () => {
    page.guard?.(request);
    return page.submit(request, typed, { fields, form });
  };
  const result = await submit().catch(async (error: unknown): Promise<CheckResult> => {
    if (!isRegistryError(error)) throw error;
    return {
      error: error.message,
      faults: faultsIn(error, fields),
      report: reportOf(error),
      status: isCheck(typed) ? 200 : problemTypes[error.code].status,
      ...(await page.explain?.(request, typed, error, fields)),
    };
  });
  if (typeof result === 'string') return request.response.redirect(303, result);
  if ('title' in result) return sendPage(request.response, viewPage(request, result));
  await send(request, page, fields, typed, result);
}

async function send(
  request: ConsoleRequest,
  page: FormPage,
  fields: readonly Field[],
  given: Typed | null,
  { typed = given, faults = new Map(), report = null, changes, etag, error = null, status, ...found }: CheckResult,
): Promise<void> {
  const shown = showFields(fields, typed, faults);
  const asked = await page.form(request);
  // The lines of the report lead to the text; `console.js` goes to the line.
  const area = shown.find(({ kind }) => kind === 'document' || kind === 'text');
  const html = formPage(request, {
    submit: 'Publish',
    isLive: asked.check !== undefined,
    once: newId(request.context.registry),
    ...asked,
    ...found,
    fields: shown,
    error,
    etag: etag ?? firstOf(given ?? {}, 'etag'),
    report: report && describeReport(report, area ? { file: () => `#${area.id}` } : null),
    changes: changes && showChanges(changes),
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

/** The page of a form that asks an operation. */
export function pageOfForm(form: Form): FormPage {
  const { after = '', done } = form;
  return {
    path: form.path,
    ...(done !== undefined && { done }),
    fields: (request) => fieldsOf(form, request),
    async open(request, typed, fields) {
      const current = typed === null ? await readCurrent(request, form) : null;
      if (current === null) return {};
      const etag = current.headers?.['ETag'] ?? null;
      return { etag, ...(fields.length > 0 && { typed: typedFrom(fields, current.body) }) };
    },
    guard: (request) => assertMayDo(request, form),
    async form(request) {
      // Without read access, one sees the form's error and no name.
      const eyebrow = await aboutOf(request, form).catch(() => undefined);
      const names = { ...Object.fromEntries(request.query), ...request.params, subject: subjectOf(request) };
      return {
        title: fill(form.title, names),
        ...(eyebrow !== undefined && { eyebrow }),
        lead: [form.lead].flat().map((text) => fill(text, names)),
        notice: (await form.notice?.(request)) ?? null,
        submit: form.submit ?? 'Save',
        isDanger: form.isDanger ?? operationOf(request, form).method === 'delete',
        cancel: here(request, form.cancel ?? (typeof after === 'string' ? after : '')),
      };
    },
    async submit(request, typed, { fields }) {
      const etag = firstOf(typed, 'etag');
      const fixed = typeof form.fixed === 'function' ? form.fixed(request) : form.fixed;
      const answer = (await perform(request, form.operation, {
        query: { ...form.query, ...queryFrom(fields, typed) },
        ...(operationOf(request, form).body !== null && { body: bodyFrom(fields, typed, fixed, readYaml) }),
        ...(etag !== '' && { ifMatch: etag }),
        once: firstOf(typed, 'once'),
      })) as Answer & { body: Record<string, unknown> };
      if (form.show) return withAddresses(request, form.show(answer, request));
      const next = typeof after === 'function' ? await after(answer, request) : fill(after, answer.body);
      return done === undefined ? here(request, next) : hereAfter(request, next, form.path);
    },
    async explain(request, typed, error, fields) {
      const current = error.code === 'precondition_failed' ? await readCurrent(request, form) : null;
      const faults = current ? theirsIn(fields, typed, current.body) : faultsIn(error, fields);
      const text =
        error.code === 'precondition_failed'
          ? 'Somebody changed this while you were editing. What you typed is below: look at it, then save again to replace theirs.'
          : faults.size > 0
            ? 'Not saved: see below.'
            : error.message;
      return { error: text, faults, report: null, etag: current?.headers?.['ETag'] };
    },
  };
}

/** What others saved in the fields where it is not what was typed. */
function theirsIn(fields: readonly Field[], typed: Typed, record: unknown): ReadonlyMap<string, string> {
  const saved = typedFrom(fields, record);
  return new Map(
    fields.flatMap(({ name, kind, options }) => {
      const theirs = saved[name] ?? [];
      if (kind === 'check' || kind === 'document' || kind === 'file') return [];
      if (theirs.join('\n').trim() === (typed[name] ?? []).join('\n').trim()) return [];
      const words = theirs.map((value) => options?.find((option) => option.value === value)?.text ?? value).join(', ');
      return [[name, words.trim() === '' ? 'Theirs is empty.' : `Theirs: ${words}`]];
    }),
  );
}

async function aboutOf(request: ConsoleRequest, { about }: Form): Promise<string | undefined> {
  if (typeof about !== 'object') return about?.(request);
  return fill(about.text, (await perform(request, about.operation)).body);
}

function fill(text: string, names: Readonly<Record<string, unknown>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(names[name] ?? ''));
}

function operationOf(request: ConsoleRequest, { operation }: Form): DescribedOperation {
  return request.operations.find(operationId(request, operation));
}

/** The operation that reads what the form changes; null if it changes nothing that is there. */
function currentOf(request: ConsoleRequest, form: Form): DescribedOperation | null {
  const { method, path } = operationOf(request, form);
  return form.startsEmpty || !['patch', 'put'].includes(method) ? null : request.operations.reading(path);
}

async function readCurrent(request: ConsoleRequest, form: Form) {
  const current = currentOf(request, form);
  if (current === null) return null;
  const reading = perform(request, current.id);
  // PUT makes what is not there yet.
  return operationOf(request, form).method === 'put' ? reading.catch(insteadOf('not_found', null)) : reading;
}

function assertMayDo(request: ConsoleRequest, form: Form): void {
  const { scope } = form;
  const wanted = scope ?? operationOf(request, form).scope!;
  // Operations on parts of an organization decide for themselves.
  if (scope !== undefined || (request.params['slug'] ?? request.params['site']) !== undefined)
    assertMay(request, wanted);
}

/** The links of a view that are paths of the organization's console, or of any. */
function withAddresses(request: ConsoleRequest, view: ReturnType<NonNullable<Form['show']>>) {
  return {
    ...view,
    actions:
      view.actions?.map((action) => ({
        ...action,
        href: action.href.startsWith('/console/') ? request.site.links.path(action.href) : here(request, action.href),
      })) ?? [],
  };
}

async function fieldsOf(form: Form, request: ConsoleRequest): Promise<readonly Field[]> {
  const operation = operationOf(request, form);
  const isChange = currentOf(request, form) !== null;
  const values = await form.complete?.(request);
  const fields: Field[] = [];
  for (const name of form.fields ?? []) {
    const field = name.startsWith('?')
      ? describedParameter(operation, name)
      : describedField(operation, name, isChange);
    const complete = completions[name];
    const more = values?.[name] ?? (complete ? await complete(request) : {});
    if (field !== null && more !== null) fields.push({ ...field, ...more });
  }
  return fields;
}

/** What the registry's state adds to a field of this name, in every form. Null: the form is better without it. */
const completions: Readonly<Record<string, (request: ConsoleRequest) => Promise<Partial<Field> | null>>> = {
  async '/ruleset'(request) {
    const query = { limit: '100' };
    const asked = { ...request, type: 'rulesets' as const };
    const { body } = await perform(asked, 'list{many}', { query });
    return { options: body.items.map(({ coordinate }) => ({ value: coordinate, text: coordinate })) };
  },

  async '/latest'(request) {
    const { body } = await perform(request, 'list{one}Versions', { query: { limit: '100' } });
    const { latestPinned } = (await perform(request, 'get{one}')).body;
    const offered = body.items.filter(({ status }) => ['active', 'deprecated'].includes(status.state));
    const ruled = await ruledLatest(request);
    const options = [
      { value: '', text: `chosen by the rules${ruled === null ? '' : `: now ${ruled}`}` },
      ...offered.map(({ version, status }) => ({
        value: version,
        text: status.state === 'active' ? version : `${version}, ${status.state}`,
      })),
    ];
    // A version that the rules chose is no pin: saving the form unchanged must not pin it.
    return { kind: 'select', options, write: (latest) => (latestPinned ? String(latest) : '') };
  },

  async '/repository'({ context }) {
    return { hint: `An https or ssh URL, on one of ${context.registry.config.sync.hosts.join(', ')}.` };
  },

  async '/credential'({ context }) {
    const options = Object.keys(context.registry.config.credentials).map((value) => ({ value, text: value }));
    if (options.length === 0) return null;
    return { kind: 'select', options: [{ value: '', text: 'none' }, ...options] };
  },
};
