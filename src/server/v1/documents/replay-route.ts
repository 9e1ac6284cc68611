import { RegistryError } from '../../../model/errors.ts';
import { readCandidate } from '../../../registry/gate/candidate.ts';
import { findRuleset } from '../../../registry/gate/ruleset-gate.ts';
import { replay, replayRows, type Candidate, type ReplayPage } from '../../../registry/gate/replay.ts';
import { openValue, sealValue } from '../../../registry/seal.ts';
import { formatCoordinate } from '../../../model/address.ts';
import { csvText } from '../../../model/escape.ts';
import { bodyOf, type ResourceCall, type ResourceHandler } from '../call.ts';
import { csvType } from '../health-route.ts';
import { uploadIn } from './uploaded-document.ts';

/** Milliseconds after which an answer is due, so that proxies do not give up. */
const budget = 20_000;

type Start = Pick<ReplayPage, 'totals'> & { position: NonNullable<ReplayPage['position']> };

/** Checks the documents that a ruleset checks against a candidate for it, part by part. */
export const replayRuleset: ResourceHandler = async (call) => {
  const { registry, principal, query, asker } = call;
  const closed = asker.closed();
  const candidate = await candidateOf(call, closed);
  const start = startIn(call, candidate);
  const end = registry.monotonic() + budget;
  const isEnough = (items: number) => items >= (query['limit'] as number) || registry.monotonic() >= end;
  const turn = { isAwaited: true, signal: closed };
  const { items, totals, position } = await replay(registry, principal, candidate, start, isEnough, turn);
  const next = position && toCursor(call, candidate, { position, totals });
  if (query['format'] === 'csv') {
    const more = new URLSearchParams({ format: 'csv', limit: String(query['limit']), cursor: next ?? '' });
    const headers = next === null ? {} : { Link: `<?${more}>; rel="next"` };
    return { status: 200, headers, text: { mediaType: csvType, text: csvText(replayRows(items)) } };
  }
  return { status: 200, body: { digest: candidate.ruleset.digest, items, totals, next } };
};

async function candidateOf(call: ResourceCall, signal: AbortSignal): Promise<Candidate> {
  const { registry, coordinate, found, org } = call;
  const { version, document } = bodyOf<{ version?: string; document?: unknown }>(call);
  if ((version === undefined) === (document === undefined))
    throw new RegistryError('malformed', 'Give either `document` or `version`.');
  if (version === undefined) return readCandidate(registry, found.value, coordinate, uploadIn(call), signal);
  const name = formatCoordinate(coordinate, { kind: 'version', version });
  return { coordinate, ruleset: await findRuleset(registry, org, name) };
}

/** A cursor is valid only for the key that got it and for the same candidate. */
function purposeOf({ principal, coordinate }: ResourceCall, { ruleset }: Candidate): string {
  return `replay ${principal.id} ${formatCoordinate(coordinate)} ${ruleset.digest}`;
}

function toCursor(call: ResourceCall, candidate: Candidate, start: Start): string {
  const sealed = sealValue(call.registry, purposeOf(call, candidate), start);
  return Buffer.from(sealed, 'base64').toString('base64url');
}

function startIn(call: ResourceCall, candidate: Candidate): Start | null {
  const cursor = call.query['cursor'];
  if (typeof cursor !== 'string') return null;
  const sealed = Buffer.from(cursor, 'base64url').toString('base64');
  const start = openValue(call.registry, purposeOf(call, candidate), sealed) as Start | undefined;
  if (start !== undefined) return start;
  throw new RegistryError('malformed', 'This cursor belongs to another replay. Start again without `cursor`.', {
    extra: { errors: [{ parameter: 'cursor', detail: 'is not `next` of the same replay' }] },
  });
}
