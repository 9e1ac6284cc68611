import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runStele, serveStele } from './stele.ts';

const root = new URL('../../', import.meta.url).pathname;

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'stele-stop-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

test(`SIGTERM to npm start ends the server too`, async () => {
  const config = join(folder, 'registry.config.ts');
  await writeFile(config, 'export default {};');
  const args = ['start', '--silent', '--', '--port', '0', '--data', join(folder, 'data'), '--config', config];
  // A group of its own, so that nothing is left when this test fails.
  const npm = spawn('npm', args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    // The pipe closes when the last process that holds it ends: the server, too.
    const ended = once(npm, 'close');
    for await (const line of createInterface({ input: npm.stdout })) if (line.startsWith('stele listening on')) break;
    npm.stdout.resume();
    npm.kill('SIGTERM');
    // Null: npm passes the signal on, and ends by it.
    expect((await ended)[0]).toBeOneOf([0, null, 143]);
  } finally {
    killGroup(npm.pid!);
  }
});

test(`SIGHUP stops the server in order, as SIGTERM does`, async () => {
  const config = join(folder, 'registry.config.ts');
  await writeFile(config, 'export default { drain: 2 };');
  const stele = await serveStele(['--data', join(folder, 'data'), '--config', config], { cwd: folder });
  const ended = stele.stop('SIGHUP');
  // Load balancers are told, and everything else is answered, for as long as the configuration says.
  await expect.poll(async () => (await fetch(`${stele.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${stele.url}/healthz`)).status).toBe(200);
  expect(await ended).toBe(0);
});

test('a bug that nobody caught is logged with its stack and does not end the server', async () => {
  const config = join(folder, 'registry.config.ts');
  const bugs = "setTimeout(() => { throw new Error('thrown') }); Promise.reject(new Error('rejected'));";
  await writeFile(config, `process.on('SIGUSR2', () => { ${bugs} }); export default {};`);
  const stele = await serveStele(['--data', join(folder, 'data'), '--config', config], { cwd: folder });
  process.kill(stele.pid, 'SIGUSR2');
  for (const [kind, message] of [
    ['uncaughtException', 'thrown'],
    ['unhandledRejection', 'rejected'],
  ]) {
    const line = await stele.logged((each) => each['kind'] === kind);
    expect(line).toMatchObject({ level: 50, msg: 'a bug: nobody caught this' });
    expect(line['error']).toContain(`Error: ${message}\n    at `);
  }
  expect((await fetch(`${stele.url}/healthz`)).status).toBe(200);
  expect(await stele.stop('SIGTERM')).toBe(0);
});

const addressLimit = 1000;

test('of several workers one that dies is replaced, all share the port and the rate limits, and one signal stops all', async () => {
  const config = join(folder, 'registry.config.ts');
  await writeFile(config, `export default { rateLimit: { window: 3600, address: ${addressLimit} } };`);
  const args = ['--data', join(folder, 'data'), '--config', config, '--workers', '2'];
  const stele = await serveStele(args, { cwd: folder });
  const isThere = () =>
    fetch(`${stele.url}/healthz`, { headers: { connection: 'close' } }).then(
      ({ status }) => status,
      () => null,
    );
  let asked = 0;
  /** Asks for something. Returns how many requests the worker that answers has not counted yet. */
  const uncounted = async () => {
    asked++;
    const { headers } = await fetch(`${stele.url}/v1/orgs/x`, { headers: { connection: 'close' } });
    return Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1]) - (addressLimit - asked);
  };
  const children = () => readFileSync(`/proc/${stele.pid}/task/${stele.pid}/children`, 'utf8').trim().split(' ');
  const before = children();
  expect(before).toHaveLength(2);
  while (asked < 40) await uncounted();
  await expect.poll(uncounted, { interval: 300 }).toBe(0);
  process.kill(Number(before[0]), 'SIGKILL');
  await expect.poll(isThere).toBe(200);
  await expect.poll(children).not.toContain(before[0]);
  await expect.poll(() => children().length).toBe(2);
  await expect.poll(isThere).toBe(200);
  const after = children();
  expect(await stele.stop('SIGTERM')).toBe(0);
  for (const pid of after) expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});

test(`a worker that cannot start stops all, with its own exit code`, async () => {
  const config = join(folder, 'registry.config.ts');
  await writeFile(config, "export default { store: { kind: 'fs', path: '/proc/x' } };");
  const ended = await runStele(['serve', '--port', '0', '--workers', '2', '--config', config], { cwd: folder });
  expect([ended.code, ended.stdout]).toEqual([3, '']);
  expect(await runStele(['serve', '--workers', 'many'], { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"many" is not a number of workers'),
  });
});

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended, as it should.
  }
}
