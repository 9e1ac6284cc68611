import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { devNull } from 'node:os';
import { expect, test, vi } from 'vitest';
import { openServed } from './served.ts';

const prlimit = '/usr/bin/prlimit';

/** The limit of open files that the system holds this process to. */
function limitOf(): string {
  const args = ['--pid', String(process.pid), '--nofile', '--noheadings', '--output', 'SOFT'];
  return execFileSync(prlimit, args, { encoding: 'utf8' }).trim();
}

/** Lowers the limit of open files. `take` opens files until the system refuses; `letGo` undoes both. */
function limitDescriptors() {
  const before = limitOf();
  const open: number[] = [];
  // Enough for the call that sets it back.
  execFileSync(prlimit, ['--pid', String(process.pid), `--nofile=${nextDescriptor() + 50}:`]);
  return {
    take: () => {
      try {
        for (;;) open.push(openSync(devNull, 'r'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
      }
    },
    letGo: () => {
      for (const descriptor of open.splice(0)) closeSync(descriptor);
      execFileSync(prlimit, ['--pid', String(process.pid), `--nofile=${before}:`]);
    },
  };
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
    const descriptors = limitDescriptors();
    try {
      descriptors.take();
      expect(await ask('/healthz')).toMatchObject({ status: 200 });
      // What ran before in this process may close a file of its own meanwhile: that one is taken, too.
      const unready = await vi.waitUntil(
        async () => {
          descriptors.take();
          const answer = await ask('/readyz');
          return answer.status === 200 ? undefined : answer;
        },
        { timeout: 60_000 },
      );
      expect(unready).toMatchObject({ status: 503, retryAfter: '1' });
      expect(JSON.parse(unready.text)).toMatchObject({ detail: expect.stringContaining('no file descriptors') });
    } finally {
      descriptors.letGo();
    }
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
    // Connections are accepted again.
    const socket = connect(served.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    agent.destroy();
  },
);
