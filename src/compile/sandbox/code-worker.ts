// The process inside a sandbox that renders pages with code. The highlighter takes long to load, so
// it is a process of its own, which starts only when a page needs it.
import { openHighlight } from '../../render/site/highlight.ts';
import { renderPages } from '../../render/site/render-pages.ts';
import { closeProcess } from './close-process.ts';
import type { ParentMessage } from './sandbox-messages.ts';

const highlight = openHighlight();
const send = closeProcess();

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('message', (message: ParentMessage) => {
  if (message.type !== 'pages') throw new TypeError(`This sandbox renders pages, and not ${message.type}.`);
  // From the kernel, because a sandbox without /proc has no other source.
  const rss = process.resourceUsage().maxRSS * 1024;
  send({ type: 'paged', pages: renderPages(message.pages, highlight), rss });
});
send({ type: 'ready' });
