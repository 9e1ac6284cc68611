import { randomUUID } from 'node:crypto';
import { Router, type Response } from 'express';
import { escapeXml } from '../model/escape.ts';
import type { Site } from '../site/site.ts';

/**
 * `stele serve --dev`: open pages reload when their sources change. Without the option nothing of
 * this is served.
 */
export type Dev = ReturnType<typeof createDev>;

const script = `const { pathname, searchParams } = new URL(import.meta.url);
new EventSource(pathname.replace(/\\.js$/, '')).onmessage = ({ data }) => {
  if (data !== searchParams.get('state')) location.reload();
};
`;

export function createDev() {
  // Pages contain the state in which they were rendered, so that a change before they listen, or a
  // restart, is noticed.
  let state: string = randomUUID();
  const open = new Set<Response>();

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/-/dev.js', (_request, response) => {
    response.set({ 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-store' }).end(script);
  });
  router.get('/-/dev', (request, response) => {
    response.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    if (request.method === 'HEAD') return void response.end();
    response.write(`retry: 500\ndata: ${state}\n\n`);
    open.add(response);
    response.once('close', () => open.delete(response));
  });

  return {
    router,
    /** The same site, with pages that listen for changes. A page that cannot be rendered shows the error. */
    listening: (site: Site): Site => ({
      ...site,
      part: (template, data) => generated(() => site.part(template, data)),
      page(template, data) {
        const tag = `<script type="module" src="${site.links.path('/-/dev.js')}?state=${state}"></script>`;
        return generated(() => site.page(template, data)).replace('</head>', () => `${tag}</head>`);
      },
    }),
    /** Makes every open page reload. */
    changed(): void {
      state = randomUUID();
      for (const response of open) response.write(`data: ${state}\n\n`);
    },
    /** Ends the connections of open pages. They reconnect to the next server. */
    close(): void {
      for (const response of open) response.end();
    },
  };
}

function generated(make: () => string): string {
  try {
    return make();
  } catch (error) {
    const text = escapeXml(error instanceof Error ? error.message : String(error));
    return `<!doctype html><html lang="en"><head><title>A template is broken</title></head><body><pre>${text}</pre></body></html>`;
  }
}
