import { countsInWords, type Verdict } from '../model/comparison.ts';
import type { ImpactGroup, ToldUser } from '../model/dependency.ts';
import { isRegistryError, type RegistryError } from '../model/errors.ts';
import { createReport, type Report } from '../model/problem.ts';
import { newId } from '../registry/registry.ts';
import { problemTypes } from '../server/error-answers.ts';
import { verdictTags } from '../site/pages/diff-page.ts';
import { describeReport } from '../site/pages/version-pages.ts';
import type { Answered, ConsoleRequest } from './console-request.ts';
import type { Field, Typed } from '../server/v1/described-field.ts';
import { faultsIn, firstOf, showFields } from './fields.ts';
import type { View } from './pages.ts';
import { formPage, sendPage, viewPage, type ShownForm } from './show.ts';

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
  open(request: ConsoleRequest, typed: Typed | null, fields: readonly Field[]): Promise<CheckResult>;
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
  const opened = await page.open(request, typed, fields);
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
  // The lines of the report lead to the text; `console.js` goes to the line.
  const area = shown.find(({ kind }) => kind === 'document' || kind === 'text');
  const html = formPage(request, {
    submit: 'Publish',
    check: 'Check',
    isLive: true,
    once: newId(request.context.registry),
    ...(await page.form(request)),
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
