import type { components } from './management.d.ts';
import type { Turn } from '../../compile/compile.ts';
import { formatPrincipal, type Principal } from '../../model/access.ts';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../../model/address.ts';
import type { OnConflict } from '../../model/connection.ts';
import { refusedBy, malformed, tooLarge, unauthenticated, refused, conflict } from '../../model/errors.ts';
import { outcomeIn } from '../../model/problem.ts';
import { impactText, type ImpactOnUser } from '../../model/dependency.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import { changesInWords } from '../../model/comparison.ts';
import { comparedWith } from '../../model/compared-with.ts';
import { labelForBreak, type PublishRequest } from '../../registry/append-version.ts';
import { compareForeseen } from '../../registry/compare-versions.ts';
import { contentOf, contentTwin } from '../../registry/store-artifact.ts';
import { tagsOfNew } from '../../sync/sync-tags.ts';
import { showReport } from '../../registry/gate/show-report.ts';
import { impactOf } from '../../registry/graph/impact.ts';
import { nextVersionOf, publish, type PublishResult, datedUpload } from '../../registry/publish.ts';
import { findReadable, mayRead, mayReadOrganization } from '../../registry/readable.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Body } from '../body/read-body.ts';
import { absent } from '../error-answers.ts';
import { type Answer, bodyOf, type PublishCall, type ResourceCall, type Call, operationsAbout } from './call.ts';
import { compareUpload } from '../../registry/compare-upload.ts';
import { uploadDiffMarkdown, uploadDiffPage } from '../../site/pages/diff-page.ts';
import { pageHeaders } from '../headers.ts';
import { chooseType } from '../read/read-request.ts';
import { versionRecord, versionUrl } from './resource-records.ts';
import { requireScopeToMake } from './require-scope.ts';
import { readCandidate, replay, replayRows, type Candidate, type ReplayPage } from '../../registry/gate/replay.ts';
import { findRuleset } from '../../registry/gate/ruleset-gate.ts';
import { openValue, sealValue } from '../../registry/seal.ts';
import { csvText } from '../../model/escape.ts';
import { csvType } from './health-route.ts';
import { createUpload } from '../../source/upload.ts';
import type { Snapshot } from '../../source/snapshot.ts';

type DocumentToCheck = components['schemas']['DocumentToCheck'] & { onConflict: OnConflict };

/** Says what publishing a document would say, to whoever may read its resource. Nothing is stored. */
export async function checkDocument(
  registry: Registry,
  principal: Principal,
  body: Body,
  signal: AbortSignal,
): Promise<Answer> {
  const {
    coordinate: name,
    settings = {},
    exemptions,
    version = null,
    stated,
    onConflict,
    view,
    repository,
    impact = false,
  } = body.value as DocumentToCheck;
  const coordinate = coordinateIn(name);
  if (impact && principal.kind === 'anonymous')
    throw unauthenticated('To learn whom a version breaks, send a key with the scope read.');
  const existing = await findForCheck(registry, principal, coordinate);
  const tagsOf = async () => {
    if (existing !== null) return existing.connection?.tags ?? null;
    return repository === undefined ? null : tagsOfNew(registry, coordinate, repository, signal);
  };
  const tags = version === null && stated === undefined ? await tagsOf() : null;
  const { tagged = tags !== null } = body.value as DocumentToCheck;
  await assertRulesetReadable(registry, principal, existing === null ? settings.ruleset : null);
  const isExempt = exemptions !== undefined && (existing === null || existing.connection !== null);
  const reading = forReader(registry, principal);
  const upload = uploadIn({ registry, body, principal });
  const checkWith = (accepted: Pick<DocumentToCheck, 'exemptions'>) =>
    publish(reading, {
      coordinate,
      ...upload,
      version: tagged && existing !== null ? labelForBreak(existing) : version,
      ...(view && { view }),
      ...(stated !== undefined && { stated }),
      onConflict,
      ...accepted,
      latest: true,
      dryRun: true,
      create: existing === null ? settings : null,
      author: { actor: formatPrincipal(principal), origin: null },
      isAwaited: true,
      signal,
    });
  const result = await checkWith(isExempt ? { exemptions } : {});
  const { outcome, report } = result;
  const needsSync =
    existing === null &&
    outcome === 'published' &&
    report.exempted !== undefined &&
    (await checkWith({})).outcome === 'rejected';
  const label = outcome === 'published' || outcome === 'unchanged' ? result.version.label : null;
  const checked: Record<string, unknown> = {
    outcome: outcome === 'rejected' ? outcomeIn(report) : outcome,
    version: label === null ? null : formatCoordinate(coordinate, { kind: 'version', version: label }),
    isNew: existing === null,
    detail: outcome === 'conflict' ? result.detail : needsSync ? onlyBySync : null,
    report: await showReport(registry, principal, report),
  };
  const turn = { isAwaited: true, signal };
  if (tagged) Object.assign(checked, await toldOfTag(reading, upload.entry, result, turn), tags !== null && { tags });
  const next = impact ? nextVersionOf(result) : null;
  if (next === null) return { status: 200, body: checked };
  const { users, ...rest } = await impactOf(reading, principal, next, {
    org: principal.kind === 'key' ? principal.org : coordinate.org,
    ...turn,
  });
  return { status: 200, body: { ...checked, impact: { users: users.map(userRecord), ...rest } } };
}

