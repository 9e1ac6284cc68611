import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Peers } from '../../server/allowance.ts';
import { stopSignals } from '../process-end.ts';

/** Milliseconds before a worker that died is started again. */
const restartAfter = 1000;

type Uses = [kind: string, name: string, uses: number];

/**
 * Messages between a worker and the process that started it: where it answers, that it is to stop,
 * and what it counted, which is passed on to the other workers.
 */
type Message = { url: string } | { stop: true } | { uses: Uses[] };

/** Whether this process is one of several that another one started. */
export const { isWorker } = cluster;

/**
 * Runs this command in `count` processes that listen on one port, until a signal stops them. The
 * first also follows repositories, delivers events and deletes what expired; the others answer
 * requests only. One that dies is started again; if one dies before it has ever answered, all stop.
 * Calls `announce` when all answer. Resolves to the exit code.
 */
export async function runWorkers(
  count: number,
  { announce, onDeath }: { announce(url: string): void; onDeath(pid: number, how: string): void },
): Promise<number> {
  // Workers accept by themselves. A connection that the primary had handed to one that dies would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const workers = new Set<Worker>();
  let isStopping = false;
  let exitCode = 0;

  function stop(): void {
    // A second signal ends them at once.
    if (isStopping) for (const worker of workers) worker.process.kill('SIGKILL');
    isStopping = true;
    for (const worker of workers) if (worker.isConnected()) worker.send({ stop: true } satisfies Message);
  }

  /** Runs one worker, and the ones that take its place. `ready` is called when the first one answers. */
  async function keep(place: number, ready: (url: string) => void): Promise<void> {
    let hasAnswered = false;
    while (!isStopping) {
      cluster.setupPrimary({ args: [...process.argv.slice(2), ...(place === 0 ? [] : ['--answer-only'])] });
      const worker = cluster.fork({ STELE_WORKER: String(place) });
      workers.add(worker);
      worker.on('message', (message: Message) => {
        if ('uses' in message)
          for (const other of workers) if (other !== worker && other.isConnected()) other.send(message, ignore);
        if (!('url' in message)) return;
        hasAnswered = true;
        ready(message.url);
      });
      const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null];
      workers.delete(worker);
      if (isStopping) return;
      if (!hasAnswered) {
        exitCode = code ?? 70;
        stop();
        return;
      }
      onDeath(worker.process.pid ?? 0, signal ?? `exit code ${code}`);
      await delay(restartAfter);
    }
  }

  for (const signal of stopSignals) process.on(signal, stop);
  try {
    const waits = Array.from({ length: count }, (_, place) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      return { answers: promise, ends: keep(place, resolve) };
    });
    // A worker that never answers ends instead.
    const announced = Promise.all(waits.map(({ answers }) => answers)).then(([url]) => announce(url!));
    const ended = Promise.all(waits.map(({ ends }) => ends));
    await Promise.race([ended, announced.then(() => ended)]);
    return exitCode;
  } finally {
    for (const signal of stopSignals) process.off(signal, stop);
  }
}

/** Messages to a worker that has exited are dropped. */
function ignore(): void {}

/** The part of a worker: announces where it answers, and resolves `stopped` when it is to stop. Null in any other process. */
export function joinWorkers(): {
  announce(url: string): void;
  stopped: Promise<null>;
  leave(): void;
  peers: Peers;
} | null {
  const { worker } = cluster;
  if (worker === undefined) return null;
  const { promise, resolve } = Promise.withResolvers<null>();
  process.on('message', (message: Message) => {
    if ('stop' in message) resolve(null);
  });
  // A terminal and systemd send their signals to every process. One is enough, however many come.
  for (const signal of stopSignals) process.on(signal, () => resolve(null));
  return {
    announce: (url) => void process.send!({ url } satisfies Message),
    stopped: promise,
    leave: () => worker.disconnect(),
    peers: joinPeers(),
  };
}

/** Uses are collected for so many milliseconds before they are sent to the other workers. */
const sendAfter = 100;

function joinPeers(): Peers {
  const listeners = new Map<string, (name: string, uses: number) => void>();
  let unsent = new Map<string, Map<string, number>>();

  function sendAll(): void {
    const uses = [...unsent].flatMap(([kind, names]) => [...names].map(([name, count]): Uses => [kind, name, count]));
    unsent = new Map();
    if (process.connected) process.send!({ uses } satisfies Message, undefined, undefined, ignore);
  }

  process.on('message', (message: Message) => {
    if ('uses' in message) for (const [kind, name, uses] of message.uses) listeners.get(kind)?.(name, uses);
  });
  return {
    send(kind, name) {
      if (unsent.size === 0) setTimeout(sendAll, sendAfter).unref();
      const names = unsent.getOrInsertComputed(kind, () => new Map<string, number>());
      names.set(name, (names.get(name) ?? 0) + 1);
    },
    listen: (kind, add) => void listeners.set(kind, add),
  };
}
