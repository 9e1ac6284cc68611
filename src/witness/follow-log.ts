import { formatHashes, parseCheckpoint } from '../model/transparency/checkpoint.ts';
import { nodesIn, tilePath, tileWidth } from '../model/transparency/tiles.ts';
import { proveConsistency } from '../model/transparency/tree.ts';
import { formatAddCheckpoint, type Witness, type WitnessAnswer, type WitnessedLog } from './witness.ts';

/** Milliseconds for an answer, and bytes of one. */
const patience = 30_000;
const maxBytes = 2 ** 20;

/**
 * Cosigns the head of a log that is served as C2SP tlog-tiles says, with the proof out of its tiles. Null if the
 * log has nothing new. Rejects if the log does not answer.
 */
export async function followLog(
  witness: Witness,
  { key, url }: WitnessedLog & { url: string },
): Promise<WitnessAnswer | null> {
  const text = String(await read(`${url}/checkpoint`));
  const head = parseCheckpoint(text);
  if (head === null) throw new Error(`${url}/checkpoint is not a valid checkpoint.`);
  const seen = await witness.head(key.name);
  if (seen !== null && seen.size === head.size && Buffer.compare(seen.root, head.root) === 0) return null;
  const old = seen?.size ?? 0;
  const nodes = nodesIn(async (level, index, width) => {
    const part = await read(`${url}/${tilePath({ level, index, width })}`).catch((error: unknown) => {
      // A partial tile may be gone once the full one is there.
      if (width === tileWidth) throw error;
      return read(`${url}/${tilePath({ level, index, width: tileWidth })}`);
    });
    return part.subarray(0, width * 32);
  }, head.size);
  // A log that became shorter has no proof: the witness says so.
  const proof = old > head.size ? [] : await proveConsistency(nodes, old, head.size);
  return witness.add(formatAddCheckpoint(old, formatHashes(proof), text));
}

async function read(url: string): Promise<Buffer> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(patience) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`${url} answered more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
