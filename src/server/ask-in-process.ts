import { Agent, createServer, request as send, type IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import type { Registry } from '../registry/registry.ts';
import type { Answered, Answers, PageRequest } from '../site/answers.ts';
import type { CommandText } from '../site/docs/docs-commands.ts';
import type { Site } from '../site/site.ts';
import { createApp } from './app.ts';
import { basePathOf } from './base-path.ts';
import type { ServerContext } from './server-context.ts';

/**
 * Answers requests of this process over pipes, without sign-in, management API or limits. Nothing
 * else can connect.
 */
export function openAnswers(
  registry: Registry,
  site: Site,
  queue: ServerContext['queue'],
  commands: readonly CommandText[] = [],
): Answers {
  const { reads: _, ...rateLimit } = registry.config.rateLimit;
  const unlimited = { ...registry, config: { ...registry.config, rateLimit } };
  const app = createApp({ registry: unlimited, site, queue, url: site.url, isReady: () => true, commands });
  const base = basePathOf(site.url);
  const server = createServer({ keepAliveTimeout: 0 }, app);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  agent.createConnection = () => {
    const [ours, theirs] = duplexPair();
    server.emit('connection', theirs);
    // The agent calls these on sockets that it keeps alive. A pipe needs none of them.
    return Object.assign(ours, { setKeepAlive: ignore, setTimeout: ignore, ref: ignore, unref: ignore });
  };
  return {
    ask: (asked) => ask(agent, { ...asked, path: base + asked.path }),
    async close() {
      agent.destroy();
      server.closeAllConnections();
    },
  };
}

function ignore(): void {}

async function ask(
  agent: Agent,
  { path, method = 'GET', accept, coding = 'identity' }: PageRequest,
): Promise<Answered> {
  const headers = { 'Accept-Encoding': coding, ...(accept !== undefined && { Accept: accept }) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send({ agent, host: 'registry.invalid', path, method, headers }, resolve).once('error', reject).end();
  });
  // `stream/consumers` would make a Blob of it first.
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode!, headers: response.headers as Answered['headers'], body };
}
