import { changesOf, comparedWith } from '../../model/compared-with.ts';
import { countsInWords } from '../../model/comparison.ts';
import { type Resource, type Version } from '../../model/resource.ts';
import { whyLatest } from '../../model/latest.ts';
import { type Granted, readManifest, openBlob, type GrantedVersion, readConfig } from '../../registry/read.ts';
import { pageWithin, dayOf, type CommitLinks, fileLinks, provenanceOf, specificationOf } from './describe-version.ts';
import { compareForm, verdictTags } from './diff-page.ts';
import { subscriptionOf } from '../feeds.ts';
import type { Site } from '../site.ts';
import {
  sourceLayers,
  codingAnnotation,
  formatAnnotation,
  sourceAnnotation,
  type Descriptor,
} from '../../model/artifact.ts';
import { codeFrame } from '../code-frame.ts';
import { type Problem, countText, type Report, type Severity, type ReportedGate } from '../../model/problem.ts';
import { visible, httpsUrl } from '../../model/escape.ts';
import type { Registry } from '../../registry/registry.ts';
import { parseCoordinate, isUrlPath } from '../../model/address.ts';
import { hasPublicLog } from '../../registry/transparency/log-key.ts';
import { docPath } from '../docs/docs.ts';

/** The most versions on the page. All of them are in the JSON. */
const maxVersions = 2000;

/** The page of a resource's versions, newest publication first. */
export function versionsPage(site: Site, { resource }: Granted): string {
  const { links } = site;
  const all = resource.versions.toReversed().slice(0, maxVersions);
  return site.page('history', {
    ...pageWithin(site, resource, 'Versions'),
    title: `Versions of ${resource.name}`,
    canonical: links.url(resource, { view: 'versions' }),
    hidden: resource.visibility === 'private',
    compare: compareForm(site, resource, null, resource.latest ?? resource.versions.at(-1)?.label ?? ''),
    count: resource.versions.length,
    whyLatest: whyLatest(resource),
    versions: all.map((version) => lineOf(site, resource, version)),
    more: resource.versions.length - all.length,
    json: `${links.to(resource, { view: 'versions' })}?format=json`,
    subscription: subscriptionOf(site, resource),
  });
}

function lineOf(site: Site, resource: Resource, version: Version): object {
  const { label, status, commit, problems, publishedAt, createdAt } = version;
  const isGone = status.state === 'withdrawn';
  return {
    label,
    href: isGone ? null : site.links.to(resource, { label }),
    published: dayOf(publishedAt),
    committed: createdAt === undefined ? null : dayOf(createdAt),
    isLatest: label === resource.latest,
    state: status.state,
    reason: 'reason' in status ? status.reason : null,
    commit: commit ?? null,
    changes: describe(site, resource, version),
    problems: isGone ? null : (problems ?? null),
    report: isGone ? null : site.links.to(resource, { label, view: 'report' }),
  };
}

/** What changed in a version. Where it was published before what it is compared with now, only where that can be read. */
function describe(site: Site, resource: Resource, version: Version): object | null {
  const href = site.links.to(resource, { label: version.label, view: 'diff' });
  const changes = changesOf(resource, version);
  if (changes === null) {
    const before = version.status.state === 'withdrawn' ? null : comparedWith(resource, version);
    return before && { text: null, from: before.label, counts: 'changes', href };
  }
  const { from, verdict, counts } = changes;
  if (verdict === 'none') return { text: 'no change', tone: '', from, href: null };
  return { ...verdictTags[verdict], from, counts: countsInWords(counts) || 'changes', href };
}

/** The lines of a file around a problem, with a mark. Null: the file was not read. */
type FrameOf = (problem: Problem) => string | null;

/** Files whose lines are shown, and the most bytes of one: a page reads them whenever it is made. */
const maxFiles = 10;
const maxBytes = 2 * 2 ** 20;

/** Reads the sources of a version in which problems are. Who may read the version may read them. */
async function readFrames(registry: Registry, granted: GrantedVersion, problems: readonly Problem[]): Promise<FrameOf> {
  const sources = sourceLayers(await readManifest(registry, granted));
  const lines = new Map<string, string[]>();
  for (const path of [...new Set(problems.map(({ file }) => file))].slice(0, maxFiles)) {
    const layer = sources.get(path);
    if (layer === undefined || layer.size > maxBytes) continue;
    const source = await openBlob(registry, granted, layer.digest);
    lines.set(path, Buffer.from(source).toString().split('\n'));
  }
  return (problem) => {
    const frame = codeFrame(lines.get(problem.file) ?? [], problem);
    return frame === '' ? null : visible(frame, { lines: true });
  };
}

/** The number of problems shown at first. The others are folded, and come without their lines. */
const shownAtFirst = 50;

