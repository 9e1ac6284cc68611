import type { Report } from '../model/problem.ts';
import { newId } from '../registry/registry.ts';
import { describeReport } from '../site/pages/report-groups.ts';
import { showFields, type Field, type Typed } from './fields.ts';
import { formPage, sendPage, type ShownForm } from './show.ts';
import type { Visit } from './visit.ts';

/** A form that is checked while one types, beside what the check found. */
export type Bench = Partial<ShownForm> & Pick<ShownForm, 'title' | 'lead' | 'cancel'> & { typed: Typed | null };

/** What a check, or an attempt to publish, came to. */
export interface Found {
  error?: string | null;
  faults?: ReadonlyMap<string, string>;
  report?: Report | null;
  verdict?: ShownForm['verdict'];
  /** Safe HTML of the page that would be published. */
  preview?: string | null;
  status?: number;
}

/** Sends a bench with what was found. */
export function sendBench(
  visit: Visit,
  fields: readonly Field[],
  { typed, ...form }: Bench,
  { error = null, faults = new Map(), report = null, verdict = null, preview = null, status = 200 }: Found = {},
): void {
  const html = formPage(visit, {
    submit: 'Publish',
    check: 'Check',
    isLive: true,
    once: newId(visit.context.registry),
    ...form,
    fields: showFields(fields, typed, faults),
    error,
    report: report && describeReport(report, null),
    verdict,
    preview,
  });
  sendPage(visit.response, html, status);
}
