import { changesOf } from '../../model/compared-with.ts';
import { countsInWords, type VersionChanges } from '../../model/comparison.ts';
import { coordinateOf, type Resource, type Version } from '../../model/resource.ts';
import { whyLatest } from '../../model/latest.ts';
import type { Granted } from '../../registry/read.ts';
import { pageWithin } from './crumbs.ts';
import { dayOf } from './describe-version.ts';
import { changesHref, compareForm, verdictTags } from './diff-page.ts';
import { subscriptionOf } from '../feeds.ts';
import type { Site } from '../site.ts';

/** The most versions on the page. All of them are in the JSON. */
const shown = 2000;

/** The page of a resource's versions, newest publication first. */
export function versionsPage(site: Site, { resource }: Granted): string {
  const { links } = site;
  const coordinate = coordinateOf(resource);
  const all = resource.versions.toReversed().slice(0, shown);
  return site.page('history', {
    ...pageWithin(site, resource, 'Versions'),
    title: `Versions of ${resource.name}`,
    canonical: links.whole(links.to(coordinate, { view: 'versions' })),
    hidden: resource.visibility === 'private',
    compare: compareForm(site, resource, null, resource.latest ?? resource.versions.at(-1)?.label ?? ''),
    count: resource.versions.length,
    whyLatest: whyLatest(resource),
    versions: all.map((version) => lineOf(site, resource, version)),
    more: resource.versions.length - all.length,
    json: `${links.to(coordinate, { view: 'versions' })}?format=json`,
    subscription: subscriptionOf(site, resource),
  });
}

function lineOf(site: Site, resource: Resource, version: Version): object {
  const { label, status, commit, problems, publishedAt, createdAt } = version;
  const isGone = status.state === 'withdrawn';
  const changes = changesOf(resource, version);
  return {
    label,
    href: isGone ? null : site.links.to(coordinateOf(resource), { label }),
    published: dayOf(publishedAt),
    committed: createdAt === undefined ? null : dayOf(createdAt),
    isLatest: label === resource.latest,
    state: status.state,
    reason: 'reason' in status ? status.reason : null,
    commit: commit ?? null,
    changes: changes && describe(site, resource, version, changes),
    problems: isGone ? null : (problems ?? null),
    report: isGone ? null : site.links.to(coordinateOf(resource), { label, view: 'report' }),
  };
}

function describe(
  site: Site,
  resource: Resource,
  { label }: Version,
  { from, verdict, counts }: VersionChanges,
): object {
  const tag = verdict === 'none' ? { text: 'no change', tone: '' } : verdictTags[verdict];
  const href = verdict === 'none' ? null : changesHref(site, resource, label);
  return { ...tag, from, counts: countsInWords(counts), href };
}
