import { LRUCache } from 'lru-cache';
import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { Digest } from '../../model/digest.ts';
import type { Gate, Report } from '../../model/problem.ts';
import { readReport, type GrantedVersion } from '../read.ts';
import type { Registry } from '../registry.ts';
import { findReadable } from '../readable.ts';

/**
 * Whether a principal may read everything in a report: the findings of a ruleset tell what is in it,
 * so only who may read the ruleset may read them.
 */
export async function mayReadFindings(
  registry: Pick<Registry, 'refs' | 'log'>,
  principal: Principal,
  { gate }: Pick<Report, 'gate'>,
): Promise<boolean> {
  if (gate === undefined) return true;
  for (const name of namesIn(gate)) {
    const named = parseCoordinate(name);
    if (named === null || (await findReadable(registry, principal, named.coordinate)) === null) return false;
  }
  return true;
}

/** The rulesets whose rules made the findings. */
function namesIn({ ruleset, extended = {} }: Gate): string[] {
  return [ruleset.name, ...Object.keys(extended)];
}

const gateOf = new LRUCache<Digest, { gate?: Gate }>({ max: 5000 });

/** As `mayReadFindings`, for the report of a published version. */
export async function mayReadFindingsOf(
  registry: Registry,
  principal: Principal,
  granted: GrantedVersion,
): Promise<boolean> {
  const { manifest } = granted.version;
  let known = gateOf.get(manifest);
  if (known === undefined) {
    const { gate } = await readReport(registry, granted);
    known = { ...(gate && { gate }) };
    gateOf.set(manifest, known);
  }
  return mayReadFindings(registry, principal, known);
}

/** The rulesets that `mayReadFindingsOf` asks for. Null: that is not known without waiting. */
export function gateNamesAtHand({ version }: GrantedVersion): string[] | null {
  const known = gateOf.get(version.manifest);
  return known === undefined ? null : known.gate === undefined ? [] : namesIn(known.gate);
}

/** The report without the ruleset's findings, of which only the number stays. */
export function withoutFindings(report: Report): Report {
  const { gate: _gate, exempted: _exempted, problems, ...rest } = report;
  const shown = problems.filter(({ ofRuleset, rule }) => ofRuleset !== true && !rule.startsWith('exemption-'));
  return { ...rest, problems: shown, hidden: problems.length - shown.length };
}

/** The report as a principal may read it. */
export async function showReport(
  registry: Pick<Registry, 'refs' | 'log'>,
  principal: Principal,
  report: Report,
): Promise<Report> {
  return (await mayReadFindings(registry, principal, report)) ? report : withoutFindings(report);
}