/** What is known of a document before the tag that publishes it: what changed since the version below the tag's. */
async function toldOfTag(
  registry: Registry,
  entry: string,
  result: PublishResult,
  turn: Turn,
): Promise<{ version: string | null; outcome?: 'unchanged'; detail?: string | null }> {
  const { compiled, outcome } = result;
  const next = outcome === 'rejected' ? result.next : outcome === 'published' ? result : null;
  const before = next && comparedWith(next.resource, next.version);
  const contents = compiled.artifact && [contentOf(entry, compiled), await contentTwin(entry, compiled)];
  if (before && contents?.includes(before.content))
    return { outcome: 'unchanged', version: `${nameOf(next.resource)}@${before.label}`, detail: null };
  if (outcome !== 'published') return { version: null };
  const compared = await compareForeseen(registry, result, compiled.artifact!, turn);
  return { version: null, ...(compared && { detail: changesInWords(compared.changes) }) };
}

const onlyBySync = 'Exemptions apply only to documents from git. "stele publish" would be rejected: it has none.';

function userRecord(user: ImpactOnUser): object {
  const { coordinate, version, uses, gets, verdict } = user;
  return { coordinate, version, uses, gets, verdict, detail: impactText(user) };
}

function coordinateIn(name: string): Coordinate {
  const parsed = parseCoordinate(name);
  if (parsed?.selector.kind === 'latest') return parsed.coordinate;
  throw malformed(`${JSON.stringify(name)} is not the coordinate of a resource. Use one such as "@acme/apis/pay".`);
}

/**
 * The resource, or null if it would be new. A stranger learns only of public ones. A ruleset may extend
 * private ones, so whoever checks it must be able to read the whole organization.
 */
