import type { Coordinate } from './address.ts';
import { digestOf, type Digest } from './digest.ts';
import type { Person } from './key.ts';
import { parseSemanticVersion } from './label.ts';

/** A change that waits for approval. */
export interface HeldChange {
  /** Its code (`Change`), or the rule of a finding that an exemption accepts. */
  rule: string;
  message: string;
  /** JSON Pointer into the new document, or where it is gone, into the old one. */
  pointer: string;
  /** The first operations that it reaches. Absent: none, or an old record. */
  operations?: string[];
  /** How many it reaches. */
  reach?: number;
}

/** Somebody who wrote what is held: as a commit, a git host or the audit trail names them. Empty: who cannot be read. */
export interface HeldAuthor {
  name?: string;
  email?: string;
  /** Their name on the git host. */
  login?: string;
  actor?: string;
}

/** A version that is not published because its changes wait for approval. */
export interface Held {
  id: string;
  /** What it came from: `branch`, `tag 2.0.0`, `import`, `pull 7` or `upload`. A newer one from there replaces it. */
  source: string;
  /** The label that it would get. */
  label: string;
  /** Label of the version that it was compared with. */
  from: string;
  /** What would be latest once it is published, as it was held. Absent in old records. */
  latest?: string | null;
  /** Null: an upload. */
  commit: string | null;
  authors: HeldAuthor[];
  count: number;
  /** The first of them, for people. */
  changes: HeldChange[];
  /** What a decision is about (`decidable`): of all changes; of very many, one for both whole documents. */
  fingerprints: Digest[];
  /** The changes alone, whatever the label. Absent in old records. */
  about?: Digest[];
  /** Token of the page of what is held. Null: it is too large for one. */
  preview: string | null;
  /** ISO 8601, UTC. */
  at: string;
}

/** What somebody decided about changes. It holds for later commits with the same ones, until one is published. */
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
  /** Who wrote what is held no more. Absent: nothing. */
  ended?: EndedApproval[];
}

/** What remains of something that was held: whoever wrote its changes wrote them wherever they come up again. */
export type EndedApproval = Required<Pick<Held, 'about' | 'authors' | 'at'>>;

/** Approvals as provenance tells them. */
export type Approval = Pick<Decision, 'verdict' | 'reason' | 'at'> & { by: string };

/** Who approved a version, for people. Null: nobody had to. */
export function approvalText(approvals: readonly Approval[] = []): string | null {
  return approvals.map(({ by, reason }) => `Approved by ${by}: ${reason}`).join(' ') || null;
}

