import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { refuse } from './s3.ts';

/** What goes wrong with one request. */
export type HttpFault =
  | { kind: 'status'; status: number; code: string } // answered here, and not passed on
  | { kind: 'reset' } // the connection is cut before it is passed on
  | { kind: 'lost' } // passed on, and the connection is cut before the answer
  | { kind: 'later'; passOn: Promise<void> } // the connection is cut, and it is passed on afterwards
  | { kind: 'silent' } // never answered, never passed on
  | { kind: 'twice' } // passed on twice; the second answer is given
  | { kind: 'cut' } // the second half of the answer's body is missing
  | { kind: 'slow'; milliseconds: number };

/** A proxy in front of an HTTP server on loopback. */
export interface FaultProxy extends AsyncDisposable {
  endpoint: string;
  /** How often each method was asked for. */
  seen: Record<string, number>;
  /** Chooses what happens to a request; null: it is passed on as it is. */
  choose: (request: IncomingMessage) => HttpFault | null;
  /** Ends when all requests that were cut off have been passed on. */
  settled(): Promise<void>;
}

/** Starts a proxy to a port. It passes the header `Host` on, which signatures cover. */
export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const late: Promise<unknown>[] = [];

  function pass(request: IncomingMessage, body: Buffer): Promise<{ answer: IncomingMessage; bytes: Buffer }> {
    return new Promise((resolve, reject) => {
      const { method, url, headers } = request;
      const outgoing = send({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
        buffer(answer).then((bytes) => resolve({ answer, bytes }), reject);
      });
      outgoing.once('error', reject).end(body);
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    proxy.seen[request.method!] = (proxy.seen[request.method!] ?? 0) + 1;
    const fault = proxy.choose(request);
    if (fault?.kind === 'silent') return;
    if (fault?.kind === 'reset') return void response.destroy();
    if (fault?.kind === 'status') return refuse(response, fault.status, fault.code);
    if (fault?.kind === 'later') {
      late.push(fault.passOn.then(() => pass(request, body)));
      return void response.destroy();
    }
    if (fault?.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    if (fault?.kind === 'twice') await pass(request, body);
    const { answer, bytes } = await pass(request, body);
    if (fault?.kind === 'lost') return void response.destroy();
    response.writeHead(answer.statusCode!, answer.headers);
    if (fault?.kind !== 'cut') return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.byteLength / 2), () => response.destroy());
  }

  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: {},
    choose: () => null,
    settled: async () => void (await Promise.all(late)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
