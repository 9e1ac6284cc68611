import type { Visibility } from './access.ts';
import { createPathGlob, isPathGlob } from './glob.ts';
import type { BlockOn, Exempted, Exemption, Problem, Validation } from './problem.ts';

/** What a breaking change needs: nothing; a higher major version (for 0.x a minor one); `strict`: an exemption. */
export const compatibilities = ['none', 'semver', 'strict'] as const;
export type Compatibility = (typeof compatibilities)[number];

/** What happens to a new version that breaks a resource that uses it: nothing is said; the check says it; it is rejected. */
export const impactGates = ['none', 'warn', 'block'] as const;
export type ImpactGate = (typeof impactGates)[number];

/** Whether a breaking change, or an exemption, waits until somebody else has approved it. */
export const approvalGates = ['none', 'required'] as const;
export type ApprovalGate = (typeof approvalGates)[number];

/** What decides which documents pass. */
export interface Gate {
  blockOn: BlockOn;
  /** Whether only findings block that the latest version does not have. */
  ratchet: boolean;
  compatibility: Compatibility;
  impact: ImpactGate;
  approval: ApprovalGate;
}

/** The settings where neither the resource nor its organization says anything. */
const usualGate: Readonly<Gate> = {
  blockOn: 'error',
  ratchet: false,
  compatibility: 'none',
  impact: 'warn',
  approval: 'none',
};

export const gateKeys = Object.keys(usualGate) as (keyof Gate)[];

/** Settings of a resource's gate. Null or absent: the organization's default. */
export type GateSettings = { [K in keyof Gate]?: Gate[K] | null };

/** Of an object, the settings of a gate: all of them. */
export function gateSettingsOf(given: GateSettings): { [K in keyof Gate]: Gate[K] | null } {
  return fillGate((key) => given[key] ?? null);
}

/** The settings that count: the first that is said, in this order. */
export function gateFrom(...given: GateSettings[]): Gate {
  return fillGate((key) => given.map((each) => each[key] ?? null).find((value) => value !== null) ?? usualGate[key]);
}

function fillGate<T>(valueOf: (key: keyof Gate) => unknown): T {
  return Object.fromEntries(gateKeys.map((key) => [key, valueOf(key)])) as T;
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
 * The rule that reports that a ruleset has more findings than are kept. No exemption or ratchet
 * accepts it, since the findings left out may be of any rule.
 */
const findingsCut = 'ruleset-findings-cut';

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

/** The most findings of a version that a ratchet knows. */
export const maxKnownFindings = 30_000;

/** Identifies a finding within a document, even if its lines move. */
export function findingKey({ rule, pointer, message }: Pick<Problem, 'rule' | 'pointer' | 'message'>): string {
  return JSON.stringify([rule, pointer, message]);
}

/**
 * The findings that another version has, too, by the keys of its findings. First those that are the
 * same; of the others, each is one whose place moved in a list, or in a path whose parameter has
 * another name, as often as the other version has it.
 */
export function knownAmong(findings: readonly Problem[], keys: readonly string[]): Set<Problem> {
  const exact = new Set(keys);
  const matching = new Set(findings.filter((one) => one.rule !== findingsCut && exact.has(findingKey(one))));
  if (matching.size === findings.length) return matching;
  for (const finding of matching) exact.delete(findingKey(finding));
  const moved = new Map<string, number>();
  for (const key of exact) moved.set(withoutPlaces(key), (moved.get(withoutPlaces(key)) ?? 0) + 1);
  for (const finding of findings) {
    if (matching.has(finding) || finding.rule === findingsCut) continue;
    const key = withoutPlaces(findingKey(finding));
    const left = moved.get(key) ?? 0;
    if (left === 0) continue;
    moved.set(key, left - 1);
    matching.add(finding);
  }
  return matching;
}

/** The key of a finding without what moves: places in lists, but not status codes, and names in `{…}`. */
function withoutPlaces(key: string): string {
  return key.replace(/(?<!\/responses)\/\d+(?=[/"])/g, '/*').replace(/\{[^{}/"]*\}/g, '{}');
}

/** What counts for resources of an organization that say nothing of their own. */
export interface OrganizationDefaults extends GateSettings {
  visibility?: Visibility;
  validation?: Validation;
}

/** What an organization's administrators set, besides its configuration. The value of one record. */
export interface OrganizationSettings {
  /** Coordinate of the ruleset that checks its APIs; null: none. */
  ruleset: string | null;
  defaults?: OrganizationDefaults;
}

/** The name of the record that holds an organization's settings. */
export function organizationRef(org: string): string {
  return `organizations/${org}`;
}

/** Parses the name of such a record: the organization. Null for any other. */
export function parseOrganizationRef(name: string): string | null {
  return name.startsWith('organizations/') ? name.slice('organizations/'.length) : null;
}
