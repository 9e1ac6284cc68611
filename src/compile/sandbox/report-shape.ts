import { isDigest } from '../../model/digest.ts';
import { maxKnownFindings } from '../../model/gate.ts';
import {
  blockOns,
  type Exempted,
  type Exemption,
  type ReportedGate,
  type Problem,
  type Report,
} from '../../model/problem.ts';
import { count, flag, list, map, oneOf, optional, record, text, where } from './shapes.ts';

export const digest = where(text, isDigest);

const place = { pointer: text, line: count, column: count };

/** A position in `stele.yaml`. */
export const position = record<Pick<Problem, 'pointer' | 'line' | 'column'>>(place);

// The order of members is that of stored reports.
const problemMembers = {
  rule: text,
  severity: oneOf(['error', 'warning', 'info'] as const),
  message: text,
  file: text,
  ...place,
  documentationUrl: optional(text),
  ofRuleset: optional(oneOf([true] as const)),
  known: optional(oneOf([true] as const)),
};

export const problem = record<Problem>(problemMembers);

export const exemption = record<Exemption>({
  rule: text,
  pointer: optional(text),
  file: optional(text),
  reason: text,
  owner: optional(text),
  expires: optional(text),
  at: record<Exemption['at']>({ file: text, ...place }),
});

const exempted = record<Exempted>({
  ...problemMembers,
  exemption: record<Exempted['exemption']>({
    reason: text,
    owner: optional(text),
    expires: optional(text),
    at: text,
  }),
});

const gate = record<ReportedGate>({
  ruleset: record<ReportedGate['ruleset']>({ name: text, digest }),
  extended: optional(map(digest)),
  blockOn: oneOf(blockOns),
  exemptions: optional(list(exemption)),
  today: optional(text),
  ratchet: optional(digest),
});

export const report = record<Report>({
  problems: list(problem, 1000),
  counts: record<Report['counts']>({ error: count, warning: count, info: count }),
  truncated: flag,
  blocking: optional(count),
  gate: optional(gate),
  exempted: optional(list(exempted)),
  known: optional(list(text, maxKnownFindings)),
  hidden: () => undefined,
});
