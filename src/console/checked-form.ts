import { countsInWords, type Comparison } from '../model/comparison.ts';
import type { Report } from '../model/problem.ts';
import { newId } from '../registry/registry.ts';
import { verdictTags } from '../site/pages/diff-page.ts';
import { describeReport } from '../site/pages/report-page.ts';
import { showFields, type Field, type Typed } from './fields.ts';
import { formPage, sendPage, type ShownForm } from './show.ts';
import type { ConsoleRequest } from './console-request.ts';

/** A form that is checked while one types, with the result of the check. */
export type CheckedForm = Partial<ShownForm> & Pick<ShownForm, 'title' | 'lead' | 'cancel'> & { typed: Typed | null };

/** The result of a check, or of an attempt to publish. */
export interface CheckResult {
  error?: string | null;
  faults?: ReadonlyMap<string, string>;
  report?: Report | null;
  verdict?: ShownForm['verdict'];
  /** What would change, compared with which version, and why with that one. */
  changes?: (Comparison & { from: string; why: string }) | null;
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
    items: shown.map(({ verdict, message }) => ({ ...verdictTags[verdict], message })),
    left: total - shown.length,
  };
}
