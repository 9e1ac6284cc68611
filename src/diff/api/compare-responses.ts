import type { Direction } from '../../model/comparison.ts';
import { membersAt, reportPart, reportTexts, setLabel } from './report-part.ts';
import type { Operation } from './pair-operations.ts';
import { responsesOf, type Parameter, type Response } from './operation-parts.ts';
import { compareContents } from './compare-contents.ts';
import { compareParameter } from './compare-parameters.ts';
import type { Unit, Walk } from '../walk.ts';

/** Compares the responses of an operation. `direction`: `request` for those of a webhook. */
export function compareResponses(
  walk: Walk,
  unit: Unit,
  old: Operation,
  current: Operation,
  direction: Direction,
): void {
  const before = responsesOf(walk.before, old);
  const after = responsesOf(walk.after, current);
  for (const [status, response] of before) {
    const same = after.get(status);
    const wider = same ? null : widerOf(status, after);
    const isSuccess = /^[23]/.test(status);
    const at = { before: response.place.pointer, after: current.place.pointer };
    if (same) compareResponse(walk, unit, status, response, same, direction);
    else if (wider !== null) {
      compareResponse(walk, unit, wider, response, after.get(wider)!, direction);
      reportPart(
        unit,
        isSuccess ? 'risky' : 'safe',
        `${direction}-status-generalized`,
        `Response ${status} is described as ${wider}.`,
        { before: status, after: wider, at, direction },
      );
    } else {
      const code = `${direction}-${isSuccess ? 'success' : 'other'}-status-removed`;
      const message = `Response ${status} was removed.`;
      reportPart(unit, isSuccess ? 'breaking' : 'safe', code, message, { before: status, at, direction });
    }
  }
  for (const [status, response] of after) {
    if (before.has(status)) continue;
    const isKnown = widerOf(status, before) !== null;
    const isSuccess = /^[23]/.test(status);
    const at = { before: old.place.pointer, after: response.place.pointer };
    // Clients treat an unknown status as the first of its class (RFC 9110 §15).
    const verdict = isSuccess && !isKnown ? 'risky' : 'safe';
    const code = `${direction}-${isSuccess ? 'success' : 'other'}-status-added`;
    reportPart(unit, verdict, code, `Response ${status} was added.`, { after: status, at, direction });
  }
}

/** The range of statuses that this one belongs to, or `default`. Null if there is none. */
function widerOf(status: string, responses: ReadonlyMap<string, Response>): string | null {
  const range = `${status[0]}XX`;
  if (status === 'default') return null;
  return status !== range && responses.has(range) ? range : responses.has('default') ? 'default' : null;
}

function compareResponse(
  walk: Walk,
  parent: Unit,
  status: string,
  before: Response,
  after: Response,
  direction: Direction,
): void {
  if (walk.same(before.place.value, after.place.value) && isSameContent(before, after)) return;
  const subject = nameOf(after.place.pointer, status);
  const places = { before: before.place, after: after.place };
  setLabel(walk, places, { role: 'body', text: subject });
  // OpenAPI 2.0 lists the produced types outside of the responses, so they are part of the key.
  const types = [...before.content.keys(), '|', ...after.content.keys()].join();
  walk.below(parent, `response ${direction} ${before.place.pointer} | ${after.place.pointer} | ${types}`, (unit) => {
    reportTexts(walk, unit, places, { subject, role: 'response', keys: ['description', 'summary'] });
    compareHeaders(walk, unit, before, after, { direction, subject });
    compareContents(walk, unit, before, after, { direction, subject, role: 'body' });
    const links = membersAt(walk, places, 'links');
    if (links.before === links.after) return;
    const verdict = links.before === null ? 'safe' : 'risky';
    reportPart(unit, verdict, `${direction}-links-changed`, `${subject} has other links.`, { ...links, direction });
  });
}

function isSameContent(before: Response, after: Response): boolean {
  return [...before.content.keys()].join() === [...after.content.keys()].join();
}

function nameOf(pointer: string, status: string): string {
  const shared = /^\/(?:components\/)?responses\/([^/]+)$/.exec(pointer)?.[1];
  return shared === undefined ? `response ${status}` : `response ${JSON.stringify(shared)}`;
}

function compareHeaders(
  walk: Walk,
  unit: Unit,
  before: Response,
  after: Response,
  { direction, subject }: { direction: Direction; subject: string },
): void {
  const headerName = ({ name }: Parameter) => `header ${JSON.stringify(name)} of ${subject}`;
  for (const [key, header] of before.headers) {
    const other = after.headers.get(key);
    if (other !== undefined) {
      if (!walk.same(header.place.value, other.place.value))
        compareParameter(walk, unit, header, other, { direction, role: 'header', subject: headerName(other) });
      continue;
    }
    const at = { before: header.place.pointer, after: after.place.pointer };
    const [judgement, start, was] = header.isRequired
      ? (['widens', '', 'required'] as const)
      : (['risky', 'optional-', 'optional'] as const);
    const message = `${headerName(header)} was removed; it was ${was}.`;
    reportPart(unit, judgement, `${direction}-header-${start}removed`, message, { before: header.name, at, direction });
  }
  for (const [key, header] of after.headers) {
    if (before.headers.has(key)) continue;
    const at = { before: before.place.pointer, after: header.place.pointer };
    const effect = header.isRequired || direction === 'response' ? 'narrows' : 'widens';
    const details = { after: header.name, at, direction };
    reportPart(unit, effect, `${direction}-header-added`, `${headerName(header)} was added.`, details);
  }
}
