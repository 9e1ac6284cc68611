import { maxKnownFindings } from '../../model/gate.ts';
import type { Report } from '../../model/problem.ts';
import { isCount, isRecord, isText, readAll } from './checked-values.ts';
import { readExempted, readGate } from './gate-messages.ts';
import { readProblem } from './read-problem.ts';

/** A report from a sandbox. Null if it is malformed. */
export function readReport(value: unknown): Report | null {
  if (!isRecord(value) || !isRecord(value['counts']) || typeof value['truncated'] !== 'boolean') return null;
  const problems = readAll(value['problems'], readProblem);
  const { error, warning, info } = value['counts'];
  if (problems === null || problems.length > 1000 || !isCount(error) || !isCount(warning) || !isCount(info))
    return null;
  const { blocking } = value;
  const gate = value['gate'] === undefined ? undefined : readGate(value['gate']);
  const exempted = value['exempted'] === undefined ? undefined : readAll(value['exempted'], readExempted);
  const keys = value['known'] === undefined ? undefined : readAll(value['known'], (key) => (isText(key) ? key : null));
  if (gate === null || exempted === null || !(blocking === undefined || isCount(blocking))) return null;
  if (keys === null || (keys?.length ?? 0) > maxKnownFindings) return null;
  return {
    problems,
    counts: { error, warning, info },
    truncated: value['truncated'],
    ...(blocking !== undefined && { blocking }),
    ...(gate && { gate }),
    ...(exempted && { exempted }),
    ...(keys && { known: keys }),
  };
}
