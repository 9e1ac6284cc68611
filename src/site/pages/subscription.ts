import { coordinateOf, type Resource } from '../../model/resource.ts';
import { docPath } from '../docs/docs.ts';
import { feedPath } from '../feeds.ts';
import type { Site } from '../site.ts';

/** How to follow new versions: feeds, and webhooks. */
export interface Subscription {
  atom: string;
  json: string;
  webhooks: string;
}

export function subscriptionOf({ links }: Site, resource: Resource): Subscription {
  const feed = (format: 'atom' | 'json') =>
    links.path(feedPath({ kind: 'resource', coordinate: coordinateOf(resource) }, format));
  return { atom: feed('atom'), json: feed('json'), webhooks: links.path(docPath('events')) };
}
