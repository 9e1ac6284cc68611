import { coordinateOf, nameOf } from '../../model/resource.ts';
import type { Report } from '../../model/problem.ts';
import { readConfig, type GrantedVersion } from '../../registry/read.ts';
import { commitLinks } from './commit-links.ts';
import { crumbsWithin } from './crumbs.ts';
import { describeReport } from './report-groups.ts';
import type { Site } from '../site.ts';

/** The page of what the checks found in a version. `report`: as its reader may see it. */
export async function reportPage(site: Site, granted: GrantedVersion, report: Report): Promise<string> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const { provenance } = await readConfig(registry, granted);
  const coordinate = coordinateOf(resource);
  const own = links.to(coordinate, { label: version.label });
  return site.page('report', {
    org: resource.org,
    title: `Checks of ${resource.name} ${version.label}`,
    crumbs: crumbsWithin(site, resource, 'Checks', version.label),
    hidden: true,
    resource: { name: resource.name, coordinate: nameOf(resource), href: own },
    label: version.label,
    report: describeReport(report, provenance.job ? null : commitLinks(provenance.repository, provenance.commit)),
    hiddenCount: report.hidden ?? 0,
    gate: report.gate ?? null,
    exempted: report.exempted ?? [],
    json: `${links.to(coordinate, { label: version.label, view: 'report' })}?format=json`,
  });
}
