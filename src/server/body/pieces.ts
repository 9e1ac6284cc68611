import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';

/** Bytes to copy at once. It takes less than a millisecond. */
const atOnce = 1024 * 1024;

/** Milliseconds between two pieces while several bodies are read. A piece takes less than half of them. */
const betweenPieces = 2;

let last: Promise<void> = Promise.resolve();
let waiting = 0;

/**
 * Resolves in a turn of the event loop of its own. Large bodies are read one piece per turn,
 * however many arrive at once, and with a pause if it is more than one, so that small requests are
 * answered in between.
 */
export function ownTurn(): Promise<void> {
  waiting++;
  return (last = last.then(async () => {
    await (waiting > 1 ? delay(betweenPieces) : turn());
    waiting--;
  }));
}

/** Joins the pieces into one buffer without blocking the event loop. */
export async function joinPieces(pieces: readonly Buffer[]): Promise<Buffer<ArrayBuffer>> {
  const [only, ...more] = pieces;
  if (only !== undefined && more.length === 0) return only as Buffer<ArrayBuffer>;
  const whole = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    if (Math.floor(at / atOnce) < Math.floor((at + piece.length) / atOnce)) await turn();
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
