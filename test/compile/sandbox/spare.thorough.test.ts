import { getPriority } from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';
import { startChild, type Child } from '../../../src/compile/sandbox/child.ts';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
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
