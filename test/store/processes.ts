import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { openFolder } from './buckets.ts';
import type { Order } from './child.ts';

/** Another process on a folder's bucket (`child.ts`). */
export interface OtherProcess {
  child: ChildProcess;
  /** Gives an order and waits for what comes of it. */
  tell(order: Order): Promise<unknown>;
  close(): Promise<void>;
}

const program = fileURLToPath(new URL('child.ts', import.meta.url));

/** Starts a process that has the folder's bucket open. `limitBytes`: no file of its may grow larger than that. */
export async function openProcess(folder: string, { limitBytes }: { limitBytes?: number } = {}): Promise<OtherProcess> {
  const command =
    limitBytes === undefined
      ? {}
      : {
          execPath: '/bin/bash',
          execArgv: [
            '-c',
            `trap '' XFSZ; ulimit -f ${Math.floor(limitBytes / 1024)}; exec "$0" "$@"`,
            process.execPath,
          ],
        };
  const child = fork(program, [folder], { execArgv: [], ...command });
  await once(child, 'message');
  return {
    child,
    async tell(order) {
      const answered = once(child, 'message');
      child.send(order);
      const [message] = (await answered) as [{ answer: unknown }];
      return message.answer;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A folder for each test of the block that calls it, and processes that have its bucket open. */
export interface FolderHere {
  readonly folder: string;
  /** What is done after the test, the last first. */
  readonly ends: (() => Promise<void>)[];
  start(options?: { limitBytes: number }): Promise<OtherProcess>;
}

/** Opens a folder before each test of the block that calls it, and ends everything after it. */
export function openFolderHere(): FolderHere {
  let folder: string;
  const ends: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    const opened = await openFolder();
    folder = join(opened.folder, 'data');
    ends.push(opened.close);
  });
  afterEach(async () => {
    while (ends.length > 0) await ends.pop()!();
  });
  return {
    get folder() {
      return folder;
    },
    ends,
    async start(options) {
      const other = await openProcess(folder, options);
      ends.push(() => other.close());
      return other;
    },
  };
}
