import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask } from '../server/http.ts';
import { serveStele } from './stele.ts';

test('where descriptors run out, requests get a time to try again, and are served afterwards', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-connections-'));
  const stele = await serveStele(['--data', join(folder, 'data')], { cwd: folder, descriptors: 200 });
  try {
    const port = Number(new URL(stele.url).port);
    // Their bodies never come: each keeps a socket busy.
    const fields = ['Host: x', 'Content-Type: application/json', 'Content-Length: 9', 'Expect: 100-continue'];
    const head = ['POST /v1/hooks/github HTTP/1.1', ...fields].join('\r\n');
    const sockets: Socket[] = [];
    const answers: string[] = [];
    for (let i = 0; i < 300; i++) {
      const socket = connect(port, '127.0.0.1').setEncoding('utf8');
      sockets.push(socket);
      socket.write(`${head}\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [string];
      answers.push(answer.slice(0, 12));
      socket.on('error', () => undefined);
    }
    // Half of the descriptors.
    expect(answers).toEqual([...Array(100).fill('HTTP/1.1 100'), ...Array(200).fill('HTTP/1.1 503')]);
    for (const target of ['/readyz', '/', '/@stele/apis']) {
      const { status, headers } = await ask(port, { target });
      expect([target, status, headers.get('retry-after')]).toEqual([target, 503, '1']);
    }
    expect(stele.log.filter(({ msg }) => msg === 'request failed')).toEqual([]);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => ask(port, { target: '/readyz' }).then(({ status }) => status)).toBe(200);
    expect(await stele.stop()).toBe(0);
  } finally {
    await stele.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
