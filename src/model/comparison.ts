import type { Digest } from './digest.ts';

// What changed between two versions of a document (design §7), as every room sees it.

/**
 * What a change means for somebody who kept to the old document, worst first. `unknown`: it cannot
 * be judged, so it may break. `risky`: it breaks some of them, depending on how they use it.
 */
export const verdicts = ['breaking', 'unknown', 'risky', 'safe', 'docs'] as const;
export type Verdict = (typeof verdicts)[number];

/** The worst verdict of a comparison. `none`: nothing changed. */
export type WorstVerdict = Verdict | 'none';

/** What an organization decides about changes. */
export interface ChangeRules {
  /** The verdict on a new enum value in a response. Most readers ignore unknown values. */
  enums: EnumVerdict;
  /** Verdicts in place of Stele's, by the code of a change; `*` is any part of one. The last that matches counts. */
  rules?: Readonly<Record<string, Verdict>>;
  /** Absent: the removal of what is deprecated breaks as any other. */
  removal?: RemovalRules;
  /** Whether changes that break, or may, get a fingerprint. */
  fingerprints?: true;
}

/** When what is deprecated may be removed. */
export interface RemovalRules {
  /** Days after its sunset. */
  grace: number;
  /** The time of the new document: ISO 8601. */
  at: string;
  /** The sunset of the old version, if it is deprecated. */
  sunset: string | null;
  /** When the first version was published: no date was stated before. */
  since?: string;
}

/** How an organization's configuration says it. */
export interface ChangeSettings extends Partial<Pick<ChangeRules, 'enums' | 'rules'>> {
  /** `grace`: days after a sunset, such as `90d`. */
  deprecation?: { grace: string };
}

export const enumVerdicts = ['breaking', 'risky'] as const;
export type EnumVerdict = (typeof enumVerdicts)[number];

export const usualRules: ChangeRules = { enums: 'risky' };

/** Who sends the data that changed: the reader of the document, or the other side. */
export type Direction = 'request' | 'response' | 'both';

/** One change between two documents. */
export interface Change {
  verdict: Verdict;
  /** Stele's verdict, where the organization's `changes.rules` set another one. */
  usually?: Verdict;
  /** A stable name in kebab case: `request-property-became-required`. */
  code: string;
  /** A sentence in plain English, with the values before and after. */
  message: string;
  /** The values, shortened. Null: absent. */
  before: string | null;
  after: string | null;
  /** JSON Pointers (RFC 6901) into the old and the new document. Null: absent there. */
  pointers: { before: string | null; after: string | null };
  /** Where it is in the file of the new document, or what is nearest to it there. From 1. Absent: no file was given. */
  place?: { line: number; column: number };
  /**
   * Names of the operations it reaches (`GET /pets/{id}`), as the new document writes them, in its
   * order. Empty for what belongs to none. Cut after 1,000.
   */
  operations: string[];
  /** The number of operations it reaches. */
  reach: number;
  /** Null: it does not concern data. */
  direction: Direction | null;
  /** Identifies the change by its code, its pointers, the values there on both sides, and its operations. Only where it was asked for. */
  fingerprint?: Digest;
}

/** The changes between two documents. */
export interface Comparison {
  /** The worst verdict. */
  verdict: WorstVerdict;
  /** Number of changes by verdict, including those not kept in `changes`. */
  counts: Record<Verdict, number>;
  /** The worst first, then in the order of the new document. */
  changes: Change[];
  /** Whether `changes` was cut at its limit of 1,000. */
  truncated: boolean;
  /** Why the documents could not be compared; the verdict is then `unknown`. Null: they were. */
  reason: string | null;
}

/** The comparison of a version with the one before it, made when it was published. */
export interface VersionChanges {
  /** Label of the version before. */
  from: string;
  verdict: WorstVerdict;
  counts: Record<Verdict, number>;
  /** The object with the `Comparison`. */
  digest: Digest;
}

/** How a version compares with the one before it, as lists and events say it. */
export interface ToldChanges extends Omit<VersionChanges, 'digest'> {
  /** Why it is compared with `from`: `the highest release below it`. Absent in old stored events. */
  why?: string;
}

/** The most changes that a comparison keeps. */
export const maxChanges = 1000;

/** The most operations that one change names. */
export const maxOperations = 1000;

/**
 * The changes for people: those that say the same are one, with all the operations that they reach.
 * One change at several places, such as the bodies of one response in two media types, reads once.
 */
export function mergeAlike(changes: readonly Change[]): Change[] {
  const groups = Map.groupBy(changes, ({ verdict, code, message }) => `${verdict} ${code} ${message}`);
  return [...groups.values()].map((alike) => {
    const operations = [...new Set(alike.flatMap((change) => change.operations))];
    const reach = Math.max(operations.length, ...alike.map((change) => change.reach));
    return { ...alike[0]!, operations, reach };
  });
}

/** No changes of any verdict. */
export function noCounts(): Record<Verdict, number> {
  return { breaking: 0, unknown: 0, risky: 0, safe: 0, docs: 0 };
}

/** The worst verdict that occurs. */
export function worstOf(counts: Readonly<Record<Verdict, number>>): WorstVerdict {
  return verdicts.find((verdict) => counts[verdict] > 0) ?? 'none';
}

/** The comparison of documents that could not be compared. */
export function notCompared(reason: string): Comparison {
  return { verdict: 'unknown', counts: noCounts(), changes: [], truncated: false, reason };
}

const nouns: Readonly<Record<Verdict, string>> = {
  breaking: 'breaking',
  unknown: 'cannot be judged',
  risky: 'risky',
  safe: 'safe',
  docs: 'in texts',
};

/** The counts in a few words: `2 breaking, 1 risky, 5 in texts`. Empty: no changes. */
export function countsInWords(counts: Readonly<Record<Verdict, number>>): string {
  return verdicts
    .flatMap((verdict) => (counts[verdict] > 0 ? [`${counts[verdict]} ${nouns[verdict]}`] : []))
    .join(', ');
}

/** A verdict as a sentence. */
export const verdictsInWords: Readonly<Record<WorstVerdict, string>> = {
  breaking: 'Breaking changes',
  unknown: 'Changes that cannot be judged',
  risky: 'Risky changes',
  safe: 'Safe changes',
  docs: 'Only texts changed',
  none: 'No changes',
};

/** What changed, compared with what, and why with that version, as a sentence. */
export function changesInWords({ from, why, verdict, counts }: ToldChanges): string {
  const words = countsInWords(counts);
  return `${verdictsInWords[verdict]} compared with ${from}${why ? `, ${why}` : ''}${words === '' ? '' : `: ${words}`}.`;
}

/** Whether a verdict is as bad as this one, or worse. What cannot be judged is worse than risky. */
export function isAtLeast(verdict: WorstVerdict, least: Verdict): boolean {
  return verdict !== 'none' && verdicts.indexOf(verdict) <= verdicts.indexOf(least);
}
