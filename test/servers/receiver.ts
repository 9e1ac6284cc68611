import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook as Verifier } from 'standardwebhooks';
import type { Event } from '../../src/model/event.ts';

/** One request that an endpoint was sent. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: Event;
}

/** An endpoint for events, over a real socket. */
export interface Receiver extends AsyncDisposable {
  url: string;
  /** In the order in which they came. */
  received: Received[];
  /** Answers with these; 204 when it is left alone. */
  answer: (request: Received) => Promise<Answer> | Answer;
  /** Resolves when so many have come. */
  got(count: number): Promise<Received[]>;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export async function openReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const one: Received = { path: request.url!, headers: request.headers, body, event: JSON.parse(body) as Event };
      receiver.received.push(one);
      for (const wake of waiting) wake();
      const { status, headers = {}, body: answer } = await receiver.answer(one);
      response.writeHead(status, headers).end(answer);
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://${host}:${(server.address() as AddressInfo).port}/events`,
    received: [],
    answer: () => ({ status: 204 }),
    async got(count) {
      while (receiver.received.length < count) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
      return receiver.received;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Whether the secret signed what was received, whenever that was. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  const signature = new Verifier(secret).sign(String(headers['webhook-id']), at, body);
  return String(headers['webhook-signature']).split(' ').includes(signature);
}
