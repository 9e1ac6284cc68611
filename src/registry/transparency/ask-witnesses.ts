import { formatHashes, type Checkpoint } from '../../model/transparency/checkpoint.ts';
import {
  formatNote,
  formatSignature,
  parseSignatures,
  parseVerifierKey,
  signersOf,
} from '../../model/transparency/note.ts';
import { proveConsistency, type ReadNode } from '../../model/transparency/tree.ts';
import type { Registry } from '../registry.ts';

/** Milliseconds for an answer, and characters of one. */
const patience = 5000;
const maxAnswer = 64 * 1024;

/**
 * Asks the configured witnesses to cosign a checkpoint (C2SP tlog-witness), all at once. Returns their signature lines; a
 * witness that does not answer, or that refuses, is logged and left out. `nodes`: of the tree of the checkpoint.
 */
export async function askWitnesses(
  registry: Pick<Registry, 'config' | 'log'>,
  checkpoint: Checkpoint,
  nodes: ReadNode,
): Promise<string> {
  const lines = await Promise.all(
    registry.config.publicLog.witnesses.map(async ({ url, key }) => {
      try {
        return await askWitness(url, key, checkpoint, nodes);
      } catch (error) {
        registry.log('warn', 'a witness did not cosign', { witness: url, size: checkpoint.size, error: String(error) });
        return '';
      }
    }),
  );
  return lines.join('');
}

async function askWitness(url: string, vkey: string, checkpoint: Checkpoint, nodes: ReadNode): Promise<string> {
  const key = parseVerifierKey(vkey)!;
  let old = checkpoint.size;
  for (let attempt = 0; attempt < 3; attempt++) {
    const proof = formatHashes(await proveConsistency(nodes, old, checkpoint.size));
    const body = `old ${old}\n${proof.map((line) => `${line}\n`).join('')}\n${formatNote(checkpoint.note)}`;
    const response = await fetch(`${url}/add-checkpoint`, {
      method: 'POST',
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(patience),
    });
    const text = (await response.text()).slice(0, maxAnswer);
    if (response.status === 200) {
      const signatures = parseSignatures(text) ?? [];
      const own = signatures.filter(
        (signature) => signersOf({ text: checkpoint.note.text, signatures: [signature] }, [key])?.length === 1,
      );
      if (own.length === 0) throw new Error(`${url} sent no cosignature of ${key.name}.`);
      return own.map(formatSignature).join('');
    }
    const [, size] = /^(\d{1,15})\n$/.exec(text) ?? [];
    // Where it stands decides what must be proved.
    if (response.status !== 409 || size === undefined || Number(size) > checkpoint.size)
      throw new Error(`${url} answered ${response.status}: ${text.slice(0, 200).trim()}`);
    old = Number(size);
  }
  throw new Error(`${url} has others that go on with the log at the same time.`);
}
