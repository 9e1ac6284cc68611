import { Readable } from 'node:stream';
import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import type { Ended } from '../e2e/stele.ts';

const endings = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * Runs one `stele` command to its end as `runStele` does, in this process: starting another takes a second. For all but `serve`, and
 * for what is about the process itself: there the real command is run.
 */
export async function runHere(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, input }: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  const heard = endings.map((name) => process.listeners(name));
  const outputs = [process.stdout, process.stderr];
  const watched = outputs.map((output) => output.listeners('error'));
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!;
  if (input !== undefined)
    Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (name.startsWith('STELE_')) delete process.env[name];
  Object.assign(process.env, env);
  try {
    const code = await runCommandLine(args);
    return { code, ...written };
  } finally {
    process.exitCode = undefined;
    Object.defineProperty(process, 'stdin', stdin);
    process.chdir(before.cwd);
    for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
    Object.assign(process.env, before.env);
    for (const spy of spies) spy.mockRestore();
    // A process that ends takes its listeners along.
    for (const [at, name] of endings.entries())
      for (const listener of process.listeners(name)) if (!heard[at]!.includes(listener)) process.off(name, listener);
    for (const [at, output] of outputs.entries())
      for (const listener of output.listeners('error'))
        if (!watched[at]!.includes(listener)) output.off('error', listener as () => void);
  }
}
