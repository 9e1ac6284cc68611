import type { Direction } from '../../model/comparison.ts';
import { reportPart, reportTexts } from './report-part.ts';
import type { Operation } from './pair-operations.ts';
import { responsesOf, type Parameter, type Response } from './operation-parts.ts';
import { compareContents } from './compare-contents.ts';
import { compareValues } from './compare-parameters.ts';
import { textOfValue } from '../schema/read-schema.ts';
import { memberOf } from '../side.ts';
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
      reportPart(unit, {
        verdict: isSuccess ? 'risky' : 'safe',
        code: `${direction}-status-generalized`,
        message: `Response ${status} is described as ${wider}.`,
        before: status,
        after: wider,
        at,
        direction,
      });
    } else if (isSuccess)
      reportPart(unit, {
        verdict: 'breaking',
        code: `${direction}-success-status-removed`,
        message: `Response ${status} was removed.`,
        before: status,
        at,
        direction,
      });
    else
      reportPart(unit, {
        verdict: 'safe',
        code: `${direction}-other-status-removed`,
        message: `Response ${status} was removed.`,
        before: status,
        at,
        direction,
      });
  }
  for (const [status, response] of after) {
    if (before.has(status)) continue;
    const isKnown = widerOf(status, before) !== null;
    const isSuccess = /^[23]/.test(status);
    const at = { before: old.place.pointer, after: response.place.pointer };
    // Clients treat an unknown status as the first of its class (RFC 9110 §15).
    const verdict = isSuccess && !isKnown ? 'risky' : 'safe';
    const code = `${direction}-${isSuccess ? 'success' : 'other'}-status-added`;
    reportPart(unit, { verdict, code, message: `Response ${status} was added.`, after: status, at, direction });
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
  const text = nameOf(after.place.pointer, status);
  const label = { role: 'body', text };
  walk.before.labels.set(before.place.pointer, label);
  walk.after.labels.set(after.place.pointer, label);
  // What a 2.0 operation produces is said outside its responses, so the types are part of the key.
  const types = [...before.content.keys(), '|', ...after.content.keys()].join();
  walk.below(parent, `response ${direction} ${before.place.pointer} | ${after.place.pointer} | ${types}`, (unit) => {
    const subject = text.slice(0, 1).toUpperCase() + text.slice(1);
    reportTexts(walk, unit, {
      before: before.place,
      after: after.place,
      subject,
      role: 'response',
      keys: ['description', 'summary'],
    });
    compareHeaders(walk, unit, before, after, { direction, text });
    compareContents(walk, unit, before, after, { direction, subject: text, role: 'body' });
    const links = [memberOf(walk.before, before.place, 'links'), memberOf(walk.after, after.place, 'links')] as const;
    const [old, current] = links.map((place) => (place === null ? null : textOfValue(place.value)));
    if (old === current) return;
    const at = { before: links[0]?.pointer ?? before.place.pointer, after: links[1]?.pointer ?? after.place.pointer };
    reportPart(unit, {
      verdict: links[0] === null ? 'safe' : 'risky',
      code: `${direction}-links-changed`,
      message: `${subject} has other links.`,
      before: old ?? null,
      after: current ?? null,
      at,
      direction,
    });
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
  { direction, text }: { direction: Direction; text: string },
): void {
  for (const [key, header] of before.headers) {
    const other = after.headers.get(key);
    const name = `Header ${JSON.stringify(header.name)} of ${text}`;
    if (other !== undefined) compareHeader(walk, unit, header, other, { direction, text });
    else {
      const at = { before: header.place.pointer, after: after.place.pointer };
      const isRequired = header.isRequired;
      const code = `${direction}-header-${isRequired ? '' : 'optional-'}removed`;
      const message = `${name} was removed; it was ${isRequired ? 'required' : 'optional'}.`;
      const judged = isRequired ? ({ effect: 'widens' } as const) : ({ verdict: 'risky' } as const);
      reportPart(unit, { ...judged, code, message, before: header.name, at, direction });
    }
  }
  for (const [key, header] of after.headers) {
    if (before.headers.has(key)) continue;
    const at = { before: before.place.pointer, after: header.place.pointer };
    const message = `Header ${JSON.stringify(header.name)} of ${text} was added.`;
    const isDemanded = header.isRequired || direction === 'response';
    reportPart(unit, {
      effect: isDemanded ? 'narrows' : 'widens',
      code: `${direction}-header-added`,
      message,
      after: header.name,
      at,
      direction,
    });
  }
}

function compareHeader(
  walk: Walk,
  parent: Unit,
  before: Parameter,
  after: Parameter,
  { direction, text }: { direction: Direction; text: string },
): void {
  if (walk.same(before.place.value, after.place.value)) return;
  const name = `header ${JSON.stringify(after.name)} of ${text}`;
  const subject = `H${name.slice(1)}`;
  const label = { role: 'header', text: name };
  walk.before.labels.set(before.place.pointer, label);
  walk.after.labels.set(after.place.pointer, label);
  walk.below(parent, `header ${direction} ${before.place.pointer} | ${after.place.pointer}`, (unit) => {
    const at = { before: before.place.pointer, after: after.place.pointer };
    if (before.isRequired !== after.isRequired) {
      const [from, to] = after.isRequired ? ['optional', 'required'] : ['required', 'optional'];
      reportPart(unit, {
        effect: after.isRequired ? 'narrows' : 'widens',
        code: `${direction}-header-became-${to}`,
        message: `${subject} is ${to}; it was ${from}.`,
        before: from,
        after: to,
        at,
        direction,
      });
    }
    const isSchemaOwn = [before, after].some(({ schema, place }) => schema === place);
    if (!isSchemaOwn)
      reportTexts(walk, unit, {
        before: before.place,
        after: after.place,
        subject,
        role: 'header',
        keys: ['description', 'example', 'examples'],
      });
    if (before.content.size > 0 || after.content.size > 0)
      compareContents(walk, unit, before, after, { direction, subject: name, role: 'header' });
    else compareValues(walk, unit, before, after, direction);
  });
}
