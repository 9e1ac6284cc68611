import { coordinateOf, type Resource } from '../../model/resource.ts';
import { docPath } from '../docs/docs.ts';
import { feedPath } from '../feeds.ts';
import type { Site } from '../site.ts';

/** How to follow new versions: the feeds of a public resource, and webhooks. */
export interface Subscription {
  /** Null for a private resource: feeds have only what is public. */
  atom: string | null;
  json: string | null;
  webhooks: string;
}

export function subscriptionOf({ links }: Site, resource: Resource): Subscription {
  const feed = (format: 'atom' | 'json') =>
    resource.visibility === 'public'
      ? links.path(feedPath({ kind: 'resource', coordinate: coordinateOf(resource) }, format))
      : null;
  return { atom: feed('atom'), json: feed('json'), webhooks: links.path(docPath('events')) };
}
