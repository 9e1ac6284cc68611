import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { parseCheckpoint, parseHashes } from '../../src/model/transparency/checkpoint.ts';
import { formatSignature, formatVerifierKey, type SigningKey } from '../../src/model/transparency/note.ts';
import { emptyRoot, isConsistent, type TreeHead } from '../../src/model/transparency/tree.ts';
import { cosign, cosigningKey } from '../registry/transparency/cosign.ts';

export interface WitnessServer extends AsyncDisposable {
  /** Followed by any path, which is a witness of its own. */
  url: string;
  key: SigningKey;
  vkey: string;
  /** The newest head that each witness has cosigned, by its path. */
  heads: Map<string, TreeHead>;
  /** The paths of witnesses that do not answer. */
  silent: Set<string>;
}

/** Witnesses that cosign what goes on from the checkpoint before (C2SP tlog-witness). */
export async function openWitness(): Promise<WitnessServer> {
  const key = cosigningKey('witness.test/w', Buffer.alloc(32, 2));
  const heads = new Map<string, TreeHead>();
  const silent = new Set<string>();
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const end = body.indexOf('\n\n');
      const [old, ...proof] = body.slice(0, end).split('\n');
      const checkpoint = parseCheckpoint(body.slice(end + 2))!;
      const [, path = '', operation] = /^(.*)\/([\w-]+)$/.exec(request.url!) ?? [];
      if (operation !== 'add-checkpoint') return response.writeHead(404).end();
      if (silent.has(path)) return response.destroy();
      const head = heads.get(path) ?? { size: 0, root: emptyRoot };
      if (Number(old!.slice('old '.length)) !== head.size) return response.writeHead(409).end(`${head.size}\n`);
      if (!isConsistent(head, checkpoint, parseHashes(proof)!)) return response.writeHead(422).end();
      heads.set(path, checkpoint);
      return response.end(formatSignature(cosign(key, checkpoint.note.text, 1_700_000_000)));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    vkey: formatVerifierKey(key),
    heads,
    silent,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
