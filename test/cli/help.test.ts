import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { examples } from '../../src/cli/help.ts';
import { createProgram } from '../../src/cli/program.ts';
import { describeCommands } from '../../scripts/reference.ts';
import { runHere } from './in-process.ts';

/** The words of a command line, without quotes. */
function wordsOf(line: string): string[] {
  return [...line.replace(/ [>|].*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
}

/** The program, with commands that do nothing. */
async function idleProgram(): Promise<Command> {
  const program = await createProgram({ json: true });
  const idle = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => undefined);
    for (const each of command.commands) idle(each);
  };
  idle(program);
  return program;
}

test('stele --help fits a screen, begins with examples and names every command', async () => {
  const { stdout, code } = await runHere(['--help']);
  expect(code).toBe(0);
  const lines = stdout.split('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines[2]).toMatch(/^ {2}stele init /);
  const listed = lines.slice(7).flatMap((line) => /^ {2}\w+ +(.*)$/.exec(line)?.[1]!.split(', ') ?? []);
  expect(listed.toSorted()).toEqual((await createProgram()).commands.map((command) => command.name()).toSorted());
});

test('the help of a command begins with its examples, and ends with its options', async () => {
  const { stdout } = await runHere(['keys', 'create', '--help']);
  expect(stdout).toMatch(/^ {2}# .*\n {2}stele keys create --org acme .*\n\nUsage: stele keys create \[options\]\n/);
  expect(stdout).toContain('--expires <time>');
});

describe('examples', () => {
  const all = Object.entries(examples).flatMap(([name, lines]) => lines.map(([line]) => ({ name, line })));

  test('are of commands that exist', async () => {
    const names = ['stele', ...describeCommands(await createProgram()).map(({ name }) => name)];
    expect(Object.keys(examples).filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(all)('$line is what the command takes', async ({ name, line }) => {
    expect(line.startsWith(name)).toBe(true);
    const program = await idleProgram();
    await expect(program.parseAsync(wordsOf(line).slice(1), { from: 'user' })).resolves.toBeDefined();
  });
});

test('the manual page has every command and its options', async () => {
  const script = fileURLToPath(new URL('../../scripts/man-page.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const plain = stdout.replaceAll('\\-', '-');
  for (const { name, options } of describeCommands(await createProgram())) {
    expect(plain).toContain(`.SS ${name}\n`);
    for (const { flags } of options) expect(plain).toContain(`\n.B ${flags}\n`);
  }
  // Lines that troff would take for requests begin with those of the page alone.
  const requests = new Set(stdout.split('\n').flatMap((line) => /^[.'](\w*)/.exec(line)?.[1] ?? []));
  expect([...requests].toSorted()).toEqual(['B', 'I', 'PP', 'SH', 'SS', 'TH', 'TP']);
});
