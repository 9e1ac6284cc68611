import { digestOf, hexOf } from '../../model/digest.ts';
import type { Beginnings } from './build-folder.ts';

/**
 * Bytes that a pack holds at most, because the function on a host reads all of it for each request
 * and hosts limit the size of a file. What does not fit stays a file of its own.
 */
const capacity = 2_000_000;

/** A build in which the files of each version, and those of each resource besides, are one file. */
export interface Packs {
  /** Takes files for packs, and passes all others on. */
  beginnings: Beginnings;
  /** Writes the packs. Nothing may be added after. */
  write(): void;
  /** The pack that holds the file of this path. Undefined if it is a file of its own. */
  packOf(path: string): string | undefined;
}

/**
 * Opens empty packs. A pack starts with a line of JSON: for the end of each path, where its bytes
 * start after this line, how many they are, and its entity tag. `content/edge/answer.js` reads it.
 */
export function openPacks(beginnings: Beginnings): Packs {
  const packs = new Map<string, { size: number; members: [rest: string, bytes: Uint8Array][] }>();
  const places = new Map<string, string>();
  return {
    beginnings: {
      ...beginnings,
      write(path, content) {
        const bytes = Buffer.from(content as Uint8Array);
        const [, base, rest] = packed.exec(path) ?? [];
        const name = `packs/${base}.pack`;
        const pack = packs.get(name) ?? { size: 0, members: [] };
        if (rest === undefined || pack.size + bytes.byteLength > capacity) return beginnings.write(path, bytes);
        packs.set(name, pack);
        pack.members.push([rest, bytes]);
        pack.size += bytes.byteLength;
        places.set(path, name);
      },
    },
    write() {
      for (const [name, { members }] of packs) beginnings.write(name, packOf(members));
    },
    packOf: (path) => places.get(path),
  };
}

/** What goes into packs: `@acme/apis/pay@1.4.0` and its endings, `@acme/apis/pay/versions.json`. */
const packed = /^(@[^/]+\/[^/]+\/[^/]+?)(\.json|\.yaml|\/.*)$/;

function packOf(members: readonly [rest: string, bytes: Uint8Array][]): Uint8Array {
  let start = 0;
  const index = members.map(([rest, bytes]) => {
    const place = [start, bytes.byteLength, hexOf(digestOf(bytes)).slice(0, 16)];
    start += bytes.byteLength;
    return [rest, place];
  });
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(Object.fromEntries(index))}\n`),
    ...members.map(([, all]) => all),
  ]);
}
