import { type Coordinate, parseCoordinate, formatCoordinate } from '../model/address.ts';
import type { Check } from '../model/check.ts';
import { resourceRef, selectVersion, type Resource } from '../model/resource.ts';
import { type Repository, type Run, type RunDocument, documentAt, type DocumentState } from '../model/connection.ts';
import { findMoves, withMoves, detachedDocuments, planAll, connectedResources, type Moves } from '../plan/plan.ts';
import type { Planned } from '../plan/planned.ts';
import { planningFiles, settingsPath, type Reading } from '../plan/settings-of.ts';
import { labelForBreak } from '../registry/append-version.ts';
import { findResource } from '../registry/lives.ts';
import { sizeOf, takePreview, type Preview, storePreview } from '../registry/preview.ts';
import type { ToHold } from '../registry/approval/hold.ts';
import type { PublishResult } from '../registry/publish.ts';
import type { Registry } from '../registry/registry.ts';
import { remoteOf } from '../registry/remote.ts';
import { filesOf, type Snapshot } from '../source/snapshot.ts';
import type { Merge } from '../source/source.ts';
import { checksOfDocuments, code, plainCheck, wholeCheck } from '../sync/checks.ts';
import { publishDocument, refusable } from '../sync/publish-document.ts';
import { rulesetNow } from '../sync/inputs.ts';
import { type SitePreview, storeSitePreview } from '../sites/registry/site-preview.ts';
import { checkOf } from './check-document.ts';
import { checkOfSite, touchedSites } from './check-sites.ts';
import { detachedSites, findSites } from '../sites/sync/sync-sites.ts';
import { anonymous } from '../model/access.ts';
import { defaultsOf, policyOf } from '../registry/gate/policy.ts';
import { mayRead } from '../registry/readable.ts';
import type { Generation, Decide } from '../store/records.ts';
import { fileOf } from '../model/artifact.ts';
import { readJson } from '../registry/stored.ts';
import { trimPreviews } from '../store/previews.ts';
import { digestOf, type Digest } from '../model/digest.ts';

/** A pull request to check: its head, and the tip of the branch that it would be merged into. */
export interface Proposal {
  ref: string;
  head: string;
  base: string;
}

/** What a check found. */
export interface CheckedPull {
  checks: Check[];
  /** What would be published, by the name of its check. */
  previews: ReadonlyMap<string, Preview | SitePreview>;
  /** What waits for approval, or would, once it is merged. */
  held: readonly { coordinate: Coordinate; held: ToHold }[];
  /** Why no document was looked at. Absent: they were. */
  stopped?: Check;
}

const maxInFull = 100;
/** Bytes of all previews of one pull request. */
const maxPreviewBytes = 8 * 2 ** 20;

/**
 * Checks what merging a pull request into the target branch as it is now would publish. Reports on
 * each document that the request touches, or whose references, settings or ruleset it touches:
 * whether it would be published, its version, its problems, and its changes since the latest
 * version. Publishes and connects nothing, and shows only what any reader of the repository may
 * know (see viewAsReader).
 */
