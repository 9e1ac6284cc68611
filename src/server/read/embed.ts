import { resourceKey } from '../../model/cache-key.ts';
import { RegistryError } from '../../model/errors.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { within } from '../../scheduling/waiting.ts';
import { statusHeaders } from '../../site/links.ts';
import { embedPage, isTheme } from '../../site/pages/embed-page.ts';
import { embedOrigins } from '../../site/pages/embed-snippet.ts';
import type { Site } from '../../site/site.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';
import { beingMade, retryAfter } from './being-made.ts';
import type { ReadRequest } from './read-request.ts';

/**
 * Sends the reference of a version, or of one operation, for frames of other sites: the same to all
 * who may read it. Throws `not_found` if there is no such operation.
 */
export async function sendEmbed(
  read: ReadRequest,
  site: Site,
  granted: GrantedVersion,
  patience: number,
): Promise<void> {
  const { resource, version } = granted;
  const { config } = site.registry;
  const asked = new URLSearchParams(read.query);
  const theme = asked.get('theme');
  const operation = asked.get('operation');
  if (theme !== null && !isTheme(theme)) throw new RegistryError('malformed', 'theme must be light or dark.');
  const html = await within(patience, embedPage(site, granted, { theme, operation }));
  if (html === null) throw new RegistryError('unavailable', beingMade, { retryAfter });
  const headers = {
    ...statusHeaders(version),
    ...pageSharing(config, {
      isPublic: resource.visibility === 'public',
      framedBy: ["'self'", ...embedOrigins(config, resource.org)],
      keys: [resourceKey(resource)],
    }),
    'Referrer-Policy': 'no-referrer',
  };
  await sendPage(read, site.registry, bytesOf(html), { headers });
}
