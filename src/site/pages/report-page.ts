import { sourceLayers } from '../../model/artifact.ts';
import { codeFrame } from '../code-frame.ts';
import { type Problem, countText, type Report, type Severity, type ReportedGate } from '../../model/problem.ts';
import { visible, httpsUrl } from '../../model/escape.ts';
import { readManifest, openBlob, type GrantedVersion, readConfig } from '../../registry/read.ts';
import type { Registry } from '../../registry/registry.ts';
import { type CommitLinks, fileLinks } from './describe-version.ts';
import { coordinateOf } from '../../model/resource.ts';
import { parseCoordinate } from '../../model/address.ts';
import { pageWithin } from './crumbs.ts';
import type { Site } from '../site.ts';

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
    const bytes = await openBlob(registry, granted, layer.digest);
    lines.set(path, Buffer.from(bytes).toString().split('\n'));
  }
  return (problem) => {
    const frame = codeFrame(lines.get(problem.file) ?? [], problem);
    return frame === '' ? null : visible(frame, { lines: true });
  };
}

/** The number of problems shown at first. The others are folded, and come without their lines. */
const shown = 50;

/** Groups the problems of a report by rule, the most severe first. */
export function describeReport(
  { problems, counts, truncated }: Report,
  pages: Pick<CommitLinks, 'file'> | null,
  frameOf: FrameOf = () => null,
): object {
  const groups = Map.groupBy(problems, ({ severity, rule }) => `${severity} ${rule}`);
  let left = shown;
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
  const frameOf = await readFrames(registry, granted, report.problems.slice(0, shown));
  return site.page('report', {
    ...pageWithin(site, resource, 'Checks', version.label),
    title: `Checks of ${resource.name} ${version.label}`,
    report: describeReport(report, pages, frameOf),
    hiddenCount: report.hidden ?? 0,
    gate: report.gate ? describeGate(site, report.gate) : null,
    exempted: (report.exempted ?? []).map(({ exemption, ...problem }) => ({ problem, exemption })),
    json: `${links.to(coordinateOf(resource), { label: version.label, view: 'report' })}?format=json`,
  });
}

const blockTexts: Readonly<Record<ReportedGate['blockOn'], string>> = {
  error: 'Its errors reject a document.',
  warn: 'Its errors and warnings reject a document.',
  none: 'Nothing that it finds rejects a document.',
};

/** What the document had to pass. */
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
