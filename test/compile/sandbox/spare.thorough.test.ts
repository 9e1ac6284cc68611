import { mkdtemp, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { startChild, type Child } from '../../../src/compile/sandbox/child.ts';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
import { serve } from '../../../src/cli/serve/serve.ts';
import { checkConfig } from '../../../src/config/load-config.ts';
import { limits } from '../limits.ts';
import { inputOf, memoryLoad } from './memory-load.ts';

vi.mock('../../../src/compile/sandbox/child.ts', { spy: true });
afterEach(() => void vi.mocked(startChild).mockClear());

const files = { 'a.yaml': 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\n' };

test('while one document is compiled the next sandbox is started, and no more than may work', async () => {
  const compiler = openCompiler({ children: 2, hasSpare: true });
  const compile = (org: string) => compiler.compile(inputOf('a.yaml'), memoryLoad(files), { org });
  await compile('acme');
  expect(startChild).toHaveBeenCalledTimes(2);
  await Promise.all([compile('acme'), compile('other')]);
  expect(startChild).toHaveBeenCalledTimes(2);
  await compiler.close();
});

test('what serves nobody starts no sandbox ahead', async () => {
  const compiler = openCompiler({ children: 2 });
  await compiler.compile(inputOf('a.yaml'), memoryLoad(files));
  expect(startChild).toHaveBeenCalledTimes(1);
  await compiler.close();
});

test('a prepared sandbox does the first job, at the priority of the command that waits for it', async () => {
  const compiler = openCompiler({ children: 2, isForeground: true });
  compiler.prepare(limits);
  await compiler.compile(inputOf('a.yaml'), memoryLoad(files));
  expect(startChild).toHaveBeenCalledTimes(1);
  const { pid } = vi.mocked(startChild).mock.results[0]!.value as Child;
  expect(getPriority(pid)).toBe(getPriority());
  await compiler.close();
});

test('two jobs at once do not get the same prepared sandbox', async () => {
  const compiler = openCompiler({ children: 2 });
  compiler.prepare(limits);
  const compile = (org: string) => compiler.compile(inputOf('a.yaml'), memoryLoad(files), { org });
  await Promise.all([compile('acme'), compile('other')]);
  expect(startChild).toHaveBeenCalledTimes(2);
  await compiler.close();
});

test('a prepared sandbox that got no job ends with the compiler', async () => {
  const compiler = openCompiler({ children: 2 });
  compiler.prepare(limits);
  await compiler.close();
  const child = vi.mocked(startChild).mock.results[0]!.value as Child;
  expect(child.isUsable()).toBe(false);
});

test('a sandbox for readers has made a page, and makes the first that is asked for', async () => {
  const compiler = openCompiler({ children: 2 });
  await compiler.prepareForReaders(limits);
  const child = vi.mocked(startChild).mock.results[0]!.value as Child;
  const ran = vi.spyOn(child, 'run');
  expect(child.isFresh()).toBe(false);
  const json = Buffer.from('{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{}}');
  const page = await compiler.render({ kind: 'openapi', json }, limits);
  expect(page).not.toBeNull();
  expect(ran).toHaveBeenCalledTimes(1);
  expect(startChild).toHaveBeenCalledTimes(1);
  await compiler.close();
});

test('a server is ready when a sandbox has made a page, and not before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-'));
  const asked = Promise.withResolvers<void>();
  let isMade = false;
  vi.mocked(startChild).mockImplementationOnce((memoryMegabytes) => ({
    memoryMegabytes,
    pid: undefined,
    isFresh: () => false,
    isUsable: () => true,
    kill: () => undefined,
    async run({ type }) {
      await asked.promise;
      isMade = type === 'render';
      return { lost: 'It is none.', isHung: false };
    },
  }));
  const { promise: url, resolve } = Promise.withResolvers<string>();
  const options = { file: null, repositories: [], commands: [], isDev: false, isAnswerOnly: true, announce: resolve };
  const configure = async () =>
    checkConfig({ log: { level: 'silent' }, sandbox: 'node' }, { base: folder, data: folder });
  const serving = serve({ ...options, configure }, { port: '0', host: '127.0.0.1' });
  const at = await Promise.race([url, serving]);
  const isReady = async () => (await fetch(`${at as string}/readyz`)).status === 200;
  try {
    expect(await isReady()).toBe(false);
    asked.resolve();
    await expect.poll(isReady).toBe(true);
    expect(isMade).toBe(true);
  } finally {
    asked.resolve();
    process.emit('SIGHUP');
    await serving;
    await rm(folder, { recursive: true });
  }
});