/** The operations that a change reaches, and how many more. */
export function reachText(operations: readonly string[], reach: number): string {
  const left = reach - operations.length;
  return `${operations.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** Who may decide about what is held. `authors`: for people. */
export function decidersText(approvers: readonly string[], authors: readonly string[]): string {
  if (authors.includes(nobody)) return operatorDecides;
  if (approvers.length === 0)
    return 'Nobody may decide who signed in during the last 180 days. Give the scope approve to somebody who did not write it.';
  return `${approvers.join(', ')} may decide.`;
}

/** Who decides where nobody else can be told from its authors. */
export const operatorDecides = 'The operator decides, with stele approvals approve.';

/** What is the latest version after an approval. Empty: none is, or an old record does not say. */
export function latestText(version: string, latest: string | null): string {
  if (latest === null) return '';
  return latest === version
    ? `If approved, ${version} becomes the latest version.`
    : `If approved, ${latest} stays the latest version.`;
}

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
export function validApprovals({ held, decisions, ended = [] }: Approvals, now: number): Required<Approvals> {
  const oldest = new Date(now - approvalDays * 86_400_000).toISOString();
  const isValid = ({ at }: { at: string }) => at >= oldest;
  return { held: held.filter(isValid), decisions: decisions.filter(isValid), ended: ended.filter(isValid) };
}

/**
 * What a decision about a change is bound to: the change itself, the version compared with, and how far the label
 * raises it, since `2.0.0` announces what `1.1.1` does not. What was approved beside `latest` is not approved to become it.
 */
export function decidable(change: Digest, from: string, label: string, becomesLatest: boolean): Digest {
  const bound = [change, from, rankOf(from, label)];
  return digestOf(JSON.stringify(becomesLatest ? bound : [...bound, 'beside latest']));
}

/** What of a version a label raises: `major`, `minor`, `patch`, `same` or, where one of them has no order, `none`. */
function rankOf(from: string, label: string): string {
  const [old, next] = [parseSemanticVersion(from), parseSemanticVersion(label)];
  if (old === null || next === null) return 'none';
  const part = ['major', 'minor', 'patch'][next.core.findIndex((number, at) => number !== old.core[at])] ?? 'same';
  return next.prerelease.length > 0 ? `${part} pre-release` : part;
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

function isSameChange(one: Pick<Held, 'fingerprints'>, other: Pick<Held, 'fingerprints'>): boolean {
  const [a, b] = [new Set(one.fingerprints), new Set(other.fingerprints)];
  return a.size === b.size && a.isSubsetOf(b);
}

/** Of pull requests, which anybody may open. Branch, tags and uploads have one for each. */
export const maxPulls = 20;

/**
 * With what is held now, instead of what was held from the same source, and of what pull requests hold that is the same.
 * Whoever wrote some of its changes is an author of all that is held with some of them.
 */
export function withHeld(approvals: Approvals, held: Held): Approvals {
  const isPull = ({ source }: Held) => source.startsWith('pull ');
  const changes = new Set(held.about);
  const isShared = ({ about = [] }: Pick<Held, 'about'>) => about.some((each) => changes.has(each));
  const earlier = [...approvals.held, ...(approvals.ended ?? [])].filter(isShared);
  const authors = new Map([held, ...earlier].flatMap((each) => each.authors).map((one) => [JSON.stringify(one), one]));
  const left = withEnded(
    approvals,
    (each) => each.source === held.source || (isPull(each) && isSameChange(each, held)),
  );
  const all = [...left.held, held].map((each) => (isShared(each) ? { ...each, authors: [...authors.values()] } : each));
  const pulls = all.filter(isPull).slice(-maxPulls);
  return withEnded({ ...left, held: all }, (each) => isPull(each) && !pulls.includes(each));
}

/** Without what is held, of which only the authors are kept. */
export function withEnded(approvals: Approvals, hasEnded: (held: Held) => boolean): Approvals {
  const over = approvals.held.filter(hasEnded).map(({ about = [], authors, at }) => ({ about, authors, at }));
  const ended = [...(approvals.ended ?? []), ...over].slice(-maxEnded);
  return { ...approvals, held: approvals.held.filter((each) => !hasEnded(each)), ended };
}

const maxEnded = 50;

/** Without decisions about what is published: each is used once. */
export function withUsed(approvals: Approvals, used: readonly Digest[]): Approvals {
  const all = new Set(used);
  const decisions = approvals.decisions
    .map((each) => ({ ...each, fingerprints: each.fingerprints.filter((one) => !all.has(one)) }))
    .filter(({ fingerprints }) => fingerprints.length > 0);
  return { ...approvals, decisions };
}

/** Somebody who has signed in, as they are compared with authors. */
export type Account = Pick<Person, 'actor' | 'name' | 'email' | 'username'>;

/**
 * Whether a person is one of the authors, or certainly none of them: then each author is the account of somebody else.
 * An author who is no known account may be anybody: `unknown` names them.
 */
export function compareAuthors(
  authors: readonly HeldAuthor[],
  person: Account,
  accounts: readonly Account[],
): 'author' | 'another' | { unknown: string } {
  if (authors.some((author) => isAccount(author, person))) return 'author';
  const isKnown = (author: HeldAuthor) => !isPerson(author) || accounts.some((each) => isAccount(author, each));
  const stranger = authors.find((author) => !isKnown(author));
  if (stranger !== undefined || !authors.some((author) => !isGitHub(author)))
    return { unknown: nameOfAuthor(stranger) };
  return 'another';
}

/** An author for people. */
export function nameOfAuthor({ name, login, email, actor }: HeldAuthor = {}): string {
  return name ?? login ?? email ?? actor ?? nobody;
}

/** An author of whom nothing is known. */
export const nobody = 'nobody who is known';

/** Whether an author is the person of an account. */
export function isAccount(author: HeldAuthor, { actor, name, email, username }: Account): boolean {
  const handle = plain(author.login ?? hostAddress.exec(author.email ?? '')?.[1]);
  const handles = [username, email?.split('@')[0], name].map(plain);
  const isSame = (one: string | undefined, other: string | undefined) =>
    plain(one) !== '' && plain(one) === plain(other);
  return (
    author.actor === actor ||
    isSame(author.email, email) ||
    [name, username].some((each) => isSame(author.name, each)) ||
    (handle !== '' && handles.includes(handle))
  );
}

/** Addresses that hosts give to whoever hides theirs: `12345+ann-lee@users.noreply.github.com`. */
const hostAddress = /^(?:\d+[+-])?([^@]+)@(?:[^@]+\.)?noreply\./i;

/** Names as they are compared: letters and digits alone, so that `ann-lee` is Ann Lee. */
function plain(text = ''): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}@]/gu, '');
}

/** Not so are programs, and who is known by their key or session. */
function isPerson(author: HeldAuthor): boolean {
  return author.actor === undefined && !/\[bot\]/i.test(`${author.name} ${author.login}`) && !isGitHub(author);
}

/** GitHub itself, which commits what people merge there. */
function isGitHub({ email }: HeldAuthor): boolean {
  return email === 'noreply@github.com';
}
