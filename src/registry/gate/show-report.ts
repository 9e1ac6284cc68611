import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { Report } from '../../model/problem.ts';
import type { Registry } from '../registry.ts';
import { findReadable } from '../readable.ts';

/**
 * Whether a principal may read everything in a report: the findings of a ruleset tell what is in it,
 * so only who may read the ruleset may read them.
 */
export async function mayReadFindings(
  registry: Pick<Registry, 'refs' | 'log'>,
  principal: Principal,
  { gate }: Report,
): Promise<boolean> {
  if (gate === undefined) return true;
  const named = parseCoordinate(gate.ruleset.name);
  return named !== null && (await findReadable(registry, principal, named.coordinate)) !== null;
}

/** The report without the ruleset's findings, of which only the number stays. */
function withoutFindings(report: Report): Report {
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
