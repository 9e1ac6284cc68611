import { afterEach, expect, test, vi } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
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
