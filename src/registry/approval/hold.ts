import { turnOf } from '../gate/compile-document.ts';
import { formatCoordinate, type Coordinate } from '../../model/address.ts';
import type { Repository } from '../../model/connection.ts';
import { type Version, chooseLatest, isOffered } from '../../model/resource.ts';
import {
  approvalDays,
  approvalsRef,
  decidable,
  decisionOn,
  parseApprovalsRef,
  stateOf,
  validApprovals,
  withEnded,
  withHeld,
  withUsed,
  type Approval,
  type Approvals,
  type Decision,
  type Held,
  type HeldChange,
  type HeldState,
} from '../../model/approval.ts';
import type { Compiled } from '../../compile/compile.ts';
import { isHistory, type Next, type Publication, type PublishRequest } from '../append-version.ts';
import { type Registry, newId } from '../registry.ts';
import { readReportOf } from '../stored.ts';
import { isDeepStrictEqual } from 'node:util';
import { notCompared, type Comparison } from '../../model/comparison.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { digestOnce } from '../../store/digest-in-turns.ts';
import { findingKey } from '../../model/gate.ts';
import { createReport, problemAtFile, type Report } from '../../model/problem.ts';
import { comparedWith } from '../../model/compared-with.ts';
import { trimPreviews } from '../../store/previews.ts';
import { publishedAs, compareWith } from '../compare-versions.ts';
import { findResource } from '../lives.ts';
import { noteNeed } from '../maintenance/needs.ts';
import { replacedLatest, unyanked } from '../gate/compatibility.ts';
import { sizeOf, storePreview, takePreview, type Preview } from '../preview.ts';
import type { Built } from '../store-artifact.ts';
import { authorsOf } from './authors.ts';

const maxChanges = 50;
const maxOperations = 20;
/** More changes are approved as one, with both whole documents. */
const maxFingerprints = 200;
/** Bytes of a document that gets a preview. */
const maxPreview = 8 * 2 ** 20;

/** The changes of a version that somebody has to approve, and how that stands. */
export interface Judged {
  state: HeldState;
  from: string;
  /** Of all changes. */
  count: number;
  changes: HeldChange[];
  /** The changes alone, and what is decided about them: see `Held`. */
  about: Digest[];
  fingerprints: Digest[];
  decisions: Decision[];
  before: Version | null;
}

/** What is held, before it is stored. */
export type ToHold = Omit<Held, 'id' | 'at' | 'preview' | 'source'> & { preview: Preview | null };

async function readApprovals(registry: Registry, coordinate: Coordinate): Promise<Approvals> {
  const stored = (await registry.refs.read<Approvals>(approvalsRef(coordinate)))?.value;
  return validApprovals(stored ?? { held: [], decisions: [] }, registry.now().getTime());
}

/** What was decided about a resource, as a text that changes with it. Empty: nothing. */
export async function decisionsText(registry: Registry, coordinate: Coordinate): Promise<string> {
  const { decisions } = await readApprovals(registry, coordinate);
  return decisions.length === 0 ? '' : digestOf(JSON.stringify(decisions));
}

/**
 * The changes of the next version that need approval: those that break, or may, and findings that exemptions accept
 * and did not before. Null: there are none, or the resource wants no approval.
 */
export async function judgeChanges(
  { registry, request, existing, policy }: Publication,
  next: Next,
  compiled: Compiled,
): Promise<Judged | null> {
  if (existing === null || policy.approval !== 'required') return null;
  const { held, decisions } = await readApprovals(registry, request.coordinate);
  const { label } = next.version;
  const isHeld = held.some((each) => each.label === label || each.commit === request.snapshot.origin.commit);
  // Whoever says when an upload was made may not say that it is history.
  const isDated = request.isPast === true && request.snapshot.origin.commit === null;
  const past = isDated ? { ...request, floor: chooseLatest({ ...unyanked(existing), latestPinned: false }) } : request;
  if (isHistory(past, existing, next.resource, label) && !isHeld) return null;
  const before = comparedWith(unyanked(next.resource), next.version);
  if (before === null && unyanked(existing).versions.some(isOffered)) return null;
  if (existing.versions.length === 0) return null;
  const artifact = compiled.artifact!;
  const after = { ...publishedAs(artifact), at: next.version.publishedAt, rules: { fingerprints: true } as const };
  const compared = async (version: Version | null): Promise<Fingerprinted[]> => {
    const comparison =
      version === null
        ? notCompared('No version is left that it could be compared with.')
        : await compareWith(registry, existing, version, after, turnOf(request));
    return breaksIn(comparison, [version?.content ?? null, next.version.content]);
  };
  const replaced = replacedLatest(existing, next, before);
  const found = [
    ...(await compared(before)),
    ...(replaced === null ? [] : await compared(replaced)),
    ...exemptedIn(compiled.report, before && (await readReportOf(registry, before))),
  ];
  if (found.length === 0) return null;
  const each = [...new Set(found.map(({ fingerprint }) => fingerprint))];
  const from = before?.label ?? '';
  const about =
    each.length > maxFingerprints
      ? [digestOf(JSON.stringify([before?.content ?? null, next.version.content, each.length]))]
      : each;
  const fingerprints = about.map((one) => decidable(one, from, label, next.resource.latest === label));
  return {
    state: stateOf(decisions, fingerprints),
    before,
    from,
    about,
    count: found.length,
    changes: found.slice(0, maxChanges).map(({ fingerprint: _fingerprint, ...change }) => change),
    fingerprints,
    decisions: decisions.filter((decision) => decision.fingerprints.some((one) => fingerprints.includes(one))),
  };
}

