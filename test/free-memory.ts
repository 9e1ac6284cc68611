import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const little = 768 * 1024 * 1024;
/** A worker keeps this between its files. */
let most = little;

/**
 * Gives memory back that a file of tests leaves, if it is much. Starting a process copies the page tables of the one that starts
 * it: beside a gigabyte of garbage, each `git` takes many milliseconds more. Only a `last-resort` collection gives memory back at
 * once.
 */
export function freeMemory(): void {
  if (process.memoryUsage.rss() < most) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  most = Math.max(little, 1.5 * process.memoryUsage.rss());
}
