import { isDigest, type Digest } from '../../model/digest.ts';
import { compatibilities, type GateSettings } from '../../model/gate.ts';
import { blockOns, type Exempted, type Exemption, type Gate } from '../../model/problem.ts';
import { isCount, isRecord, isText, readAll } from './checked-values.ts';
import { readProblem } from './read-problem.ts';

/** The gate of a report. Null if it is malformed. */
export function readGate(value: unknown): Gate | null {
  if (!isRecord(value) || !isRecord(value['ruleset'])) return null;
  const { today, ratchet, exemptions, extended = {} } = value;
  const { name, digest } = value['ruleset'];
  const blockOn = blockOns.find((known) => known === value['blockOn']);
  const read = exemptions === undefined ? undefined : readAll(exemptions, readExemption);
  if (!isRecord(extended) || !Object.values(extended).every((base) => isText(base) && isDigest(base))) return null;
  if (!isText(name) || !isText(digest) || !isDigest(digest) || blockOn === undefined || read === null) return null;
  return {
    ruleset: { name, digest },
    ...(value['extended'] !== undefined && { extended: extended as Record<string, Digest> }),
    blockOn,
    ...(read && { exemptions: read }),
    ...(isText(today) && { today }),
    ...(isText(ratchet) && isDigest(ratchet) && { ratchet }),
  };
}

/** An exempted finding. Null if it is malformed. */
export function readExempted(value: unknown): Exempted | null {
  const problem = readProblem(value);
  if (problem === null || !isRecord(value) || !isRecord(value['exemption'])) return null;
  const { reason, owner, expires, at } = value['exemption'];
  if (!isText(reason) || !isText(at)) return null;
  return {
    ...problem,
    exemption: { reason, ...(isText(owner) && { owner }), ...(isText(expires) && { expires }), at },
  };
}

/** The exemptions of an entry of `stele.yaml`. */
export function readExemptions(value: unknown): { exemptions?: Exemption[] } {
  const exemptions = readAll(value, readExemption);
  return exemptions === null ? {} : { exemptions };
}

function readExemption(value: unknown): Exemption | null {
  if (!isRecord(value) || !isRecord(value['at'])) return null;
  const { rule, pointer, file, reason, owner, expires } = value;
  const { file: path, pointer: place, line, column } = value['at'];
  if (!isText(rule) || !isText(reason)) return null;
  if (!isText(path) || !isText(place) || !isCount(line) || !isCount(column)) return null;
  return {
    rule,
    ...(isText(pointer) && { pointer }),
    ...(isText(file) && { file }),
    reason,
    ...(isText(owner) && { owner }),
    ...(isText(expires) && { expires }),
    at: { file: path, pointer: place, line, column },
  };
}

/** The settings of a gate in `stele.yaml`. */
export function readGateSettings(value: Record<string, unknown>): GateSettings {
  const { ratchet } = value;
  const blockOn = blockOns.find((known) => known === value['blockOn']);
  const compatibility = compatibilities.find((known) => known === value['compatibility']);
  return {
    ...(blockOn && { blockOn }),
    ...(typeof ratchet === 'boolean' && { ratchet }),
    ...(compatibility && { compatibility }),
  };
}
