import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDocs } from '../../src/site/docs/docs.ts';
import { serveStele, type Serving } from './stele.ts';

/** The page "First steps", done: each command in one shell, in order, its output held against what the page shows. `…` stands for anything. */

interface Step {
  command: string;
  /** What the page shows; null: nothing. */
  output: string | null;
}

const cli = new URL('../../src/cli.ts', import.meta.url).pathname;
const page = readDocs().find(({ name }) => name === 'first-steps')!.markdown;
const steps: Step[] = [...page.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?/gms)].map(
  ([, command, output]) => ({ command: command!, output: output ?? null }),
);

let folder: string;
let shell: Shell;
let running: Serving | null = null;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-steps-'));
  shell = openShell(folder);
});
afterAll(async () => {
  shell.close();
  await running?.stop('SIGKILL').catch(() => null);
  await rm(folder, { recursive: true, force: true });
});

test(`the page is what happens`, async () => {
  expect(steps.length).toBeGreaterThan(15);
  for (const { command, output } of steps) {
    const [, args] = /^stele serve (.*)$/m.exec(command) ?? [];
    if (args !== undefined) {
      const cwd = (await shell.run('pwd')).trim();
      running = await serveStele(args.split(' '), { cwd });
      continue;
    }
    const here = (text: string) =>
      text.replaceAll(/(?<=localhost:|127\.0\.0\.1:)7700/g, running === null ? '' : portOf(running));
    let printed = await shell.run(here(command));
    // A push takes a moment to be there; only what changes nothing is asked again.
    for (let again = 0; again < 600 && output !== null && !isShown(here(output), printed) && isRead(command); again++) {
      await delay(100);
      printed = await shell.run(here(command));
    }
    if (output !== null) expect(isShown(here(output), printed), `${command}\n${printed}\n---\n${output}`).toBe(true);
  }
});

function portOf({ url }: Serving): string {
  return new URL(url).port;
}

function isRead(command: string): boolean {
  return /^curl -sI? '?localhost/.test(command);
}

/** Whether the output is what the page shows, `…` being anything within a line. */
function isShown(shown: string, printed: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    .map((text) => RegExp.escape(text))
    .join('.*');
  return new RegExp(`^${pattern}$`).test(printed.replaceAll('\r', '').trim());
}

/** One shell for all the commands, as a reader has it. */
interface Shell {
  /** What the command prints on stdout. */
  run(command: string): Promise<string>;
  close(): void;
}

function openShell(cwd: string): Shell {
  const home = { HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null', TMPDIR: cwd };
  const author = {
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@a.test',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@a.test',
  };
  const child: ChildProcessWithoutNullStreams = spawn('bash', ['--norc', '--noprofile'], {
    cwd,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...home, ...author },
  });
  let printed = '';
  let wake = () => {};
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    wake();
  });
  child.stderr.resume();
  child.stdin.write(`stele() { "${process.execPath}" "${cli}" "$@"; }\nnode() { "${process.execPath}" "$@"; }\n`);
  return {
    async run(command) {
      const end = `--- end ${crypto.randomUUID()} ---`;
      child.stdin.write(`${command}\necho; echo '${end}'\n`);
      while (!printed.includes(end)) await new Promise<void>((resolve) => (wake = resolve));
      const [output, rest] = printed.split(`\n${end}\n`);
      printed = rest ?? '';
      return output!;
    },
    close: () => child.kill('SIGKILL'),
  };
}
