import { cp, rm } from 'node:fs/promises';
import { watchFiles, type WatchedFiles } from '../../test/store/watched-files.ts';
import {
  checkStore,
  createRandom,
  isSuccess,
  openFolder,
  operationsFor,
  repeat,
  send,
  type History,
} from './operations.ts';

/**
 * What is left of a store: all that was written (`kill`), what was fsynced (`cut`), or that and part of the rest (`luck`).
 */
export const states = ['kill', 'cut', 'luck'] as const;
export type State = (typeof states)[number];

export interface Stop {
  /** A folder that `makeStore` made, and its key. */
  made: string;
  secret: string;
  /** A folder for this stop. Removed afterwards. */
  folder: string;
  writers: number;
  /** The file call that stops everything. */
  number: number;
  state: State;
  seed: number;
}

/**
 * Stops a registry at a file call of several writers' publishes, and reads what is left of its store with a new one. Says whether the call was
 * reached, how many operations were acknowledged before, and what is wrong.
 */
export async function stopAt(stop: Stop): Promise<{ isReached: boolean; acknowledged: number; wrong: string[] }> {
  const { made, secret, folder, number, state, writers } = stop;
  await cp(made, folder, { recursive: true });
  const files = watchFiles(folder);
  const history: History = new Map();
  let stoppedAt: string | null = null;
  {
    await using api = await openFolder(folder, files);
    const start = files.calls.length;
    files.plan = (call) => {
      if (call.number === start + number) stoppedAt = `${call.name} ${call.path}`;
      return stoppedAt === null ? null : { kind: 'fails' };
    };
    const work = async (writer: number): Promise<void> => {
      for (const operation of operationsFor(`w${writer}`)) {
        const answer = await send(api.url, secret, operation);
        history.set(operation, stoppedAt === null ? answer : null);
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => work(writer)));
  }
  const left = `${folder}-left`;
  await leave(files, left, stop);
  const acknowledged = [...history.values()].filter(isSuccess).length;
  const wrong = await checkStore(left, history);
  {
    await using api = await openFolder(left);
    wrong.push(...(await repeat(api.url, secret, history)));
  }
  wrong.push(...(await checkStore(left, history)));
  await rm(folder, { recursive: true });
  await rm(left, { recursive: true });
  const tell = (text: string) => `call ${number} (${String(stoppedAt)}), ${state}: ${text}`;
  return { isReached: stoppedAt !== null, acknowledged, wrong: wrong.map(tell) };
}

async function leave(files: WatchedFiles, to: string, { folder, state, seed, number }: Stop): Promise<void> {
  if (state === 'kill') return cp(folder, to, { recursive: true });
  const random = createRandom(seed * 100_003 + number);
  return files.copyAfterPowerCut(to, state === 'luck' ? () => random(2) === 1 : undefined);
}
