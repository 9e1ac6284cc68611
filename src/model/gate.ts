import { createPathGlob, isPathGlob } from './path-glob.ts';
import type { BlockOn, Exempted, Exemption, Problem } from './problem.ts';

/**
 * What a breaking change needs: nothing; a higher major version (for 0.x a minor one); or `strict`,
 * an exemption.
 */
export const compatibilities = ['none', 'semver', 'strict'] as const;
export type Compatibility = (typeof compatibilities)[number];

/** Settings of a resource that decide which documents pass. Null: the organization's default. */
export interface GateSettings {
  blockOn?: BlockOn | null;
  /** Whether only findings block that the latest version does not have. */
  ratchet?: boolean | null;
  compatibility?: Compatibility | null;
}

/** The result of an exemption: whether it holds, and for which findings. */
export interface Exempting {
  left: Problem[];
  exempted: Exempted[];
  /** Exemptions that have ended, and those that match nothing. */
  expired: Exemption[];
  unused: Exemption[];
}

/**
 * The rule that tells that a ruleset has more findings than are kept. No exemption or ratchet accepts
 * it: those that were left out may be of any rule.
 */
export const findingsCut = 'ruleset-findings-cut';

/** Takes out the findings that exemptions accept. The first that matches counts. */
export function exempt(findings: readonly Problem[], exemptions: readonly Exemption[], today: string): Exempting {
  const matchers = exemptions.map((exemption) => ({ exemption, matches: createMatcher(exemption) }));
  const byRule = Map.groupBy(matchers, ({ exemption }) => (exemption.rule.includes('*') ? '*' : exemption.rule));
  const used = new Set<Exemption>();
  const exempted: Exempted[] = [];
  const left = findings.filter((finding) => {
    if (finding.rule === findingsCut) return true;
    const matching = [...(byRule.get(finding.rule) ?? []), ...(byRule.get('*') ?? [])]
      .filter(({ matches }) => matches(finding))
      .map(({ exemption }) => exemption);
    for (const exemption of matching) used.add(exemption);
    const valid = matching.find((exemption) => !hasEnded(exemption, today));
    if (valid === undefined) return true;
    const { reason, owner, expires, at } = valid;
    exempted.push({
      ...finding,
      exemption: {
        reason,
        ...(owner !== undefined && { owner }),
        ...(expires !== undefined && { expires }),
        at: placeText(at),
      },
    });
    return false;
  });
  return {
    left,
    exempted,
    expired: exemptions.filter((one) => used.has(one) && hasEnded(one, today)),
    unused: exemptions.filter((one) => !used.has(one)),
  };
}

/** Where an exemption is, as text: `stele.yaml:7:9`. */
export function placeText({ file, line, column }: Pick<Problem, 'file' | 'line' | 'column'>): string {
  return `${file}:${line}:${column}`;
}

/** The warning that an exemption has ended although its findings are still there. */
export function expiredProblem({ rule, expires, at }: Exemption): Problem {
  const message = `${rule}: The exemption ended on ${expires} and does not count any more.`;
  return { rule: 'exemption-expired', severity: 'warning', message, ...at };
}

function hasEnded({ expires }: Exemption, today: string): boolean {
  return expires !== undefined && expires < today;
}

function createMatcher({ rule, pointer, file }: Exemption): (finding: Problem) => boolean {
  const isRule = createPathGlob(rule.replaceAll('**', '*'));
  const isPattern = pointer !== undefined && file === undefined && isPathGlob(pointer);
  const isPointer = isPattern ? createPathGlob(pointer) : null;
  return (finding) =>
    (rule.includes('*') ? isRule(finding.rule) !== null : rule === finding.rule) &&
    (file === undefined || file === finding.file) &&
    (pointer === undefined || (isPointer === null ? pointer === finding.pointer : isPointer(finding.pointer) !== null));
}

/** What tells a finding from others of the same document, however its lines move. */
export function findingKey({ rule, pointer, message }: Pick<Problem, 'rule' | 'pointer' | 'message'>): string {
  return JSON.stringify([rule, pointer, message]);
}

/** What an organization's administrators set, besides its configuration. The value of one record. */
export interface OrganizationSettings {
  /** Coordinate of the ruleset that checks its APIs; null: none. */
  ruleset: string | null;
}

/** The name of the record that holds an organization's settings. */
export function organizationRef(org: string): string {
  return `organizations/${org}`;
}

/** Parses the name of such a record: the organization. Null for any other. */
export function parseOrganizationRef(name: string): string | null {
  return name.startsWith('organizations/') ? name.slice('organizations/'.length) : null;
}
