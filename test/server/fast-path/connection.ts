import { once } from 'node:events';
import { connect } from 'node:net';
import { parseAnswer, type Answer, type Ask } from '../http.ts';

/** A connection that is kept alive. */
export interface Connection {
  ask(asked: Ask): Promise<Answer>;
  /** Sends requests in one piece. Returns their answers in order. */
  askAll(asked: readonly Ask[]): Promise<Answer[]>;
  /** Resolves when the server has ended it. */
  ended(): Promise<void>;
  close(): void;
}

/** Connects to a server. After an answer that ends the connection, it connects again. */
export async function openConnection(port: number): Promise<Connection> {
  let open = await start(port);
  async function askAll(asked: readonly Ask[]): Promise<Answer[]> {
    if (open.isEnded()) open = await start(port);
    open.send(asked.map(encode).join(''));
    const answers: Answer[] = [];
    for (const { method } of asked) answers.push(await open.next(method === 'HEAD'));
    return answers;
  }
  return {
    askAll,
    ask: async (asked) => (await askAll([asked]))[0]!,
    ended: () => open.ended,
    close: () => open.close(),
  };
}

function encode({ method = 'GET', target, headers = [] }: Ask): string {
  const host = headers.some(([name]) => name === 'Host') ? [] : ['Host: registry.test'];
  const lines = [`${method} ${target} HTTP/1.1`, ...host, ...headers.map((field) => field.join(': '))];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

async function start(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let left = Buffer.alloc(0);
  let isEnded = false;
  let wake = (): void => undefined;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk]);
    wake();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isEnded = true;
    end();
    wake();
  });
  async function until<T>(find: () => T | null): Promise<T> {
    for (;;) {
      const taken = find();
      if (taken !== null) return taken;
      if (isEnded) throw new Error(`The server ended the connection within an answer: ${left.toString('latin1')}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  /** The first answer in what is left, if it is there whole. */
  function take(isHead: boolean): Answer | null {
    const headEnd = left.indexOf('\r\n\r\n');
    if (headEnd < 0) return null;
    const head = parseAnswer(left.subarray(0, headEnd + 4));
    const hasBody = !isHead && head.status !== 304 && head.status !== 204;
    const length = hasBody ? Number(head.headers.get('content-length') ?? 0) : 0;
    if (left.length < headEnd + 4 + length) return null;
    const answer = parseAnswer(left.subarray(0, headEnd + 4 + length));
    left = left.subarray(headEnd + 4 + length);
    if (head.headers.get('connection') === 'close') isEnded = true;
    return answer;
  }
  return {
    ended,
    isEnded: () => isEnded,
    send: (text: string) => void socket.write(text),
    next: (isHead: boolean) => until(() => take(isHead)),
    close: () => void socket.destroy(),
  };
}