async function findForCheck(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<Resource | null> {
  const resource = await findReadable(registry, principal, coordinate);
  const isMember = mayRead(principal, { ...coordinate, visibility: 'private' });
  const mayCheck =
    coordinate.type === 'rulesets' ? mayReadOrganization(principal, coordinate.org) : isMember || resource !== null;
  if (mayCheck) return resource?.value ?? null;
  if (principal.kind !== 'anonymous') throw absent();
  const message = `Without a key, only public APIs and schemas can be checked. To check ${formatCoordinate(coordinate)}, send a key with the scope read.`;
  throw unauthenticated(message);
}

/** Throws as for a ruleset that does not exist if the asker may not read it. */
async function assertRulesetReadable(registry: Registry, principal: Principal, name: string | null | undefined) {
  const parsed = name ? parseCoordinate(name) : null;
  if (!name || (parsed && (await findReadable(registry, principal, parsed.coordinate)))) return;
  throw refused(`The ruleset ${name} does not exist. Publish it, or attach another one.`);
}

/** The registry with a compiler whose work is that of readers: what strangers ask for takes no turn of an organization. */
function forReader(registry: Registry, principal: Principal): Registry {
  const { compiler } = registry;
  const turnOf = ({ org, ...turn }: Turn = {}): Turn => ({
    ...turn,
    lane: 'read',
    ...(principal.kind !== 'anonymous' && org !== undefined && { org }),
  });
  return {
    ...registry,
    compiler: {
      ...compiler,
      compile: (input, load, turn) => compiler.compile(input, load, turnOf(turn)),
      compare: (old, next, limits, rules, turn) => compiler.compare(old, next, limits, rules, turnOf(turn)),
    },
  };
}

export const documentOperations = {
  ...operationsAbout('resource', {
    /** Compares a version with a document in the request: as JSON, as Markdown, or as a page. Nothing is stored. */
    async 'compare{one}'(call) {
      const { registry, found, asker, context } = call;
      const { from } = bodyOf<{ from: string }>(call);
      const turn = { isAwaited: true, signal: asker.closed() };
      const { label, comparison } = await compareUpload(registry, found.value, from, uploadIn(call), turn);
      const forms = ['application/json', 'text/markdown', ...(context.site ? ['text/html'] : [])];
      const form = asker.accept === undefined ? null : chooseType(asker.accept, forms);
      const headers = { Vary: 'Accept' };
      const asText = (text: string) => ({ mediaType: `${form}; charset=utf-8`, text });
      if (form === 'text/markdown')
        return { status: 200, headers, text: asText(uploadDiffMarkdown(found.value, label, comparison)) };
      if (form !== 'text/html') return { status: 200, headers, body: { from: label, ...comparison } };
      const text = asText(uploadDiffPage(context.site!, found.value, label, comparison));
      return { status: 200, headers: { ...pageHeaders(), ...headers }, text };
    },
  }),
  ...operationsAbout('publish', {
    async 'publish{one}'(call) {
      const { registry, coordinate, author, principal, found } = call;
      const given = bodyOf<NewVersion>(call);
      if (found === null && given.create === undefined) throw absent();
      const { createdAt = null, latest } = given;
      if (createdAt !== null) requireScopeToMake(call, 'admin', coordinate);
      const { snapshot, ...upload } = uploadIn(call);
      const result = await publish(registry, {
        coordinate,
        ...upload,
        ...datedUpload(registry, snapshot, createdAt, latest),
        version: given.version ?? null,
        onConflict: given.onConflict,
        dryRun: given.dryRun,
        create: given.create ?? null,
        ...(principal.kind === 'key' && principal.job && { job: principal.job }),
        author,
        isAwaited: true,
      });
      const report = await showReport(registry, principal, result.report);
      return describe(call, { ...result, report }, given.dryRun);
    },
  }),
};

export const replayOperations = operationsAbout('resource', {
  /** Checks the documents that a ruleset checks against a candidate for it, part by part. */
  async replayRuleset(call) {
    const { registry, principal, query, asker } = call;
    const closed = asker.closed();
    const candidate = await candidateOf(call, closed);
    const start = startIn(call, candidate);
    const end = registry.monotonic() + budget;
    const isEnough = (items: number) => items >= (query['limit'] as number) || registry.monotonic() >= end;
    const turn = { isAwaited: true, signal: closed };
    const { items, totals, position } = await replay(registry, principal, candidate, start, isEnough, turn);
    const next = position && sealValue(registry, purposeOf(call, candidate), { position, totals } satisfies Start);
    if (query['format'] === 'csv') {
      const more = new URLSearchParams({ format: 'csv', limit: String(query['limit']), cursor: next ?? '' });
      const headers = next === null ? {} : { Link: `<?${more}>; rel="next"` };
      return { status: 200, headers, text: { mediaType: csvType, text: csvText(replayRows(items)) } };
    }
    return { status: 200, body: { digest: candidate.ruleset.digest, items, totals, next } };
  },
});

/** With what the description says by default. */
type NewVersion = components['schemas']['NewVersion'] & Pick<PublishRequest, 'latest' | 'dryRun' | 'onConflict'>;

function describe({ context }: PublishCall, result: PublishResult, dryRun: boolean): Answer {
  const { report } = result;
  if (result.outcome === 'rejected') throw refusedBy(report);
  if (result.outcome === 'conflict') {
    const { label, suggestion, detail } = result;
    throw conflict(detail, { extra: { version: label, suggestion } });
  }
  const { resource, version, outcome } = result;
  const url = versionUrl(context.url, resource, version.label);
  const body = { ...versionRecord(context.url, resource, version), outcome, dryRun, report };
  if (dryRun) return { status: 200, body };
  return outcome === 'published'
    ? { status: 201, headers: { Location: url }, body }
    : { status: 200, headers: { 'Content-Location': url }, body };
}

/** Milliseconds after which an answer is due, so that proxies do not give up. */
const budget = 20_000;

type Start = Pick<ReplayPage, 'totals'> & { position: NonNullable<ReplayPage['position']> };

async function candidateOf(call: ResourceCall, signal: AbortSignal): Promise<Candidate> {
  const { registry, coordinate, found, org } = call;
  const { version, document } = bodyOf<{ version?: string; document?: unknown }>(call);
  if ((version === undefined) === (document === undefined)) throw malformed('Give either `document` or `version`.');
  if (version === undefined) return readCandidate(registry, found.value, coordinate, uploadIn(call), signal);
  const name = formatCoordinate(coordinate, { kind: 'version', version });
  return { coordinate, ruleset: await findRuleset(registry, org, name) };
}

/** A cursor is valid only for the key that got it and for the same candidate. */
function purposeOf({ principal, coordinate }: ResourceCall, { ruleset }: Candidate): string {
  return `replay ${principal.id} ${formatCoordinate(coordinate)} ${ruleset.digest}`;
}

function startIn(call: ResourceCall, candidate: Candidate): Start | null {
  const cursor = call.query['cursor'];
  if (typeof cursor !== 'string') return null;
  const start = openValue(call.registry, purposeOf(call, candidate), cursor) as Start | undefined;
  if (start !== undefined) return start;
  throw malformed('This cursor belongs to another replay. Start again without `cursor`.', {
    extra: { errors: [{ parameter: 'cursor', detail: 'is not `next` of the same replay' }] },
  });
}

/**
 * The document in a request's body, under its `path`, with the `files` that it refers to: its original
 * bytes, so that no number loses a digit. It is read with the rights of who sends it. Throws `too_large`,
 * and `malformed` as `createUpload` does.
 */
function uploadIn({ registry, body, principal }: Pick<Call, 'registry' | 'body'> & { principal: Principal }): {
  snapshot: Snapshot;
  entry: string;
  reader: Principal;
} {
  const bytes = body!.document!;
  const { path, files = {} } = body!.value as { path?: string; files?: Record<string, string> };
  const others = new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  const { fileBytes } = registry.config.limits;
  if ([bytes, ...others.values()].some(({ byteLength }) => byteLength > fileBytes)) {
    const extra = { limit: fileBytes };
    throw tooLarge(`The document exceeds the limit of ${fileBytes} bytes.`, { extra });
  }
  const entry = path ?? (/^\s*[{[]/.test(bytes.toString('utf8', 0, 65_536)) ? 'document.json' : 'document.yaml');
  return { snapshot: createUpload(entry, bytes, others), entry, reader: principal };
}