/** Groups the problems of a report by rule, the most severe first. */
export function describeReport(
  { problems, counts, truncated }: Report,
  pages: Pick<CommitLinks, 'file'> | null,
  frameOf: FrameOf = () => null,
): object {
  const groups = Map.groupBy(problems, ({ severity, rule }) => `${severity} ${rule}`);
  let left = shownAtFirst;
  const described = [...groups.values()].map((group) => {
    const first = group.slice(0, left);
    left -= first.length;
    return {
      rule: group[0]!.rule,
      severity: group[0]!.severity,
      href: httpsUrl(group[0]!.documentationUrl),
      count: group.length,
      first: first.map((problem) => ({ ...place(problem, pages), frame: frameOf(problem) })),
      folded: group.slice(first.length).map((problem) => place(problem, pages)),
    };
  });
  const total = counts.error + counts.warning + counts.info;
  return { counts, total, summary: summaryOf(counts), truncated, groups: described };
}

function summaryOf(counts: Record<Severity, number>): string {
  const parts = (
    [
      [counts.error, 'error'],
      [counts.warning, 'warning'],
      [counts.info, 'note'],
    ] as const
  ).flatMap(([number, noun]) => (number === 0 ? [] : [countText(number, noun)]));
  return parts.length === 0 ? 'nothing found' : parts.join(', ');
}

function place(
  { message, file, pointer, line, column, known }: Problem,
  pages: Pick<CommitLinks, 'file'> | null,
): object {
  const href = pages?.file(file, line) ?? null;
  return { message, place: `${file}:${line}:${column}`, pointer, href, isKnown: known === true };
}

/** The page of what the checks found in a version. `report`: as its reader may see it. */
export async function reportPage(site: Site, granted: GrantedVersion, report: Report): Promise<string> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const pages = fileLinks(await readConfig(registry, granted));
  const frameOf = await readFrames(registry, granted, report.problems.slice(0, shownAtFirst));
  return site.page('report', {
    ...pageWithin(site, resource, 'Checks', version.label),
    title: `Checks of ${resource.name} ${version.label}`,
    report: describeReport(report, pages, frameOf),
    hiddenCount: report.hidden ?? 0,
    gate: report.gate ? describeGate(site, report.gate) : null,
    exempted: (report.exempted ?? []).map(({ exemption, ...problem }) => ({ problem, exemption })),
    json: `${links.to(resource, { label: version.label, view: 'report' })}?format=json`,
  });
}

const blockTexts: Readonly<Record<ReportedGate['blockOn'], string>> = {
  error: 'Its errors reject a document.',
  warn: 'Its errors and warnings reject a document.',
  none: 'Nothing that it finds rejects a document.',
};

function describeGate({ links }: Site, { ruleset, extended = {}, blockOn, ratchet }: ReportedGate): object {
  const link = (name: string) => {
    const named = parseCoordinate(name);
    const label = named?.selector.kind === 'version' ? { label: named.selector.version } : {};
    return { name, href: named === null ? null : links.to(named.coordinate, label) };
  };
  return {
    ruleset: link(ruleset.name),
    extended: Object.keys(extended).map(link),
    blockText: blockTexts[blockOn],
    hasRatchet: ratchet !== undefined,
  };
}

/** The page of where a version came from and how it was made. */
export async function provenancePage(site: Site, granted: GrantedVersion): Promise<string> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const [config, manifest] = await Promise.all([readConfig(registry, granted), readManifest(registry, granted)]);
  const { provenance } = config;
  const pages = fileLinks(config);
  return site.page('provenance', {
    ...pageWithin(site, resource, 'Provenance', version.label),
    title: `Provenance of ${resource.name} ${version.label}`,
    manifest: version.manifest,
    published: dayOf(version.publishedAt),
    committed: version.createdAt === undefined ? null : dayOf(version.createdAt),
    commit: version.commit ?? null,
    specification: specificationOf(config),
    provenance: provenanceOf(config),
    approvals: provenance.approvals ?? [],
    isView: config.view !== undefined,
    files: Object.entries(provenance.blobs).map(([path, blob]) => ({
      path,
      blob,
      href: isUrlPath(path) ? path : (pages?.file(path) ?? null),
    })),
    ruleset: config.ruleset,
    validation: config.validation,
    layers: manifest.layers.map(layerOf),
    json: `${links.to(resource, { label: version.label, view: 'provenance' })}?format=json`,
    attestation:
      hasPublicLog(registry) && registry.config.url === site.url
        ? links.to(resource, { label: version.label, view: 'attestation' })
        : null,
    verify: links.path(docPath('commands')),
  });
}

function layerOf({ annotations = {}, digest, size }: Descriptor): object {
  const source = annotations[sourceAnnotation];
  const coding = annotations[codingAnnotation] ?? 'identity';
  const format = (annotations[formatAnnotation] ?? '').toUpperCase();
  return { what: source ?? (coding === 'identity' ? format : `${format}, ${coding}`), digest, size: bytes(size) };
}

/** `12.3 KB`. */
function bytes(size: number): string {
  if (size < 1000) return `${size} bytes`;
  return size < 1e6 ? `${(size / 1e3).toFixed(1)} KB` : `${(size / 1e6).toFixed(1)} MB`;
}