export async function checkPull(
  inside: Registry,
  repository: Repository,
  { ref, head, base }: Proposal,
  run: Run,
  signal: AbortSignal,
): Promise<CheckedPull> {
  const registry = await viewAsReader(inside, repository);
  const previews = new Map<string, Preview | SitePreview>();
  const held: { coordinate: Coordinate; held: ToHold }[] = [];
  const stop = (check: Check): CheckedPull => ({ checks: [check], previews, held, stopped: check });
  const remote = await remoteOf(registry, repository);
  const merge = await registry.source.merge(remote, base, { ref, commit: head }, signal);
  if (merge.outcome !== 'merged') return stop(notMergeable(merge, head));
  const { snapshot } = merge;
  const targetSnapshot = await registry.source.snapshot(remote, base, signal);
  const changed = await changedPaths(targetSnapshot, snapshot);
  if (changed.size === 0) return { checks: [nothingChanged(head)], previews, held };

  const files = filesOf(await targetSnapshot.entries());
  const planOf = () => planTarget({ registry, repository, snapshot: targetSnapshot, signal });
  const isSynced = repository.commit === base;
  let target = isSynced ? null : await planOf();
  const { standing, plan } = await planMerged(registry, repository, snapshot, target, signal);
  const isPlanTouched = planningFiles(repository).some((path) => changed.has(path));
  if (isPlanTouched || plan.notes.length > 0) target ??= await planOf();

  const isNew = (note: RunDocument) =>
    changed.has(note.path) ||
    !target?.plan.notes.some(({ path, detail }) => path === note.path && detail === note.detail);
  const before = new Set(target?.plan.planned.map(({ path }) => path));
  const gone = detachedDocuments(registry.compiler, standing, plan).results.filter(
    ({ path }) => isSynced || changed.has(path) || before.has(path),
  );
  const sitesThere = await findSites(registry, standing, plan.sites);
  const cutOff = plan.isRefused ? [] : await detachedSites(registry, standing, sitesThere);
  const checks = await checksOfDocuments(registry, [...plan.notes.filter(isNew), ...gone, ...cutOff], head);
  if (plan.isRefused && checks.length === 0) return stop(nothingPlanned(settingsPath(repository), head));

  const publishing = { repository: standing, run, signal };
  const touching = { standing, isSynced, changed, targetFiles: files, target };
  const asIs = await viewAsReader(inside, repository);
  let isGateChanged = false;
  let room = registry.config.url !== null && registry.config.pulls.previewDays > 0 ? maxPreviewBytes : 0;
  const sites = plan.isRefused ? [] : touchedSites(sitesThere, changed, target?.plan.sites ?? null);
  // Rulesets first, because other documents of the same request may have to pass them.
  for (const document of rulesetsFirst(plan.planned)) {
    signal.throwIfAborted();
    let touched = await isTouched(registry, touching, document);
    const isRuleset = document.coordinate.type === 'rulesets';
    if (isGateChanged && (await rulesetNow(asIs, document)) !== (await rulesetNow(registry, document))) touched = 'yes';
    if (touched === 'no') continue;
    // A ruleset is published into the view, where it checks the documents after it; what sites may
    // embed, too.
    const view = isRuleset || sites.length > 0 ? registry : createTrialRegistry(registry);
    const version = document.tags === null ? null : await labelBeforeTag(registry, document);
    const how = { isView: true, version };
    const publishInto = (into: Registry, dryRun: boolean) =>
      refusable(() => publishDocument({ ...publishing, registry: into }, snapshot, document, { ...how, dryRun }));
    if (touched === 'maybe' && !readsSome(await publishInto(registry, true), changed)) continue;
    const result = await publishInto(view, false);
    if ('outcome' in result && result.outcome === 'rejected' && result.held)
      held.push({ coordinate: document.coordinate, held: result.held });
    isGateChanged ||= isRuleset;
    const check = await checkOf(asIs, view, document, result, head, snapshot);
    // Only the first checks are reported one by one, so only they need annotations and previews.
    checks.push(checks.length < maxInFull ? check : { ...check, annotations: [] });
    if ('version' in result && result.outcome === 'published' && room > 0) {
      const seen = await asIs.refs.read(resourceRef(result.resource));
      const newFrom = seen === null ? repository.url : null;
      // Nobody knows yet what the tag will say.
      const shown = document.tags === null ? result.version.label : 'next-tag';
      const preview = await takePreview(view, relabeled(result.resource, result.version.label, shown), shown, newFrom);
      room -= sizeOf(preview.objects);
      if (room > 0) previews.set(check.name, preview);
    }
  }
  for (const site of sites) {
    signal.throwIfAborted();
    const { check, preview } = await checkOfSite(asIs, registry, standing, snapshot, site, head);
    checks.push(checks.length < maxInFull ? check : { ...check, annotations: [] });
    if (preview === null || registry.config.sites.previewDays === 0) continue;
    room -= sizeOf(preview.parts);
    if (room > 0) previews.set(check.name, preview);
  }
  return { checks: checks.length > 0 ? checks : [nothingChanged(head)], previews, held };
}

/** The label to judge a document by that a tag publishes; null: its own. */
async function labelBeforeTag(registry: Registry, { coordinate }: Planned): Promise<string | null> {
  const existing = await findResource(registry, coordinate);
  return existing && labelForBreak(existing);
}

function relabeled({ versions, latest, ...resource }: Resource, from: string, to: string): Resource {
  const renamed = versions.map((each) => (each.label === from ? { ...each, label: to } : each));
  return { ...resource, versions: renamed, latest: latest === from ? to : latest };
}

/** Plans the merged tree: after the last sync, or after the next one of the target branch. */
async function planMerged(
  registry: Registry,
  repository: Repository,
  snapshot: Snapshot,
  target: PlanTarget | null,
  signal: AbortSignal,
) {
  const from = target?.standing ?? repository;
  const moved = await findMoves(registry, from, filesOf(await snapshot.entries()));
  const standing = withMoves(from, moved);
  const moves = target === null ? moved : followMoves(target.moves, moved);
  return { standing, plan: await planAll({ registry, repository: standing, snapshot, signal }, moves) };
}

