import { connect } from 'node:net';

/** An HTTP answer as it came over the wire. */
export interface Answer {
  status: number;
  /** Status line and fields, as sent. */
  head: string;
  /** Values by lower-case name; of a repeated field, joined with `, `. */
  headers: ReadonlyMap<string, string>;
  body: Buffer;
}

/** A request as it goes over the wire: nothing is encoded, checked or added but `Host` and `Connection: close`. */
export interface Ask {
  method?: string;
  target: string;
  headers?: readonly (readonly [string, string])[];
}

/** Sends one request over a socket of its own, and reads the answer to its end. */
export async function ask(port: number, { method = 'GET', target, headers = [] }: Ask): Promise<Answer> {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: registry.test', 'Connection: close'];
  lines.push(...headers.map(([name, value]) => `${name}: ${value}`));
  return parseAnswer(await exchange(port, `${lines.join('\r\n')}\r\n\r\n`));
}

/** Sends these bytes, and reads until the server closes. */
export function exchange(port: number, bytes: string | Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
}

export function parseAnswer(bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`No HTTP answer: ${JSON.stringify(bytes.toString('latin1').slice(0, 200))}`);
  const head = bytes.subarray(0, end).toString('latin1');
  const [statusLine, ...fields] = head.split('\r\n');
  const headers = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return { status: Number(statusLine!.split(' ')[1]), head, headers, body: bytes.subarray(end + 4) };
}

/** The answer without what differs between any two: the date, and the request's identifier. */
export function anonymise({ head, body }: Answer): string {
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  const lines = head.split('\r\n').filter((line) => !line.startsWith('Date: '));
  return `${lines.join('\n')}\n\n${body.toString('latin1')}`.replace(uuid, 'UUID');
}
