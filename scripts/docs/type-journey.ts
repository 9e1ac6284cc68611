import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { $, tmpdir } from 'zx';
import { answers } from '../../test/servers/ports.ts';
import { readCommands } from './read-commands.ts';

const pages = readCommands();

/** A reader at a terminal, with pages of the documentation. */
export interface Journey {
  /** Types a command of a page. `change` makes it what is typed here: ports and names of this machine. */
  type(page: string, command: string, change?: (text: string) => string): Promise<string>;
  /** Types one that goes on, in another terminal, until a port answers. */
  start(page: string, command: string, port: number, change?: (text: string) => string): Promise<void>;
  /** What a reader does in an editor, or on a page of the registry. */
  edit(page: string, what: () => Promise<void>): Promise<void>;
  /** Where it is typed. A `cd` stays. */
  folder: string;
  home: string;
  clone: string;
  env: NodeJS.ProcessEnv;
  /** Programs that end with the journey. Each leads a group, as its children end, too. */
  running: Set<ChildProcess>;
}

/** What a journey took. */
export interface Counted {
  name: string;
  commands: number;
  edits: number;
  pages: Set<string>;
  /** Of commands and edits, without what the script prepares. */
  seconds: number;
}

/** Types a journey in a new HOME, which it deletes. Programs that it started are ended. */
export async function typeJourney(name: string, about: (journey: Journey) => Promise<void>): Promise<Counted> {
  const home = tmpdir();
  const running = new Set<ChildProcess>();
  const counted: Counted = { name, commands: 0, edits: 0, pages: new Set(), seconds: 0 };
  const author = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@a.test', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@a.test' }; // prettier-ignore
  // The Node of this process first, as `npm ci` puts one in a clone.
  const path = `${join(home, 'global/bin')}:${dirname(process.execPath)}:${process.env['PATH']}`;
  const clone = join(home, 'stele');
  const journey: Journey = {
    folder: home,
    home,
    clone,
    running,
    env: { ...process.env, PATH: path, HOME: home, npm_config_prefix: join(home, 'global'), ...author },
    async type(page, command, change = (text) => text) {
      note(page, command);
      const text = change(command);
      const bash = $({ cwd: journey.folder, env: journey.env, nothrow: true, quiet: true });
      const { stdout, stderr, exitCode } = await timed(
        () => bash`bash -uo pipefail -c ${`${text}\nstatus=$?; pwd >&3; exit $status`} 3> ${join(home, '.pwd')}`,
      );
      if (exitCode !== 0) throw new Error(`${name}: ${text}\n${stdout}${stderr}`);
      journey.folder = (await readFile(join(home, '.pwd'), 'utf8')).trim();
      return stdout;
    },
    async start(page, command, port, change = (text) => text) {
      note(page, command);
      const child = spawn('bash', ['-c', change(command)], { cwd: journey.folder, env: journey.env, stdio: 'ignore', detached: true }); // prettier-ignore
      running.add(child);
      await timed(async () => {
        while (!(await answers(port))) {
          if (child.exitCode !== null) throw new Error(`${name}: ${command} ended with ${child.exitCode}.`);
          await setTimeout(50);
        }
      });
    },
    async edit(page, what) {
      counted.edits += 1;
      counted.pages.add(page);
      await timed(what);
    },
  };
  function note(page: string, command: string): void {
    if (pages.get(page)?.some(({ text }) => text === command) !== true)
      throw new Error(`${page}.md does not say: ${command}`);
    counted.commands += 1;
    counted.pages.add(page);
  }
  async function timed<T>(what: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await what();
    counted.seconds += (performance.now() - began) / 1000;
    return result;
  }
  try {
    await about(journey);
    return counted;
  } finally {
    for (const child of running) process.kill(-child.pid!, 'SIGKILL');
    await rm(home, { recursive: true, force: true });
  }
}
