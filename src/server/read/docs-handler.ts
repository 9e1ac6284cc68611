import { Router, type Request, type Response } from 'express';
import { RegistryError } from '../../model/errors.ts';
import { createDocs } from '../../site/docs/docs-page.ts';
import type { Site } from '../../site/site.ts';
import type { ServerContext } from '../server-context.ts';
import { isProblemCode, problemTypes } from '../error-answers.ts';
import { onlyGet } from '../methods.ts';
import { chooseType } from './negotiate.ts';
import { nothingHere } from '../nothing-here.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';
import { ownDescription } from '../v1/api-description.ts';

type Form = 'text/html' | 'text/markdown';

/**
 * Stele's documentation: `/docs/` and `/docs/{page}` as HTML unless the client prefers Markdown,
 * and `…/index.md` as Markdown.
 */
export function createDocRoutes(site: Site, { commands = [] }: Pick<ServerContext, 'commands'>): Router {
  const problems = Object.entries(problemTypes).flatMap(([code, kind]) =>
    isProblemCode(code) ? [{ code, ...kind }] : [],
  );
  const management = () => ownDescription().document;
  const docs = createDocs(site, { problems, commands, management });
  const { config } = site.registry;
  const headers = pageSharing(config, { isPublic: true });

  async function send(name: string, request: Request, response: Response, form: Form): Promise<void> {
    const text = form === 'text/markdown' ? docs.markdown(name) : docs.html(name);
    if (text === null) throw new RegistryError('not_found', nothingHere);
    await sendPage({ request, response }, site.registry, bytesOf(text), {
      mediaType: `${form}; charset=utf-8`,
      headers,
    });
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.get(['/docs', '/docs/'], (request, response) => send('index', request, response, formOf(request)));
  router.get('/docs/index.md', (request, response) => send('index', request, response, 'text/markdown'));
  router.get(['/docs/:page', '/docs/:page/'], (request, response) =>
    send(nameOf(request), request, response, formOf(request)),
  );
  router.get('/docs/:page/index.md', (request, response) => send(nameOf(request), request, response, 'text/markdown'));
  router.all(['/docs', '/docs/', '/docs/index.md', '/docs/:page', '/docs/:page/', '/docs/:page/index.md'], onlyGet);
  return router;
}

const forms = ['text/html', 'text/markdown'];

function formOf(request: Request): Form {
  const { accept } = request.headers;
  return accept !== undefined && chooseType(accept, forms) === 'text/markdown' ? 'text/markdown' : 'text/html';
}

/** Name of the page in the path. The first page has only the URL `/docs/`. */
function nameOf({ params }: Request): string {
  const page = String(params['page']);
  if (page === 'index') throw new RegistryError('not_found', nothingHere);
  return page;
}
