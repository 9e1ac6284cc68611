import type { Coordinate } from '../address.ts';
import type { Digest } from '../digest.ts';

/** A change that waits for approval. */
export interface HeldChange {
  /** Its code (`Change`), or the rule of a finding that an exemption accepts. */
  rule: string;
  message: string;
  /** JSON Pointer into the new document, or where it is gone, into the old one. */
  pointer: string;
}

/** Somebody who wrote what is held: as a commit names them, or as the audit trail does. */
export interface HeldAuthor {
  name?: string;
  email?: string;
  actor?: string;
}

/** A version that is not published because its changes wait for approval. */
export interface Held {
  id: string;
  /** What it came from: `branch`, `tag 2.0.0`, `pull 7` or `upload`. A newer one from there replaces it. */
  source: string;
  /** The label that it would get. */
  label: string;
  /** Label of the version that it was compared with. */
  from: string;
  /** Null: an upload. */
  commit: string | null;
  authors: HeldAuthor[];
  /** How many changes there are. */
  count: number;
  /** The first of them, for people. */
  changes: HeldChange[];
  /** Of all of them; of very many, one for both whole documents. */
  fingerprints: Digest[];
  /** Token of the page of what is held. Null: it is too large for one. */
  preview: string | null;
  /** ISO 8601, UTC. */
  at: string;
}

/** What somebody decided about changes. It holds for later commits with the same changes. */
export interface Decision {
  verdict: 'approved' | 'rejected';
  /** As the audit trail names them. */
  by: string;
  /** For people. */
  name: string;
  reason: string;
  /** ISO 8601, UTC. */
  at: string;
  fingerprints: Digest[];
}

/** What of a resource waits for approval, and what was decided: the value of one record. */
export interface Approvals {
  held: Held[];
  decisions: Decision[];
}

/** Approvals as provenance tells them. */
export type Approval = Pick<Decision, 'verdict' | 'reason' | 'at'> & { by: string };

/** Days after which what is held, and a decision, count no more. */
export const approvalDays = 30;

/** The name of the record of a resource's approvals. */
export function approvalsRef({ org, type, slug }: Coordinate): string {
  return `approvals/${org}/${type}/${slug}`;
}

/** Parses the name of such a record. Null for any other. */
export function parseApprovalsRef(name: string): Coordinate | null {
  const [kind, org, type, slug] = name.split('/');
  return kind === 'approvals' ? ({ org, type, slug } as Coordinate) : null;
}

/** What still counts at this time: milliseconds since 1970. */
export function validApprovals({ held, decisions }: Approvals, now: number): Approvals {
  const oldest = new Date(now - approvalDays * 86_400_000).toISOString();
  const isValid = ({ at }: { at: string }) => at >= oldest;
  return { held: held.filter(isValid), decisions: decisions.filter(isValid) };
}

/** The last decision about a change. Null: nobody has decided. */
export function decisionOn(decisions: readonly Decision[], fingerprint: Digest): Decision | null {
  return decisions.findLast(({ fingerprints }) => fingerprints.includes(fingerprint)) ?? null;
}

/** How changes stand: approved if all of them are; rejected if one is. */
export type HeldState = 'waiting' | 'approved' | 'rejected';

export function stateOf(decisions: readonly Decision[], fingerprints: readonly Digest[]): HeldState {
  const verdicts = new Set(fingerprints.map((each) => decisionOn(decisions, each)?.verdict ?? 'waiting'));
  if (verdicts.has('rejected')) return 'rejected';
  return verdicts.has('waiting') ? 'waiting' : 'approved';
}

/** Whether both have the same changes. */
function isSameChange(one: Pick<Held, 'fingerprints'>, other: Pick<Held, 'fingerprints'>): boolean {
  const [a, b] = [new Set(one.fingerprints), new Set(other.fingerprints)];
  return a.size === b.size && a.isSubsetOf(b);
}

/** Of pull requests, which anybody may open. Branch, tags and uploads have one for each. */
const maxPulls = 20;

/** With what is held now, instead of what was held from the same source, and of what pull requests hold that is the same. */
export function withHeld(approvals: Approvals, held: Held): Approvals {
  const isPull = ({ source }: Held) => source.startsWith('pull ');
  const left = approvals.held.filter(
    (each) => each.source !== held.source && !(isPull(each) && isSameChange(each, held)),
  );
  const all = [...left, held];
  const pulls = all.filter(isPull).slice(-maxPulls);
  return { ...approvals, held: all.filter((each) => !isPull(each) || pulls.includes(each)) };
}

/** Whether a person wrote what is held: by their address, their name, or as the one who uploaded it. */
export function isAuthor(
  { authors }: Pick<Held, 'authors'>,
  person: { actor: string; name?: string; email?: string },
): boolean {
  return authors.some(
    ({ actor, name, email }) =>
      (actor !== undefined && actor === person.actor) ||
      isSameText(email, person.email) ||
      isSameText(name, person.name),
  );
}

function isSameText(one: string | undefined, other: string | undefined): boolean {
  const plain = (text: string | undefined) => text?.normalize('NFKC').trim().toLowerCase() ?? '';
  return plain(one) !== '' && plain(one) === plain(other);
}
