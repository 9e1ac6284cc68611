import type { IncomingMessage, ServerResponse } from 'node:http';
import { anonymous } from '../../model/access.ts';
import { parseAddress } from '../../model/address.ts';
import { siteAddress, type SiteName } from '../model/documentation-site.ts';
import { findFile, grantSite } from '../registry/read-site.ts';
import { placeAtHost } from '../pages/placed.ts';
import type { Site } from '../../site/site.ts';
import { sendAsset } from '../../server/send-page.ts';
import type { Authenticate } from '../../server/authenticate.ts';
import { basePathOf, type ServerContext } from '../../server/server-context.ts';
import type { Face } from '../../server/door.ts';
import { sendProblem, absent } from '../../server/error-answers.ts';
import { answerMethod } from '../../server/methods.ts';
import { splitTarget } from '../../server/read/read-request.ts';
import type { ReadLimit } from '../../server/rate-limit.ts';
import { orAbsentPage, sendOf } from './send-site.ts';

/** The face of a site at its own host name. */
export type OwnHost = (name: SiteName) => Face;

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

  async function answer(request: IncomingMessage, response: ServerResponse, name: SiteName): Promise<void> {
    const { path, query } = splitTarget(request.url!);
    const { site } = context;
    const common = { context, links: site.links, request, response, query };
    limit?.(request, response);
    const principal = request.headers.authorization === undefined ? anonymous : await authenticate(request);
    const granted = await grantSite(context.registry, principal, name);
    const view = granted && { site, granted, placed: placeAtHost(site, name), reader: principal };
    await orAbsentPage(common, view, async () => {
      const isAsset = path.startsWith(`${base}/assets/`);
      if (isAsset && (granted === null || findFile(granted, path.slice(1)) === null)) {
        if (!answerMethod(common, 'public')) await sendAsset(site, common, path.slice(base.length));
        return;
      }
      const address = parseAddress(siteAddress(name) + path);
      if (view === null || address?.kind !== 'site') throw absent();
      if (answerMethod(common, view.granted.site.visibility)) return;
      await sendOf({ ...common, principal, view }, address.path);
    });
  }

  return (name) => ({
    answer: (request, response) => answer(request, response, name),
    refuse: (request, response, error) => sendProblem(withoutPages, request, response, error),
    routeOf: () => '/sites/{org}/{site}',
  });
}
