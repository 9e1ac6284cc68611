import type { Problem } from '../../model/problem.ts';
import { isCount, isRecord, isText } from './checked-values.ts';

/** A finding from a sandbox. Null if it is malformed. */
export function readProblem(value: unknown): Problem | null {
  if (!isRecord(value)) return null;
  const { rule, severity, message, file, pointer, line, column, documentationUrl, ofRuleset, known } = value;
  if (severity !== 'error' && severity !== 'warning' && severity !== 'info') return null;
  if (!isText(rule) || !isText(message) || !isText(file) || !isText(pointer) || !isCount(line) || !isCount(column))
    return null;
  return {
    rule,
    severity,
    message,
    file,
    pointer,
    line,
    column,
    ...(isText(documentationUrl) && { documentationUrl }),
    ...(ofRuleset === true && { ofRuleset }),
    ...(known === true && { known }),
  };
}