type Fingerprinted = HeldChange & { fingerprint: Digest };

/** `wholes`: the contents of both documents, which stand for changes that are not told one by one. */
function breaksIn({ changes, counts, reason }: Comparison, wholes: readonly (Digest | null)[]): Fingerprinted[] {
  const whole = { rule: 'compatibility-unknown', pointer: '', fingerprint: digestOf(JSON.stringify(wholes)) };
  if (reason !== null) return [{ ...whole, message: reason }];
  const breaks = changes.flatMap(({ code, message, pointers, fingerprint, operations, reach }) =>
    fingerprint === undefined
      ? []
      : [
          {
            rule: code,
            message,
            pointer: pointers.after ?? pointers.before ?? '',
            ...(reach > 0 && { operations: operations.slice(0, maxOperations), reach }),
            fingerprint,
          },
        ],
  );
  const left = counts.breaking + counts.unknown - breaks.length;
  return left > 0 ? [...breaks, { ...whole, message: `There are ${left} more changes that break, or may.` }] : breaks;
}

/** Findings of the ruleset that exemptions accept. Accepted breaks are among the changes. */
function exemptedIn({ exempted = [] }: Report, before: Report | null): Fingerprinted[] {
  const old = new Set((before?.exempted ?? []).map(findingKey));
  return exempted
    .filter((finding) => finding.ofRuleset === true && !old.has(findingKey(finding)))
    .map((finding) => {
      const { rule, pointer, message, exemption } = finding;
      const accepted = `${message} Exempted: ${exemption.reason}`;
      const fingerprint = digestOf(JSON.stringify(['exempted', rule, pointer, message, exemption.reason]));
      return { rule, pointer, message: accepted, fingerprint };
    });
}

/** The approvals that a version's provenance tells. */
export function approvalsFor({ decisions }: Judged): Approval[] {
  return decisions.map(({ verdict, name, reason, at }) => ({ verdict, by: name, reason, at }));
}

const waits =
  'This version waits for approval by somebody with the scope approve who did not write it. The console, stele approvals and /v1/approvals say who that is, and take the decision.';

/** The report of a document that waits for approval, or was rejected. */
export function withHold(report: Report, entry: string, { state, decisions, fingerprints }: Judged): Report {
  const rejected = fingerprints
    .map((each) => decisionOn(decisions, each))
    .find((decision) => decision?.verdict === 'rejected');
  const problem =
    state === 'rejected' && rejected
      ? problemAtFile(
          'approval-refused',
          entry,
          `${rejected.name} rejected changes of this version: ${rejected.reason}`,
        )
      : problemAtFile('approval-required', entry, waits);
  const whole = createReport([...report.problems, problem]);
  const blocking = report.blocking === undefined ? {} : { blocking: report.blocking + 1 };
  return { ...report, ...whole, truncated: whole.truncated || report.truncated, ...blocking };
}

