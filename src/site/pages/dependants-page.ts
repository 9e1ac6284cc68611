import { types } from '../../model/kinds.ts';
import { coordinateOf, nameOf } from '../../model/resource.ts';
import { countText } from '../../model/problem.ts';
import { userName, type User } from '../../registry/graph/users.ts';
import type { Granted } from '../../registry/read.ts';
import { docPath } from '../docs/docs.ts';
import type { Site } from '../site.ts';
import { crumbsWithin } from './crumbs.ts';
import { dayOf } from './dates.ts';

/** The most users on the page. All of them are in the JSON. */
const shown = 1000;

/** The page of who uses a resource. `users`: those that its reader may read. */
export function dependantsPage(site: Site, { resource }: Granted, users: readonly User[]): string {
  const { links } = site;
  const coordinate = coordinateOf(resource);
  return site.page('dependants', {
    org: resource.org,
    title: `Who uses ${resource.name}`,
    crumbs: crumbsWithin(site, resource, 'Used by'),
    hidden: true,
    resource: { name: resource.name, coordinate: nameOf(resource), href: links.to(coordinate) },
    groups: groupsOf(site, users.slice(0, shown)),
    more: Math.max(0, users.length - shown),
    isEmpty: users.length === 0,
    json: `${links.to(coordinate, { view: 'dependants' })}?format=json`,
    help: links.path(docPath('references')),
  });
}

const hows = { url: 'includes', extends: 'extends', lock: 'has a copy of' } as const;

/** Resources by type, then consumers. */
function groupsOf(site: Site, users: readonly User[]): object[] {
  const titleOf = (user: User) => ('resource' in user ? types[user.resource.type].many : 'Consumers');
  const groups = Map.groupBy(users, titleOf);
  const titles = [...Object.values(types).map(({ many }) => many), 'Consumers'];
  return titles.flatMap((title) => {
    const rows = groups.get(title) ?? [];
    return rows.length === 0 ? [] : [{ title, rows: rows.map((user) => rowOf(site, user)) }];
  });
}

function rowOf({ links }: Site, user: User): object {
  const { uses, behind } = user;
  const isResource = 'resource' in user;
  return {
    name: userName(user),
    href: isResource ? links.to(coordinateOf(user.resource)) : null,
    about: isResource ? `version ${user.version.label}` : `of @${user.org}`,
    how: hows[uses.how],
    range: uses.range || 'latest',
    version: uses.version,
    behind: behind === 0 ? null : `${countText(behind, 'version')} behind`,
    reported: isResource || user.reportedAt === null ? null : dayOf(user.reportedAt),
  };
}
