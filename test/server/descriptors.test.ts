import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { devNull } from 'node:os';
import { expect, test } from 'vitest';
import { openServed } from './served.ts';

const prlimit = '/usr/bin/prlimit';

/** The limit of open files that the system holds this process to. */
function limitOf(): string {
  const args = ['--pid', String(process.pid), '--nofile', '--noheadings', '--output', 'SOFT'];
  return execFileSync(prlimit, args, { encoding: 'utf8' }).trim();
}

/** Opens files until the system refuses. Returns what lets go of them. */
function takeAllDescriptors(): () => void {
  const before = limitOf();
  const open: number[] = [];
  // Enough for the call that sets it back.
  execFileSync(prlimit, ['--pid', String(process.pid), `--nofile=${nextDescriptor() + 50}:`]);
  const letGo = () => {
    for (const descriptor of open.splice(0)) closeSync(descriptor);
    execFileSync(prlimit, ['--pid', String(process.pid), `--nofile=${before}:`]);
  };
  try {
    for (;;) open.push(openSync(devNull, 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EMFILE') return letGo;
    letGo();
    throw error;
  }
}

function nextDescriptor(): number {
  const descriptor = openSync(devNull, 'r');
  closeSync(descriptor);
  return descriptor;
}

test.skipIf(!existsSync(prlimit))(
  'without file descriptors the server says so, is not ready, and recovers',
  async () => {
    await using served = await openServed();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (path: string) => {
      const sent = request({ host: '127.0.0.1', port: served.port, path, agent }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += String(piece);
      return { status: response.statusCode, retryAfter: response.headers['retry-after'], text };
    };
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
    const letGo = takeAllDescriptors();
    try {
      expect(await ask('/healthz')).toMatchObject({ status: 200 });
      const unready = await ask('/readyz');
      expect(unready).toMatchObject({ status: 503, retryAfter: '1' });
      expect(JSON.parse(unready.text)).toMatchObject({ detail: expect.stringContaining('no file descriptors') });
    } finally {
      letGo();
    }
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
    // Connections are accepted again.
    const socket = connect(served.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    agent.destroy();
  },
);
