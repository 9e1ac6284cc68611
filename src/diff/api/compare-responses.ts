import type { Direction } from '../../model/comparison.ts';
import { objectOf, textOf } from '../../render/json-value.ts';
import { membersAt, reportPart, reportTexts, setLabel } from './report-part.ts';
import { type Operation, responsesOf, type Response } from './operations.ts';
import { compareContents } from './compare-contents.ts';
import { compareEncodings } from './compare-encodings.ts';
import { compareHeaders } from './compare-parameters.ts';
import type { Unit, Walk } from '../walk.ts';

/** Compares the responses of an operation. `direction`: `request` for those of a webhook. */
export function compareResponses(
  walk: Walk,
  unit: Unit,
  old: Operation,
  current: Operation,
  direction: Direction,
): void {
  const [before, after] = [responsesOf(walk.before, old), responsesOf(walk.after, current)];
  const statuses = new Set([...before.keys(), ...after.keys()]);
  const compared = new Set<string>();
  for (const status of statuses) {
    const [was, is] = [describing(status, before), describing(status, after)];
    if (was === null || is === null || compared.has(`${was} ${is}`)) continue;
    compared.add(`${was} ${is}`);
    compareResponse(walk, unit, { was, is }, before.get(was)!, after.get(is)!, direction);
  }
  const isOne = direction === 'response';
  /** Those that take the place of others. */
  const instead = new Set<string>();
  for (const [status, { place }] of before) {
    if (after.has(status)) continue;
    const details = { before: status, at: { before: place.pointer, after: current.place.pointer }, direction };
    const wider = describing(status, after);
    const narrower = [...after.keys()].filter((other) => !before.has(other) && describing(other, before) === status);
    const isNeeded = isSuccess(status, before);
    if (wider !== null) {
      const judgement = isOne && isNeeded && !before.has(wider) ? 'risky' : 'safe';
      const message = `Response ${status} is described as ${wider}.`;
      reportPart(unit, judgement, `${direction}-status-generalized`, message, { ...details, after: wider });
      instead.add(wider);
    } else if (
      narrower.length > 0 &&
      (status !== 'default' || !isNeeded || narrower.some((other) => /^[23]/.test(other)))
    ) {
      for (const other of narrower) instead.add(other);
      const judgement = isOne ? 'safe' : 'narrows';
      const message = `Response ${status} is described as ${narrower.join(', ')} only.`;
      reportPart(unit, judgement, `${direction}-status-specialized`, message, {
        ...details,
        after: narrower.join(', '),
      });
    } else {
      const code = `${direction}-${isNeeded ? 'success' : 'other'}-status-removed`;
      reportPart(
        unit,
        isNeeded ? 'breaking' : isOne ? 'safe' : 'risky',
        code,
        `Response ${status} was removed.`,
        details,
      );
    }
  }
  for (const [status, { place }] of after) {
    if (before.has(status) || instead.has(status)) continue;
    const isNew = describing(status, before) === null;
    // Clients treat an unknown status as the first of its class (RFC 9110 §15).
    const verdict = isOne && isNew && isSuccess(status, after) && status !== 'default' ? 'risky' : 'safe';
    const code = `${direction}-${/^[23]/.test(status) ? 'success' : 'other'}-status-added`;
    const details = { after: status, at: { before: old.place.pointer, after: place.pointer }, direction };
    reportPart(unit, verdict, code, `Response ${status} was added.`, details);
  }
}

const ranges = ['1XX', '2XX', '3XX', '4XX', '5XX'];

/**
 * The response that describes a status: that of the status itself, of its range, or `default`. Beside
 * a success of its own, `default` describes what else may happen, and no success.
 */
function describing(status: string, responses: ReadonlyMap<string, Response>): string | null {
  if (responses.has(status)) return status;
  const range = `${status[0]}XX`;
  if (ranges.includes(range) && responses.has(range)) return range;
  const isUsual = !/^[23]/.test(status) || isSuccess('default', responses);
  return isUsual && status !== 'default' && responses.has('default') ? 'default' : null;
}

/** Whether a response is one of success: `default` is where no other one is. */
function isSuccess(status: string, responses: ReadonlyMap<string, Response>): boolean {
  return status === 'default' ? ![...responses.keys()].some((one) => /^[23]/.test(one)) : /^[23]/.test(status);
}

function compareResponse(
  walk: Walk,
  parent: Unit,
  { was, is }: { was: string; is: string },
  before: Response,
  after: Response,
  direction: Direction,
): void {
  if (walk.same(before.place.value, after.place.value) && isSameContent(before, after)) return;
  const subject = nameOf(after.place.pointer, is);
  const places = { before: before.place, after: after.place };
  setLabel(walk, places, { role: 'body', text: subject });
  // OpenAPI 2.0 lists the produced types outside of the responses, so they are part of the key.
  const types = [...before.content.keys(), '|', ...after.content.keys()].join();
  // Each reference may say a description of its own.
  const said = [before, after].map(({ place }) => textOf(objectOf(place.value)['description'])).join(' | ');
  walk.below(
    parent,
    `response ${direction} ${was === is} ${before.place.pointer} | ${after.place.pointer} | ${types} | ${said}`,
    (unit) => {
      // Texts of `default` are not those of the status that it describes, too.
      if (was === is) {
        reportTexts(walk, unit, places, { subject, role: 'response', keys: ['description', 'summary'] });
        const { isSame, ...examples } = membersAt(walk, places, 'examples');
        if (!isSame) reportPart(unit, 'docs', 'body-examples-changed', `${subject} has other examples.`, examples);
      }
      compareHeaders(walk, unit, before, after, { direction, subject });
      const where = { direction, subject, role: 'body', isAsked: true };
      compareEncodings(walk, unit, compareContents(walk, unit, before, after, where), where);
      const links = membersAt(walk, places, 'links');
      if (links.isSame) return;
      const verdict = links.before === null ? 'safe' : 'risky';
      reportPart(unit, verdict, `${direction}-links-changed`, `${subject} has other links.`, { ...links, direction });
    },
  );
}

function isSameContent(before: Response, after: Response): boolean {
  return [...before.content.keys()].join() === [...after.content.keys()].join();
}

function nameOf(pointer: string, status: string): string {
  const shared = /^\/(?:components\/)?responses\/([^/]+)$/.exec(pointer)?.[1];
  return shared === undefined ? `response ${status}` : `response ${JSON.stringify(shared)}`;
}
