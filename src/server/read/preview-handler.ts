import type { IRouter, Request, Response } from 'express';
import { notFound } from '../../model/errors.ts';
import { openPreview } from '../../registry/preview.ts';
import { dayOf } from '../../site/pages/describe-version.ts';
import { relatedTo } from '../../site/pages/listings.ts';
import { resourcePage } from '../../site/pages/resource-page.ts';
import { imageHosts } from '../../site/pages/show-images.ts';
import type { Site } from '../../site/site.ts';
import { principalOf } from '../authenticate.ts';
import { onlyGet } from '../methods.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';
import type { ReadLimit } from '../rate-limit.ts';
import { nameRoute } from '../request.ts';
import type { ServerContext } from '../server-context.ts';
import { sendSitePreview } from '../../sites/server/send-site.ts';
import { splitTarget } from './read-request.ts';

/** The token, and the raw path after it. */
const pattern = /^\/previews\/([^/]+)(\/.*)?$/;

/**
 * `/previews/{token}`: the page of a document as a pull request would publish it, or (with what is
 * below it) a site that is not published. No cache keeps it, no search engine lists it, and no link
 * on it tells where its reader came from.
 */
export function addPreviews(app: IRouter, context: ServerContext & { site: Site }, limit: ReadLimit | null): void {
  const { site } = context;

  async function sendDocument(token: string, request: Request, response: Response): Promise<void> {
    const principal = principalOf(request);
    const opened = await openPreview(site.registry, principal, token);
    if (opened === null) throw notFound('There is no such preview, or it has expired. Make another one.');
    const { registry, granted, expiresAt } = opened;
    const related = await relatedTo({ ...site, registry }, granted, principal);
    const { text } = await resourcePage({ ...site, registry }, granted, related, { expires: dayOf(expiresAt) });
    const headers = {
      ...pageSharing(registry.config, { isPublic: false, images: imageHosts(registry, granted.resource.org) }),
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
    };
    await sendPage({ request, response }, registry, bytesOf(text), { headers });
  }

  app.get(pattern, async (request, response) => {
    nameRoute(request, '/previews/{token}');
    limit?.(request, response);
    const { path, query } = splitTarget(request.url);
    const [, token = '', rest = ''] = pattern.exec(path) ?? [];
    const asked = { request, response, principal: principalOf(request) };
    if (await sendSitePreview(context, asked, token, rest, query)) return;
    await sendDocument(rest === '' ? token : '', request, response);
  });
  app.all(pattern, onlyGet);
}