/** What to hold of a version. `built`: its bytes, for the preview. */
export async function toHold(
  { registry, request }: Publication,
  { before, from, count, changes, about, fingerprints }: Judged,
  { resource, version }: Next,
  compiled: Compiled,
  built: Built,
): Promise<ToHold> {
  const bytes = new Map([built.manifest, ...built.unshared].map((each) => [digestOnce(each), each]));
  const seen = { ...version, manifest: digestOnce(built.manifest) };
  const versions = resource.versions.map((each) => (each.label === seen.label ? seen : each));
  const stored = { objects: { get: async (digest: Digest) => bytes.get(digest) ?? null } };
  const preview = await takePreview(stored, { ...resource, versions }, version.label);
  return {
    label: version.label,
    from,
    latest: resource.latest,
    commit: request.snapshot.origin.commit,
    authors: await authorsOf(registry, request, compiled, before),
    count,
    changes,
    about,
    fingerprints,
    preview: sizeOf(preview.objects) > maxPreview ? null : { ...preview, isHeld: true },
  };
}

/** Holds a version, instead of what was held from the same source before. The same again changes nothing. */
export async function hold(registry: Registry, coordinate: Coordinate, source: string, given: ToHold): Promise<void> {
  const { held } = await readApprovals(registry, coordinate);
  const isHeld = (each: Held) =>
    (each.source === source || source === 'import') &&
    each.commit === given.commit &&
    isDeepStrictEqual(each.fingerprints, given.fingerprints) &&
    given.authors.every((author) => each.authors.some((one) => isDeepStrictEqual(one, author)));
  if (held.some(isHeld)) return;
  await noteNeed(registry, 'approval');
  const preview = given.preview && (await storePreview(registry, given.preview, approvalDays));
  if (preview !== null) await trimPreviews(registry, coordinate.org);
  const at = registry.now().toISOString();
  const value: Held = { ...given, id: newId(registry), source, preview, at };
  await registry.refs.update<Approvals>(approvalsRef(coordinate), (current) => {
    const valid = validApprovals(current?.value ?? { held: [], decisions: [] }, registry.now().getTime());
    const change = { actor: `sync:${coordinate.org}`, origin: null, action: `hold ${given.label}` };
    return { value: withHeld(valid, value), change };
  });
  registry.log('info', 'held', { resource: formatCoordinate(coordinate), version: given.label, source });
}

/** Forgets what was held of a version that is published, and what was decided about it. */
export async function release(
  registry: Registry,
  coordinate: Coordinate,
  { fingerprints }: Pick<Judged, 'fingerprints'>,
  label: string,
): Promise<void> {
  const ours = new Set(fingerprints);
  await changeApprovals(registry, coordinate, `publish ${label}, which was held`, (current) =>
    withUsed(
      { ...current, held: current.held.filter((each) => !new Set(each.fingerprints).isSubsetOf(ours)) },
      fingerprints,
    ),
  );
}

/** Ends what was held from sources that have something else now. */
export async function endHeld(
  registry: Registry,
  coordinate: Coordinate,
  hasEnded: (held: Held) => boolean,
): Promise<void> {
  const { held } = await readApprovals(registry, coordinate);
  const over = held.filter(hasEnded).map(({ label }) => label);
  if (over.length === 0) return;
  await changeApprovals(registry, coordinate, `hold ${over.join(', ')} no more`, (current) =>
    withEnded(current, hasEnded),
  );
}

/** The same for a pull request of a repository. `except`: what it holds now. */
export async function endPull(
  registry: Registry,
  { org, url }: Pick<Repository, 'org' | 'url'>,
  number: number | null,
  except: readonly Coordinate[] = [],
): Promise<void> {
  const kept = new Set(except.map(approvalsRef));
  for await (const name of registry.refs.list(`approvals/${org}/`)) {
    const coordinate = parseApprovalsRef(name)!;
    const resource = kept.has(name) ? null : await findResource(registry, coordinate);
    if (resource?.connection?.repository === url)
      await endHeld(registry, coordinate, ({ source }) => source === `pull ${number}`);
  }
}

async function changeApprovals(
  registry: Registry,
  coordinate: Coordinate,
  action: string,
  change: (current: Approvals) => Approvals,
): Promise<void> {
  await registry.refs.update<Approvals>(approvalsRef(coordinate), (current) => {
    if (current === null) return null;
    const value = change(current.value);
    if (isDeepStrictEqual(value, current.value)) return null;
    return { value, change: { actor: `sync:${coordinate.org}`, origin: null, action } };
  });
}

/** Where a request comes from, as `Held` says it. */
export function sourceOf({ connection, version, isTag = false, isPast, snapshot }: PublishRequest): string {
  if (isTag && version !== null) return `tag ${version}`;
  if (isPast) return 'import';
  return connection === undefined && snapshot.writers === undefined ? 'upload' : 'branch';
}
