import { coordinateOf, nameOf } from '../../model/resource.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { ReportedGate, Report } from '../../model/problem.ts';
import { readConfig, type GrantedVersion } from '../../registry/read.ts';
import { commitLinks } from './commit-links.ts';
import { crumbsWithin } from './crumbs.ts';
import { readFrames } from './report-frames.ts';
import { describeReport, shown } from './report-groups.ts';
import type { Site } from '../site.ts';

/** The page of what the checks found in a version. `report`: as its reader may see it. */
export async function reportPage(site: Site, granted: GrantedVersion, report: Report): Promise<string> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const { provenance } = await readConfig(registry, granted);
  const coordinate = coordinateOf(resource);
  const address = links.to(coordinate, { label: version.label });
  const pages = provenance.job ? null : commitLinks(provenance.repository, provenance.commit);
  const frameOf = await readFrames(registry, granted, report.problems.slice(0, shown));
  return site.page('report', {
    org: resource.org,
    title: `Checks of ${resource.name} ${version.label}`,
    crumbs: crumbsWithin(site, resource, 'Checks', version.label),
    hidden: true,
    resource: { name: resource.name, coordinate: nameOf(resource), href: address },
    label: version.label,
    report: describeReport(report, pages, frameOf),
    hiddenCount: report.hidden ?? 0,
    gate: report.gate ? describeGate(site, report.gate) : null,
    exempted: (report.exempted ?? []).map(({ exemption, ...problem }) => ({ problem, exemption })),
    json: `${links.to(coordinate, { label: version.label, view: 'report' })}?format=json`,
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
