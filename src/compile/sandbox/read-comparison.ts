import { maxChanges, maxOperations, verdicts, type Change, type Comparison } from '../../model/comparison.ts';
import { isCount, isList, isRecord, isText, isTextOrNull, readAll } from './checked-values.ts';

const directions = ['request', 'response', 'both'] as const;

/** Reads a comparison from a sandbox. Null for anything else. */
export function readComparison(value: unknown): Comparison | null {
  if (!isRecord(value) || !isRecord(value['counts'])) return null;
  const { truncated, reason } = value;
  const { breaking, unknown, risky, safe, docs } = value['counts'];
  const verdict = ([...verdicts, 'none'] as const).find((known) => known === value['verdict']);
  const changes = readAll(value['changes'], readChange);
  if (verdict === undefined || changes === null || changes.length > maxChanges) return null;
  if (typeof truncated !== 'boolean' || !isTextOrNull(reason)) return null;
  if (!isCount(breaking) || !isCount(unknown) || !isCount(risky) || !isCount(safe) || !isCount(docs)) return null;
  return { verdict, counts: { breaking, unknown, risky, safe, docs }, changes, truncated, reason };
}

function readChange(value: unknown): Change | null {
  if (!isRecord(value) || !isRecord(value['pointers'])) return null;
  const { code, message, before, after, operations, reach } = value;
  const verdict = verdicts.find((known) => known === value['verdict']);
  const direction = [...directions, null].find((known) => known === value['direction']);
  const pointers = { before: value['pointers']['before'], after: value['pointers']['after'] };
  if (verdict === undefined || direction === undefined || !isText(code) || !isText(message)) return null;
  if (!isTextOrNull(before) || !isTextOrNull(after) || !isCount(reach)) return null;
  if (!isTextOrNull(pointers.before) || !isTextOrNull(pointers.after)) return null;
  if (!isList(operations, isText) || operations.length > maxOperations) return null;
  const place = readPlace(value['place']);
  if (place === null) return null;
  return {
    verdict,
    code,
    message,
    before,
    after,
    pointers: { before: pointers.before, after: pointers.after },
    ...(place && { place }),
    operations: [...operations],
    reach,
    direction,
  };
}

/** Undefined: it has none. Null: that is no place. */
function readPlace(value: unknown): Change['place'] | null {
  if (value === undefined) return undefined;
  if (!isRecord(value) || !isCount(value['line']) || !isCount(value['column'])) return null;
  return { line: value['line'], column: value['column'] };
}
