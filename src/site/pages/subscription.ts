import { coordinateOf, nameOf, type Resource } from '../../model/resource.ts';
import { docPath } from '../docs/docs.ts';
import { feedPath } from '../feeds.ts';
import type { Site } from '../site.ts';

/** How to follow new versions: feeds, and webhooks. */
export interface Subscription {
  atom: string;
  json: string;
  webhooks: string;
  /** Where who is signed in watches it. Null: no mail is sent, or nobody signs in. */
  watch: string | null;
}

export function subscriptionOf({ links, hasLogin, registry }: Site, resource: Resource): Subscription {
  const { mail, login } = registry.config;
  const isMailed = hasLogin && mail !== null && login !== null;
  const watch = isMailed ? links.path(`/console/-/watches/new?contract=${encodeURIComponent(nameOf(resource))}`) : null;
  const feed = (format: 'atom' | 'json') =>
    links.path(feedPath({ kind: 'resource', coordinate: coordinateOf(resource) }, format));
  return { atom: feed('atom'), json: feed('json'), webhooks: links.path(docPath('events')), watch };
}
