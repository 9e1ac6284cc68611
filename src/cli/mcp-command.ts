import { finished } from 'node:stream/promises';
import { Command } from 'commander';
import { operator, withStore, type CommonOptions } from './command-context.ts';
import { readOpenTarget } from './registry-client.ts';

/** `stele mcp`: answers the questions of one language model about contracts, over stdin and stdout. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Answer questions of a language model about contracts, on stdin and stdout (MCP).')
    .option('--registry <url>', 'ask the registry at this URL, with your key if you have one')
    .action(async (_options: unknown, command: Command) => {
      const { registry } = command.optsWithGlobals<CommonOptions & { registry?: string }>();
      if (registry !== undefined) return passOn(registry);
      await withStore(command, async (opened) => {
        const [{ createMcpServer }, { createSearch }, { createSite }, { StdioServerTransport }] = await Promise.all([
          import('../server/mcp/mcp-server.ts'),
          import('../search/search.ts'),
          import('../site/site.ts'),
          import('@modelcontextprotocol/sdk/server/stdio.js'),
        ]);
        const site = createSite(opened, opened.config.url ?? 'http://localhost');
        const principal = { kind: 'operator', id: operator.actor.slice('operator:'.length) } as const;
        const server = createMcpServer({ site, search: createSearch(opened), principal }, opened.compiler.id);
        await server.connect(new StdioServerTransport());
        await finished(process.stdin, { writable: false });
        await server.close();
      });
    });
}

async function passOn(registry: string): Promise<void> {
  const { base, key } = readOpenTarget(registry);
  const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  const here = new StdioServerTransport();
  // The key must not go to another server.
  const requestInit = {
    redirect: 'error',
    headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
  } as const;
  const there = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit });
  const running = new Set<Promise<void>>();
  const begin = (work: Promise<void>, failed: (reason: string) => Promise<void>): void => {
    const run = work
      .catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)))
      // The client is gone, and ends this command.
      .catch(() => undefined)
      .finally(() => running.delete(run));
    running.add(run);
  };
  type Message = Parameters<typeof here.send>[0];
  Object.assign(there, { onmessage: (message: Message) => begin(here.send(message), async () => undefined) });
  const ask = (message: Message) =>
    begin(there.send(message), async (reason) => {
      if (!('id' in message) || !('method' in message)) return;
      await here.send({ jsonrpc: '2.0', id: message.id, error: { code: -32_000, message: `${registry}: ${reason}` } });
    });
  Object.assign(here, { onmessage: ask });
  await Promise.all([here.start(), there.start()]);
  await finished(process.stdin, { writable: false });
  await Promise.all(running);
  await Promise.all([here.close(), there.close()]);
}
