import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../model/access.ts';
import { parseAddress } from '../../model/address.ts';
import { isRegistryError } from '../../model/errors.ts';
import { siteAddress } from '../model/documentation-site.ts';
import { openSitePreview } from '../registry/site-preview.ts';
import type { Placed } from '../pages/placed.ts';
import { dayOf } from '../../site/pages/dates.ts';
import type { Site } from '../../site/site.ts';
import { prefersPage } from '../../server/read/negotiate.ts';
import type { ServerContext } from '../../server/server-context.ts';
import { sendAbsentPage, sendOf } from './send-site.ts';

/**
 * Answers a request for something of a site's preview. `rest`: the raw path after the token, with
 * its slash; empty: there is none. False if there is no such preview for this reader.
 */
export async function sendSitePreview(
  context: ServerContext & { site: Site },
  { request, response, principal }: { request: IncomingMessage; response: ServerResponse; principal: Principal },
  token: string,
  rest: string,
  query: string,
): Promise<boolean> {
  const opened = await openSitePreview(context.registry, principal, token);
  if (opened === null) return false;
  const { registry, granted, expiresAt } = opened;
  const site: Site = { ...context.site, registry };
  const base = site.links.path(`/previews/${token}/`);
  const placed: Placed = { base, url: site.links.whole(base), isElsewhere: false, expires: dayOf(expiresAt) };
  const view = { ...context, registry, site };
  const read = { context: view, links: site.links, request, response, principal, query };
  const address = parseAddress(siteAddress(granted.site) + rest);
  try {
    if (address?.kind !== 'site') return false;
    await sendOf(read, granted, placed, address.path);
  } catch (error) {
    if (!isRegistryError(error, 'not_found') || !prefersPage(request.headers.accept)) throw error;
    await sendAbsentPage(read, granted, placed);
  }
  return true;
}
