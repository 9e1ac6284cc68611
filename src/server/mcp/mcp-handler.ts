import { once } from 'node:events';
import type { IRouter } from 'express';
import { forbidden } from '../../model/errors.ts';
import type { Search } from '../../search/search.ts';
import type { Site } from '../../site/site.ts';
import { principalOf } from '../authenticate.ts';
import { readBody } from '../body/read-body.ts';
import { refuseMethod } from '../methods.ts';
import type { ReadLimit } from '../rate-limit.ts';
import { isOfOtherSite } from '../request.ts';

/** A question is short. */
const bodyLimits = { bytes: 64 * 1024, depth: 20, nodes: 2000 };

/**
 * `/mcp`: answers language models over streamable HTTP, without sessions: each request is one
 * question, for whoever its credential names.
 */
export function addMcp(
  app: IRouter,
  { site, url }: { site: Site; url: string },
  search: Search,
  limit: ReadLimit | null,
): void {
  app.post('/mcp', async (request, response) => {
    limit?.(request, response);
    if (isOfOtherSite(request, url, site.registry.config.proxies))
      throw forbidden('This address answers programs, and no pages of other sites.');
    const principal = principalOf(request);
    const body = await readBody(request, response, bodyLimits);
    response.set({ 'Cache-Control': 'no-store' });
    // Loaded for the first who asks.
    const [{ StreamableHTTPServerTransport }, { createMcpServer }] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/streamableHttp.js'),
      import('./mcp-server.ts'),
    ]);
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = createMcpServer({ site, search, principal }, site.registry.compiler.id);
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    try {
      await transport.handleRequest(request, response, body?.value);
      if (!response.writableFinished && !response.destroyed) await once(response, 'close');
    } finally {
      await server.close();
    }
  });
  app.all('/mcp', (_request, response) => refuseMethod(response, 'POST'));
}
