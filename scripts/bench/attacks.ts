// A process that attacks a server, for neighbours.ts: node attacks.ts NAME, with ATTACK_URL, ATTACK_KEY and ATTACK_SECRET. It begins when it is
// told "begin", and on "end" waits for the answers that are outstanding, tells how often each status was answered, and ends.
import { once } from 'node:events';
import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { hostileDocuments } from '../../test/compile/hostile-documents.ts';

type Attack = (signal: AbortSignal) => Promise<unknown>;

const { ATTACK_URL: url = '', ATTACK_KEY: key = '', ATTACK_SECRET: secret = '' } = process.env;
/** How long an answer is waited for after the attack. */
const patienceMilliseconds = 60_000;
/** No attack: what any busy process on the machine costs its neighbours. */
export const control = 'control: one busy core';
let serial = 0;
const answered = new Map<string, number>();

/** What makes each attack, before it begins, so that its bodies are ready. */
const attacks: Record<string, () => Attack> = {
  [control]: () => burn,
  'compile flood': () => {
    const chain = hostile('schema/ref-chain/3.1');
    return (signal) => repeat(8, signal, () => upload(`{"version":"${next()}","document":${chain}}`));
  },
  'hostile documents': () => {
    const names = ['yaml/merge-bomb/3.0', 'yaml/alias-wide/3.0', 'schema/enum-strings/2.0', 'yaml/braces-wrong/3.0'];
    const bodies = names.map((name) => JSON.stringify(hostile(name)));
    return (signal) => repeat(bodies.length, signal, (n) => upload(`{"version":"${next()}","document":${bodies[n]!}}`));
  },
  '4 million strings': () => {
    const document = Array.from({ length: 4_000_000 }, () => '');
    const body = gzipSync(JSON.stringify({ version: '1.0.0', document }));
    return (signal) => repeat(8, signal, () => upload(body, { 'content-encoding': 'gzip' }));
  },
  '4 million strings inside': () => {
    const document = { openapi: '3.1.0', 'x-a': Array.from({ length: 3_900_000 }, () => '') };
    const body = gzipSync(JSON.stringify({ version: '1.0.0', document }), { level: 1 });
    return (signal) => repeat(8, signal, () => upload(body, { 'content-encoding': 'gzip' }));
  },
  'half-sent requests': () => (signal) => halfSent(500, signal),
  'signed hooks': () => (signal) => repeat(32, signal, () => hook(secret)),
  'forged hooks': () => (signal) => repeat(32, signal, () => hook('not the secret')),
  'large valid uploads': () => {
    const document = JSON.stringify(large(1000));
    return (signal) => repeat(4, signal, () => upload(`{"version":"${next()}","document":${document}}`));
  },
};

/** Takes a whole processor, and asks the server for nothing. */
async function burn(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const end = performance.now() + 20; performance.now() < end;);
    answered.set('burnt', (answered.get('burnt') ?? 0) + 1);
    await delay(0);
  }
}

export const attackNames = Object.keys(attacks);

if (import.meta.main) {
  const attack = attacks[process.argv[2]!]!();
  const stop = new AbortController();
  process.send!('ready');
  await once(process, 'message');
  process.once('message', () => stop.abort());
  await attack(stop.signal);
  process.send!(Object.fromEntries(answered), () => process.exit());
}

/** `clients` that each do it again as soon as it is done, until the attack is over. */
function repeat(clients: number, signal: AbortSignal, work: (client: number) => Promise<number>): Promise<unknown> {
  return Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (!signal.aborted) {
        const status = await work(client).catch((error: Error) => error.name);
        answered.set(String(status), (answered.get(String(status)) ?? 0) + 1);
        // Whoever is refused at once comes back at once, but leaves the machine to those who measure.
        await delay(20);
      }
    }),
  );
}

/** Opens connections whose requests never end, and opens those that are closed again. */
async function halfSent(count: number, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const close = (socket: Socket) => {
    open.delete(socket);
    answered.set('closed', (answered.get('closed') ?? 0) + 1);
  };
  while (!signal.aborted) {
    while (open.size < count) {
      const socket = connect(Number(port), hostname);
      open.add(socket);
      socket.on('connect', () => void answered.set('connected', (answered.get('connected') ?? 0) + 1));
      socket.on('error', () => undefined).on('close', () => close(socket));
      socket.write('POST /v1/apis/big/spec HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n');
    }
    await delay(200);
  }
  for (const socket of open) socket.destroy();
}

async function upload(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<number> {
  return post('/v1/apis/big/spec', body, { authorization: `Bearer ${key}`, ...headers });
}

/** A push, with the fields that Gitea sends and about as many bytes. */
async function hook(signedWith: string): Promise<number> {
  const name = `loud/r${serial++}`;
  const commits = Array.from({ length: 20 }, (_, n) => ({
    id: String(n).padStart(40, '0'),
    message: 'What this commit changes, told in a sentence.',
    author: { name: 'A', email: 'a@example.com', username: 'a' },
    timestamp: '2026-01-01T00:00:00Z',
    modified: ['openapi.yaml'],
  }));
  const repository = { id: 1, name: name.slice(5), full_name: name, clone_url: `https://git.test/${name}.git` };
  const body = JSON.stringify({ ref: 'refs/heads/main', commits, repository });
  return post('/v1/hooks/gitea', body, {
    'x-gitea-event': 'push',
    'x-gitea-signature': createHmac('sha256', signedWith).update(body).digest('hex'),
  });
}

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Promise<number> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.timeout(patienceMilliseconds),
  });
  await response.arrayBuffer();
  return response.status;
}

/** The document, as JSON where it is JSON. */
function hostile(name: string): string {
  const { make } = hostileDocuments().find((one) => one.name === name)!;
  return Object.values(make().files)[0]!;
}

/** A valid document of about 600 bytes an operation. */
function large(operations: number): object {
  const operation = (n: number) => ({
    operationId: `op${n}`,
    description: 'What this operation does, told in a sentence. '.repeat(8),
    responses: { 200: { description: 'Done.', content: { 'application/json': { schema: { type: 'object' } } } } },
  });
  const paths = Object.fromEntries(Array.from({ length: operations }, (_, n) => [`/p${n}`, { get: operation(n) }]));
  return { openapi: '3.1.0', info: { title: 'Large', version: '1' }, paths };
}

function next(): string {
  return `1.0.${process.pid}${serial++}`;
}
