import { Router } from 'express';
import { RegistryError } from '../model/errors.ts';
import { isProblemCode, problemTypes, type ProblemCode } from './errors.ts';
import { nothingHere } from './nothing-here.ts';
import { onlyGet } from './methods.ts';

/** What every problem's `type` URL leads to: `/problems`, and `/problems/{code}` as JSON or as a page for people. */
export function createProblemPages(url: string): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/problems', (_request, response) => {
    response.set('Cache-Control', 'public, max-age=3600');
    response.json({ items: Object.keys(problemTypes).filter(isProblemCode).map(describe) });
  });
  router.get('/problems/:code', (request, response) => {
    const { code } = request.params;
    if (!isProblemCode(code)) throw new RegistryError('not_found', nothingHere);
    response.set({ 'Cache-Control': 'public, max-age=3600', Vary: 'Accept' });
    if (request.accepts(['json', 'html']) === 'html') response.type('html').send(pageFor(code));
    else response.json(describe(code));
  });
  router.all(['/problems', '/problems/:code'], onlyGet);

  function describe(code: ProblemCode): object {
    return { type: `${url}/problems/${code}`, code, ...problemTypes[code] };
  }
  return router;
}

/** A page of constants alone: nothing in it comes from a request. */
function pageFor(code: ProblemCode): string {
  const { status, title, meaning } = problemTypes[code];
  const text = meaning
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/`([^`]*)`/g, '<code>$1</code>');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body><main><h1>${title}</h1><p><code>${code}</code>, status ${status}</p><p>${text}</p></main></body>
</html>
`;
}
