import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { Report } from '../../model/problem.ts';
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
  return gate === undefined || mayReadRulesets(registry, principal, namesIn(gate));
}

/** Whether a principal may read each of these rulesets, by coordinate. */
export async function mayReadRulesets(
  registry: Pick<Registry, 'refs' | 'log'>,
  principal: Principal,
  names: readonly string[],
): Promise<boolean> {
  for (const name of names) {
    const named = parseCoordinate(name);
    if (named === null || (await findReadable(registry, principal, named.coordinate)) === null) return false;
  }
  return true;
}

/** The rulesets whose rules made the findings. */
export function namesIn({ ruleset, extended = {} }: { ruleset: { name: string }; extended?: object }): string[] {
  return [ruleset.name, ...Object.keys(extended)];
}

/** As `mayReadFindings`, for the report of a published version. */
export async function mayReadFindingsOf(
  registry: Registry,
  principal: Principal,
  granted: GrantedVersion,
): Promise<boolean> {
  return mayReadFindings(registry, principal, await gateOf(registry, granted));
}

/** The gate in the version's report. It is asked for at each page, and a report may be long. */
function gateOf(registry: Registry, granted: GrantedVersion): Promise<Pick<Report, 'gate'>> {
  const make = async () => {
    const { gate } = await readReport(registry, granted);
    return { ...(gate && { gate }) };
  };
  const bytesOf = ({ gate }: Pick<Report, 'gate'>) => (gate === undefined ? 0 : 2 * JSON.stringify(gate).length);
  return registry.answers.content(`gate ${granted.version.manifest}`, make, bytesOf);
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
