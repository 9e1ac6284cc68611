import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What yaml-language-server says of a file where its catalogue of schemas is at this URL. */
export async function diagnose(catalogue: string, uri: string, text: string): Promise<string[]> {
  const program = fileURLToPath(import.meta.resolve('yaml-language-server/bin/yaml-language-server'));
  const child = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const send = (message: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const settings = { validate: true, schemaStore: { enable: true, url: catalogue } };
  send({
    id: 1,
    method: 'initialize',
    params: { processId: null, rootUri: null, capabilities: { workspace: { configuration: true } } },
  });
  try {
    let rest = Buffer.alloc(0);
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, piece]);
      for (;;) {
        const head = /^(?:[^\r]+\r\n)*?Content-Length: (\d+)\r\n(?:[^\r]+\r\n)*\r\n/.exec(rest.toString('latin1'));
        if (head === null || rest.length < head[0].length + Number(head[1])) break;
        const end = head[0].length + Number(head[1]);
        const message = JSON.parse(rest.subarray(head[0].length, end).toString()) as {
          id?: number;
          method?: string;
          params?: { items?: { section: string }[]; uri?: string; diagnostics?: { message: string }[] };
        };
        rest = rest.subarray(end);
        if (message.id === 1 && message.method === undefined) {
          send({ method: 'initialized', params: {} });
          send({
            method: 'textDocument/didOpen',
            params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
          });
        } else if (message.method === 'workspace/configuration')
          send({
            id: message.id,
            result: message.params!.items!.map(({ section }) => (section === 'yaml' ? settings : null)),
          });
        else if (message.method === 'textDocument/publishDiagnostics' && message.params!.diagnostics!.length > 0)
          return message.params!.diagnostics!.map((each) => each.message);
        else if (message.id !== undefined && message.method !== undefined) send({ id: message.id, result: null });
      }
    }
    return [];
  } finally {
    child.kill();
  }
}
