import { parseCoordinate } from '../../../src/model/address.ts';
import { decodeBundle, tileWidth } from '../../../src/model/transparency/tree.ts';
import { decodeLeaf, type Leaf } from '../../../src/model/transparency/leaf.ts';
import { publish } from '../../../src/registry/publish.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import type { PublicLog } from '../../../src/registry/transparency/public-log.ts';
import { createUpload } from '../../../src/source/upload.ts';
import type { Bucket } from '../../../src/store/bucket.ts';
import { createWorld } from '../world.ts';

export const author = { actor: 'operator:test', origin: null };

/** A world whose registry has a public log. */
export function createLoggedWorld(on: Bucket | null = null) {
  const world = createWorld({ url: 'https://registry.test', organizations: { acme: {}, other: {} } }, on);
  const logKey = {
    read: () => 'the secret of the key of this public log',
    make: () => 'the secret of the key of this public log',
  };
  return {
    ...world,
    registry: { ...world.registry, logKey },
    /** Another process, with its own view of the bucket. */
    another: (): Registry => ({ ...world.another(), logKey }),
  };
}

/** Publishes a version, such as `@acme/apis/pay@1.0.0`. */
export async function put(
  registry: Registry,
  name: string,
  visibility: 'public' | 'private' = 'public',
): Promise<void> {
  const { coordinate, selector } = parseCoordinate(name)!;
  const version = selector.kind === 'version' ? selector.version : '1.0.0';
  const document = `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\npaths: {}\n`;
  const result = await publish(registry, {
    coordinate,
    snapshot: createUpload('a.yaml', Buffer.from(document)),
    entry: 'a.yaml',
    version: null,
    onConflict: 'revise',
    latest: true,
    dryRun: false,
    create: { visibility },
    author,
  });
  if (result.outcome !== 'published') throw new Error(`${name}: ${result.outcome}`);
}

/** All leaves of a log, as a client reads them. */
export async function leavesIn(log: PublicLog): Promise<Leaf[]> {
  const { size } = await log.checkpoint();
  const leaves: Leaf[] = [];
  for (let index = 0; index * tileWidth < size; index++) {
    const width = Math.min(tileWidth, size - index * tileWidth);
    const bytes = await log.tile({ level: 'entries', index, width });
    leaves.push(...decodeBundle(bytes!)!.map((leaf) => decodeLeaf(leaf)!));
  }
  return leaves;
}

/** A leaf in a few words. */
export function shown(leaf: Leaf): string {
  if (leaf.event === 'key') return 'key';
  return `${leaf.event} ${leaf.coordinate}@${leaf.label}`;
}