function rulesetsFirst(planned: readonly Planned[]): Planned[] {
  const rankOf = ({ coordinate }: Planned) => Number(coordinate.type !== 'rulesets');
  return planned.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Whether the document is made from a file that the request changes. */
function readsSome(result: PublishResult | { refusal: string }, changed: ReadonlySet<string>): boolean {
  return 'compiled' in result && result.compiled.files.some(({ path }) => changed.has(path));
}

function nothingChanged(commit: string): Check {
  const summary = 'This pull request changes no document that the registry publishes.';
  return plainCheck(commit, wholeCheck, 'success', 'Nothing to publish', summary);
}

function nothingPlanned(settings: string, commit: string): Check {
  const summary = `${code(settings)} of the target branch is invalid, so the registry publishes nothing from it.`;
  return plainCheck(commit, wholeCheck, 'neutral', 'Nothing is published from this branch', summary);
}

/** Whether a branch can be merged is for the host to say, so this neither passes nor fails. */
function notMergeable(merge: Exclude<Merge, { outcome: 'merged' }>, commit: string): Check {
  if (merge.outcome === 'unrelated')
    return plainCheck(commit, wholeCheck, 'neutral', 'Cannot be merged', 'The two branches have no common history.');
  const paths = merge.paths.map((path) => `- ${code(path)}`);
  const advice = 'These files have conflicts. The check runs again when they are resolved:';
  return plainCheck(commit, wholeCheck, 'neutral', 'Has conflicts', [advice, '', ...paths].join('\n'));
}

/**
 * A view of the registry for checks of pull requests, which anyone who can read the repository may
 * see. It contains public resources, resources that are connected to the repository, the
 * rulesets that check its documents, and what their latest versions refer to. Everything else is missing. What is written through it stays
 * in its memory: the registry never changes.
 */
async function viewAsReader(registry: Registry, repository: Repository): Promise<Registry> {
  const { refs } = registry;
  const gates = new Set<string>();
  const connected = await connectedResources(registry, repository);
  const names = [defaultsOf(registry, repository.org), ...connected.map((resource) => policyOf(registry, resource))];
  for (const { ruleset = null } of await Promise.all(names)) {
    const parsed = ruleset === null ? null : parseCoordinate(ruleset);
    if (parsed !== null) gates.add(resourceRef(parsed.coordinate));
  }
  for (const resource of connected)
    for (const { coordinate } of selectVersion(resource, { kind: 'latest' })?.version.dependencies ?? [])
      gates.add(resourceRef(parseCoordinate(coordinate)!.coordinate));
  const isThere = (name: string, resource: Resource) =>
    gates.has(name) ||
    (resource.org === repository.org && resource.connection?.repository === repository.url) ||
    mayRead(anonymous, resource);
  function seen<T>(name: string, found: Generation<T> | null): Generation<T> | null {
    if (found === null || !name.startsWith('resources/')) return found;
    return isThere(name, found.value as Resource) ? found : null;
  }
  return createTrialRegistry({
    ...registry,
    answers: registry.answers.contentsOnly(),
    refs: {
      ...refs,
      read: async <T>(name: string) => seen(name, await refs.read<T>(name)),
      readFresh: async <T>(name: string) => seen(name, await refs.readFresh<T>(name)),
    },
  });
}

/** What decides whether a document is a pull request's business. */
interface Touching {
  /** The repository as the last sync, or the next one of the target branch, leaves it. */
  standing: Repository;
  /** Whether a sync has read the tip of the target branch. */
  isSynced: boolean;
  changed: ReadonlySet<string>;
  /** Blob ids of the target branch by path. */
  targetFiles: ReadonlyMap<string, string>;
  /** The plan of the target branch, when the request may change the plan. */
  target: PlanTarget | null;
}

/**
 * Whether a request changes a document: its file, a file that it refers to, or its settings.
 * `maybe`: only compiling it shows which files it refers to.
 */
async function isTouched(
  registry: Registry,
  { standing, isSynced, changed, targetFiles, target }: Touching,
  document: Planned,
): Promise<'yes' | 'no' | 'maybe'> {
  if (changed.has(fileOf(document)) || (document.version.from === 'file' && changed.has(document.version.path)))
    return 'yes';
  if (target !== null && !target.plan.planned.some((each) => isSamePlan(each, document))) return 'yes';
  const recorded = documentAt(standing, document.path, formatCoordinate(document.coordinate));
  // A document that the target branch has and no sync has read is the business of that sync, unless
  // the request changes a file that it refers to.
  if (recorded?.resource !== formatCoordinate(document.coordinate)) return isSynced ? 'yes' : 'maybe';
  if (recorded.inputs === null) return 'maybe';
  const inputs = Object.entries(await readJson<Record<string, string | null>>(registry, recorded.inputs));
  if (inputs.every(([path, blob]) => (targetFiles.get(path) ?? null) === blob))
    return inputs.some(([path]) => changed.has(path)) ? 'yes' : 'no';
  return 'maybe';
}

/** Whether two plans of a document differ only in where `stele.yaml` lists it. */
function isSamePlan(one: Planned, other: Planned): boolean {
  const keyOf = (planned: Planned) => JSON.stringify({ ...planned, listedAt: null });
  return one.path === other.path && keyOf(one) === keyOf(other);
}

/** Stores the previews of an organization's checks, and links each check to its own. */
export async function linkPreviews(
  registry: Registry,
  org: string,
  checks: readonly Check[],
  previews: ReadonlyMap<string, Preview | SitePreview>,
): Promise<Check[]> {
  const days = registry.config.pulls.previewDays;
  const linked = await Promise.all(
    checks.map(async (check) => {
      const preview = previews.get(check.name);
      if (preview === undefined) return check;
      const isSite = 'site' in preview;
      const token = isSite
        ? (await storeSitePreview(registry, preview, days)).token
        : await storePreview(registry, preview);
      const url = `${registry.config.url}/previews/${token}${isSite ? '/' : ''}`;
      return { ...check, url, summary: `${check.summary}\n\n[Preview of the ${isSite ? 'site' : 'page'}](${url})` };
    }),
  );
  if (previews.size > 0) await trimPreviews(registry, org);
  return linked;
}

/** The documents of the target branch, planned as the next sync of it would. */
interface PlanTarget {
  /** The repository as that sync would leave it: each document has its resource. */
  standing: Repository;
  /** Files that moved since the last sync. */
  moves: Moves;
  plan: Awaited<ReturnType<typeof planAll>>;
}

async function planTarget({ registry, repository, snapshot, signal }: Reading): Promise<PlanTarget> {
  const moves = await findMoves(registry, repository, filesOf(await snapshot.entries()));
  const moved = withMoves(repository, moves);
  const plan = await planAll({ registry, repository: moved, snapshot, signal }, moves);
  const documents = { ...moved.documents };
  for (const { path, coordinate } of plan.planned) {
    const resource = formatCoordinate(coordinate);
    const recorded = Object.hasOwn(documents, path) ? documents[path]! : unread(registry);
    documents[path] = { ...recorded, resource };
  }
  return { standing: { ...moved, documents }, moves, plan };
}

function unread(registry: Registry): DocumentState {
  const nothing = { label: null, report: null, inputs: null, rulesetName: null, ruleset: null };
  return { resource: '', outcome: 'unchanged', ...nothing, compiler: registry.compiler.id };
}

/** Paths whose entry differs: added, removed, changed, or of another kind. */
export async function changedPaths(before: Snapshot, after: Snapshot): Promise<Set<string>> {
  const idsOf = async (snapshot: Snapshot) =>
    new Map((await snapshot.entries()).map(({ path, kind, id }) => [path, `${kind} ${id}`]));
  const [old, now] = [await idsOf(before), await idsOf(after)];
  const changed = [...now].flatMap(([path, id]) => (old.get(path) === id ? [] : [path]));
  return new Set([...changed, ...[...old.keys()].filter((path) => !now.has(path))]);
}

function followMoves(first: Moves, then: Moves): Moves {
  return new Map([...then, ...[...first].map(([from, to]) => [from, then.get(to) ?? to] as const)]);
}

/**
 * A view of the registry that keeps in its memory what is written through it. The registry itself
 * never changes, so that publishing into the view shows what publishing would give.
 */
export function createTrialRegistry(registry: Registry): Registry {
  const { refs, objects } = registry;
  const written = new Map<string, Generation<unknown>>();
  const stored = new Map<Digest, Uint8Array>();
  const keep = (bytes: Uint8Array | string): Digest => {
    const digest = digestOf(bytes);
    stored.set(digest, typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    return digest;
  };
  const writtenHere = <T>(name: string) => written.get(name) as Generation<T> | undefined;
  return {
    ...registry,
    answers: registry.answers.contentsOnly(),
    refs: {
      ...refs,
      read: async <T>(name: string) => writtenHere<T>(name) ?? refs.read<T>(name),
      readFresh: async <T>(name: string) => writtenHere<T>(name) ?? refs.readFresh<T>(name),
      async update<T>(name: string, decide: Decide<T>) {
        const current = writtenHere<T>(name) ?? (await refs.read<T>(name));
        const decided = await decide(current);
        if (decided === null) return current;
        const stamp = { writeId: 'overlay', at: registry.now().toISOString() };
        const generation = (current?.generation ?? 0) + 1;
        const next: Generation<T> = { generation, ...stamp, ...decided.change, value: decided.value };
        written.set(name, next);
        return next;
      },
    },
    objects: {
      ...objects,
      put: async (bytes) => keep(bytes),
      async putPack(root, shared, alone = []) {
        [...shared, ...alone].forEach(keep);
        return keep(root);
      },
      get: async (digest, pack) => stored.get(digest) ?? objects.get(digest, pack),
      async delete() {
        throw new TypeError('A view must not delete objects.');
      },
    },
  };
}
