import type { Delivery, HostKind } from './host.ts';

/** The names of the products. */
export const productNames: Record<HostKind, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea or Forgejo',
  bitbucket: 'Bitbucket Cloud',
  'bitbucket-server': 'Bitbucket Data Center',
  azure: 'Azure DevOps',
};

/** Events of Bitbucket that only Data Center has. Cloud's are `repo:push` and `pullrequest:…`. */
const serverEvent = /^(?:repo:(?:refs_changed|modified|forked|comment:)|pr:|project:|mirror:|diagnostics:)/;

/**
 * Returns the product that sent a delivery, by its header fields, or null if they do not name one.
 * Used only for the message to a sender that posts to the wrong URL.
 */
export function senderOf({ headers }: Pick<Delivery, 'headers'>): HostKind | null {
  // Gitea and Forgejo also send the fields of GitHub.
  if (headers['x-gitea-event'] !== undefined || headers['x-forgejo-event'] !== undefined) return 'gitea';
  if (headers['x-github-event'] !== undefined) return 'github';
  if (headers['x-gitlab-event'] !== undefined) return 'gitlab';
  const event = headers['x-event-key'];
  if (event !== undefined) return serverEvent.test(event) ? 'bitbucket-server' : 'bitbucket';
  return /^VSServices\b/.test(headers['user-agent'] ?? '') ? 'azure' : null;
}
