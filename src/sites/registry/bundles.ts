import { digestOf } from '../../model/digest.ts';
import type { BundlePlace } from '../model/documentation-site.ts';
import type { Registry } from '../../registry/registry.ts';
import { readObject } from '../../registry/stored.ts';

// A site has thousands of small files, and an object of its own for each would cost a write to disk.
// The first line keeps a bundle from being the same object as anything else, such as a document that
// is withdrawn and deleted.
const head = Buffer.from('stele bundle 1\n');
const maxBytes = 256 * 1024;

/** Pieces of bytes in objects that can be stored. */
export interface Bundled {
  /** In the order of the pieces. */
  places: BundlePlace[];
  /** The objects, with their digests in the places. */
  objects: Uint8Array[];
}

/** Joins pieces into objects, several in each. */
export function bundle(pieces: readonly Uint8Array[]): Bundled {
  const groups: Uint8Array[][] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const last = groups.at(-1);
    if (last === undefined || bytes + piece.byteLength > maxBytes) {
      groups.push([piece]);
      bytes = piece.byteLength;
    } else {
      last.push(piece);
      bytes += piece.byteLength;
    }
  }
  const objects = groups.map((group) => Buffer.concat([head, ...group]));
  const places = groups.flatMap((group, index) => {
    const digest = digestOf(objects[index]!);
    let at = head.byteLength;
    return group.map(({ byteLength: size }): BundlePlace => {
      const place = { bundle: digest, at, size };
      at += size;
      return place;
    });
  });
  return { places, objects };
}

/** The bytes at a place. */
export async function readPlace(
  registry: Pick<Registry, 'objects'>,
  { bundle: digest, at, size }: BundlePlace,
): Promise<Uint8Array> {
  return (await readObject(registry, digest)).subarray(at, at + size);
}
