import PQueue from 'p-queue';
import { digestOf, hexOf } from '../../model/digest.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { isObject, parseJson } from '../../model/json.ts';
import { decodeLeaf } from '../../model/transparency/leaf.ts';
import type { Checkpoint } from '../../model/transparency/checkpoint.ts';
import { decodeBundle, nodesIn, tilePath, tileWidth } from '../../model/transparency/tiles.ts';
import { foldHashes, leafHash, rootOf } from '../../model/transparency/tree.ts';
import { openContractSource, trustedRegistry, type ContractSource } from '../lock/contract-source.ts';
import { openCheckedLog } from './check-log.ts';

/** What a walk over a registry's public log has shown. */
export interface VerifiedLog {
  origin: string;
  leaves: number;
  /** Versions that are served as the log says. */
  same: number;
  /** Versions of the log that are not served: withdrawn, deleted, or private by now. */
  gone: string[];
  /** What does not hold, a sentence each. */
  wrong: string[];
}

/**
 * Walks the whole public log of a registry: checks that it is one history with what this user has seen, that
 * its leaves make up the signed root, that no version was ever another one, and that each is served as the
 * log says. Rejects with `refused` for a log that does not hold, and with `not_found` for a registry without one.
 */
export async function verifyLog(registry: string, say: (text: string) => void): Promise<VerifiedLog> {
  const source = openContractSource(registry, trustedRegistry(registry));
  const log = await openCheckedLog(registry, (path) => source.file(path), null);
  if (log === null) throw new RegistryError('not_found', `${registry} has no public log.`);
  const head = await log.head();
  const result: VerifiedLog = { origin: head.origin, leaves: head.size, same: 0, gone: [], wrong: [] };
  const versions = await readVersions(source, registry, head, result.wrong);
  const queue = new PQueue({ concurrency: 8 });
  let done = 0;
  await queue.addAll(
    [...versions].map(([name, digest]) => async () => {
      const fault = await compareServed(source, name, digest).catch((error: unknown) => {
        if (isRegistryError(error, 'gone')) return 'gone';
        throw error;
      });
      if (fault === 'gone') result.gone.push(name);
      else if (fault === null) result.same++;
      else result.wrong.push(`${name}: ${fault}`);
      say(`Comparing what is served: ${++done} of ${versions.size}`);
    }),
  );
  return { ...result, gone: result.gone.toSorted(), wrong: result.wrong.toSorted() };
}

/** The versions of a log with their digests. Rejects with `refused` unless its leaves make up the signed root. */
async function readVersions(
  source: ContractSource,
  registry: string,
  head: Checkpoint,
  wrong: string[],
): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  const rows: Buffer[][] = [[]];
  for (let index = 0; index * tileWidth < head.size; index++) {
    const width = Math.min(tileWidth, head.size - index * tileWidth);
    const path = `/log/${tilePath({ level: 'entries', index, width })}`;
    const bytes =
      (await source.file(path)) ??
      (await source.file(`/log/${tilePath({ level: 'entries', index, width: tileWidth })}`));
    const leaves = bytes && decodeBundle(bytes)?.slice(0, width);
    if (leaves?.length !== width) throw new RegistryError('refused', `${registry}${path} is missing or damaged.`);
    rows[0]!.push(...leaves.map(leafHash));
    for (const leaf of leaves) noteVersion(versions, leaf, wrong);
  }
  while (rows.at(-1)!.length >= tileWidth) {
    const row = rows.at(-1)!;
    const full = Math.floor(row.length / tileWidth);
    rows.push(Array.from({ length: full }, (_, at) => foldHashes(row.slice(at * tileWidth, (at + 1) * tileWidth))));
  }
  const nodes = nodesIn(
    async (level, index) => Buffer.concat(rows[level]!.slice(index * tileWidth, (index + 1) * tileWidth)),
    head.size,
  );
  if (Buffer.compare(await rootOf(nodes, head.size), head.root) !== 0)
    throw new RegistryError(
      'refused',
      `The leaves that ${registry} serves are not those that its checkpoint was signed for.`,
    );
  return versions;
}

function noteVersion(versions: Map<string, string>, bytes: Uint8Array, wrong: string[]): void {
  const leaf = decodeLeaf(bytes);
  if (leaf?.event !== 'published' && leaf?.event !== 'listed') return;
  const name = `${leaf.coordinate}@${leaf.label}`;
  const before = versions.get(name);
  if (before !== undefined && before !== leaf.digest)
    wrong.push(`${name}: the log says that it is ${before}, and later that it is ${leaf.digest}`);
  versions.set(name, leaf.digest);
}

/** What is wrong with a version as it is served; `gone`: it is not; null: nothing. */
async function compareServed(source: ContractSource, name: string, digest: string): Promise<string | null> {
  const record = parseJson((await fileOf(source, `/${name}/provenance`, '.json')) ?? '');
  if (!isObject(record)) return 'gone';
  if (record['manifest'] !== digest) return `it is served as ${String(record['manifest'])}, and the log says ${digest}`;
  const json = await source.file(`/${name}.json`);
  if (json === null) return 'gone';
  // The manifest binds the bytes. A host that only serves files has it not.
  const [org, type, slug] = name.slice(1, name.indexOf('@', 1)).split('/');
  const manifest = await source.file(`/v2/${org}/${type}/${slug}/manifests/${digest}`);
  if (manifest !== null && digestOf(manifest) !== digest) return `its manifest is not ${digest}`;
  const text = manifest === null ? JSON.stringify(record) : Buffer.from(manifest).toString();
  return text.includes(hexOf(digestOf(json)))
    ? null
    : `its bytes are ${digestOf(json)}, which its manifest does not name`;
}

async function fileOf(source: ContractSource, path: string, ending: string): Promise<string | null> {
  const bytes = (await source.file(path + ending)) ?? (await source.file(path));
  return bytes && Buffer.from(bytes).toString();
}
