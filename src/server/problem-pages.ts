import { Router, type Request, type Response } from 'express';
import { RegistryError } from '../model/errors.ts';
import { problemPage, problemsPage } from '../site/pages/message-pages.ts';
import type { Site } from '../site/site.ts';
import { isProblemCode, problemTypes, type ProblemCode } from './error-answers.ts';
import { nothingHere } from './nothing-here.ts';
import { onlyGet } from './methods.ts';
import { prefersPage } from './read/negotiate.ts';
import { bytesOf, pageSharing, sendPage } from './send-page.ts';

/**
 * The pages that `type` URLs of problems lead to: `/problems` and `/problems/{code}`, as JSON or
 * HTML.
 */
export function createProblemPages(site: Site): Router {
  const { config } = site.registry;
  const codes = Object.keys(problemTypes).filter(isProblemCode);
  const headers = pageSharing(config, { isPublic: true });
  const shared = { 'Cache-Control': 'public, max-age=3600', Vary: 'Accept' };
  async function sendAll(request: Request, response: Response): Promise<void> {
    if (!prefersPage(request.headers.accept)) {
      response.set(shared).json({ items: codes.map(describe) });
      return;
    }
    const kinds = codes.map((code) => ({ code, ...problemTypes[code] }));
    await sendPage({ request, response }, site.registry, bytesOf(problemsPage(site, kinds)), { headers });
  }

  async function sendOne(code: string, request: Request, response: Response): Promise<void> {
    if (!isProblemCode(code)) throw new RegistryError('not_found', nothingHere);
    if (!prefersPage(request.headers.accept)) {
      response.set(shared).json(describe(code));
      return;
    }
    await sendPage({ request, response }, site.registry, bytesOf(problemPage(site, { code, ...problemTypes[code] })), {
      headers,
    });
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/problems', (request, response) => sendAll(request, response));
  router.get('/problems/:code', (request, response) => sendOne(request.params.code, request, response));
  router.all(['/problems', '/problems/:code'], onlyGet);

  function describe(code: ProblemCode): object {
    return { type: `${site.url}/problems/${code}`, code, ...problemTypes[code] };
  }
  return router;
}
