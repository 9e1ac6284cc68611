import type { Direction } from '../../model/comparison.ts';
import { objectOf, textOf } from '../../render/json-value.ts';
import { createTell, membersAt, pairDescribed, pointersOf, reportPart, reportTexts, setLabel } from './report-part.ts';
import { type Operation, responsesOf, type Response } from './operations.ts';
import { compareContents } from './compare-contents.ts';
import { compareEncodings } from './compare-encodings.ts';
import { compareHeaders } from './compare-parameters.ts';
import type { Both, Unit, Walk } from '../walk.ts';

/** Compares the responses of an operation. `direction`: `request` for those of a webhook. */
export function compareResponses(walk: Walk, unit: Unit, [old, current]: Both<Operation>, direction: Direction): void {
  const [before, after] = [responsesOf(walk.before, old), responsesOf(walk.after, current)];
  const isInstead = (status: string, narrower: readonly string[]) =>
    status !== 'default' || !isSuccess(status, before) || narrower.some((other) => /^[23]/.test(other));
  const { pairs, gone, added } = pairDescribed(walk, before, after, describing, isInstead);
  for (const [was, is] of pairs) compareResponse(walk, unit, [was, is], [before.get(was)!, after.get(is)!], direction);
  const isOne = direction === 'response';
  const place = { before: old.place, after: current.place };
  const tellOf = (status: string) => {
    const [was, is] = [before.get(status)?.place ?? place.before, after.get(status)?.place ?? place.after];
    const at = pointersOf({ before: was, after: is });
    return createTell(unit, { code: direction, subject: `Response ${status}`, at, direction });
  };
  for (const { key: status, wider, narrower } of gone) {
    const [tell, isNeeded, names] = [tellOf(status), isSuccess(status, before), narrower.join(', ')];
    if (wider !== null) {
      const judgement = isOne && isNeeded && !before.has(wider) ? 'risky' : 'safe';
      tell(judgement, 'status-generalized', `is described as ${wider}`, status, wider);
    } else if (names !== '')
      tell(isOne ? 'safe' : 'narrows', 'status-specialized', `is described as ${names} only`, status, names);
    else {
      const judgement = isNeeded ? 'breaking' : isOne ? 'safe' : 'risky';
      tell(judgement, `${isNeeded ? 'success' : 'other'}-status-removed`, 'was removed', status);
    }
  }
  for (const { key: status, was } of added) {
    // Clients treat an unknown status as the first of its class (RFC 9110 §15).
    const isNew = isOne && was === null && isSuccess(status, after) && status !== 'default';
    const code = `${/^[23]/.test(status) ? 'success' : 'other'}-status-added`;
    tellOf(status)(isNew ? 'risky' : 'safe', code, 'was added', null, status);
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
  [was, is]: Both<string>,
  [before, after]: Both<Response>,
  direction: Direction,
): void {
  // OpenAPI 2.0 lists the produced types outside of the responses, so they are part of the key.
  const [old, current] = [before, after].map(({ content }) => [...content.keys()].join());
  if (walk.same(before.place.value, after.place.value) && old === current) return;
  const subject = nameOf(after.place.pointer, is);
  const places = { before: before.place, after: after.place };
  setLabel(walk, places, { role: 'body', text: subject });
  // Each reference may say a description of its own.
  const said = [before, after].map(({ place }) => textOf(objectOf(place.value)['description'])).join(' | ');
  walk.below(
    parent,
    `response ${direction} ${was === is} ${before.place.pointer} | ${after.place.pointer} | ${old} | ${current} | ${said}`,
    (unit) => {
      // Texts of `default` are not those of the status that it describes, too.
      if (was === is) {
        reportTexts(walk, unit, places, { subject, role: 'response', keys: ['description', 'summary'] });
        const { isSame, ...examples } = membersAt(walk, places, 'examples');
        if (!isSame) reportPart(unit, 'docs', 'body-examples-changed', `${subject} has other examples.`, examples);
      }
      compareHeaders(walk, unit, [before, after], { direction, subject });
      const where = { direction, subject, role: 'body', isAsked: true };
      compareEncodings(walk, unit, compareContents(walk, unit, before, after, where), where);
      const links = membersAt(walk, places, 'links');
      if (links.isSame) return;
      const verdict = links.before === null ? 'safe' : 'risky';
      reportPart(unit, verdict, `${direction}-links-changed`, `${subject} has other links.`, { ...links, direction });
    },
  );
}

function nameOf(pointer: string, status: string): string {
  const shared = /^\/(?:components\/)?responses\/([^/]+)$/.exec(pointer)?.[1];
  return shared === undefined ? `response ${status}` : `response ${JSON.stringify(shared)}`;
}
