import type { IncomingMessage, ServerResponse } from 'node:http';
import { anonymous } from '../../model/access.ts';
import { parseAddress } from '../../model/address.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { siteAddress, type SiteName } from '../../model/sites/documentation-site.ts';
import { findFile, grantSite, type GrantedSite } from '../../registry/sites/read-site.ts';
import { placeAtHost } from '../../site/documentation/placed.ts';
import type { Site } from '../../site/site.ts';
import { sendAsset } from '../asset-handler.ts';
import type { Authenticate } from '../authenticate.ts';
import { basePathOf } from '../base-path.ts';
import { sendProblem } from '../error-answers.ts';
import { answerMethod } from '../methods.ts';
import { nothingHere } from '../nothing-here.ts';
import { prefersPage } from '../read/negotiate.ts';
import type { ReadLimit } from '../rate/read-limit.ts';
import { splitTarget } from '../read/read-request.ts';
import type { ServerContext } from '../server-context.ts';
import { sendAbsentPage, sendOf } from './send-site.ts';

/** Answers a request to a site's own host name. Returns the route pattern. */
export type OwnHost = (request: IncomingMessage, response: ServerResponse, name: SiteName) => Promise<string>;

/**
 * Serves documentation sites at host names of their own, with the stylesheets and scripts of their
 * pages, and nothing else of the registry. Sessions belong to the registry's host and do not count
 * here; keys do.
 */
export function createOwnHost(
  context: ServerContext & { site: Site },
  authenticate: Authenticate,
  limit: ReadLimit | null,
): OwnHost {
  const base = basePathOf(context.url);
  // The registry's own pages lead to addresses that these hosts do not have.
  const { site: _, ...withoutPages } = context;

  return async (request, response, name) => {
    const { path, query } = splitTarget(request.url!);
    const { site } = context;
    let granted: GrantedSite | null = null;
    const place = placeAtHost(site, name);
    const common = { context, links: site.links, request, response, query };
    try {
      limit?.(request, response);
      const principal = request.headers.authorization === undefined ? anonymous : await authenticate(request);
      granted = await grantSite(context.registry, principal, name);
      const isAsset = path.startsWith(`${base}/assets/`);
      if (isAsset && (granted === null || findFile(granted, path.slice(1)) === null)) {
        if (!answerMethod(common, 'public')) await sendAsset(site, common, path.slice(base.length));
        return pattern;
      }
      const address = parseAddress(siteAddress(name) + path);
      if (granted === null || address?.kind !== 'site') throw new RegistryError('not_found', nothingHere);
      if (answerMethod(common, granted.site.visibility)) return pattern;
      await sendOf({ ...common, principal }, granted, place, address.path);
    } catch (error) {
      const isAbsent = granted !== null && isRegistryError(error, 'not_found') && prefersPage(request.headers.accept);
      if (isAbsent) await sendAbsentPage(common, granted!, place);
      else sendProblem(withoutPages, request, response, error);
    }
    return pattern;
  };
}

const pattern = '/sites/{org}/{site}';
