import { describe, expect, test } from 'vitest';
import {
  decodeBundle,
  encodeBundle,
  nodesIn,
  parseTilePath,
  tilePath,
  tilesOf,
  emptyRoot,
  foldHashes,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
  proveConsistency,
  proveInclusion,
  rootOf,
} from '../../../src/model/transparency/tree.ts';

// The leaves and roots with which implementations of RFC 6962 are tested (certificate-transparency, Apache 2.0).
const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  (hex) => Buffer.from(hex, 'hex'),
);
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** A log of so many leaves, out of whose tiles nodes are read. */
function treeOf(size: number) {
  const hashes = Array.from({ length: size }, (_, at) => leafHash(Buffer.from(`leaf ${at}`)));
  const rows = [hashes];
  while (rows.at(-1)!.length >= 256)
    rows.push(
      Array.from({ length: Math.floor(rows.at(-1)!.length / 256) }, (_, at) =>
        foldHashes(rows.at(-1)!.slice(at * 256, (at + 1) * 256)),
      ),
    );
  const read = nodesIn(
    async (level, index, width) => Buffer.concat(rows[level]!.slice(index * 256, index * 256 + width)),
    size,
  );
  return { hashes, read };
}

/** The root by the definition (RFC 6962 §2.1). */
function rootBySpecification(hashes: readonly Buffer[]): Buffer {
  if (hashes.length === 0) return emptyRoot;
  if (hashes.length === 1) return hashes[0]!;
  let middle = 1;
  while (middle * 2 < hashes.length) middle *= 2;
  return nodeHash(rootBySpecification(hashes.slice(0, middle)), rootBySpecification(hashes.slice(middle)));
}

describe('a Merkle tree', () => {
  test('has the roots that every implementation of RFC 6962 has', async () => {
    for (const [at, root] of roots.entries()) {
      const hashes = leaves.slice(0, at + 1).map(leafHash);
      const read = nodesIn(async () => Buffer.concat(hashes), hashes.length);
      expect((await rootOf(read, hashes.length)).toString('hex')).toBe(root);
    }
    expect(emptyRoot.toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  test('proves each leaf and each older size, and nothing else', async () => {
    for (const size of [1, 2, 3, 7, 8, 255, 256, 257, 600]) {
      const { hashes, read } = treeOf(size);
      const root = await rootOf(read, size);
      expect(root.equals(rootBySpecification(hashes))).toBe(true);
      for (const index of new Set([0, 1, size >> 1, size - 2, size - 1].filter((each) => each >= 0 && each < size))) {
        const proof = await proveInclusion(read, index, size);
        expect(isIncluded({ index, size, root }, hashes[index]!, proof)).toBe(true);
        expect(isIncluded({ index, size, root }, leafHash(Buffer.from('another')), proof)).toBe(false);
        expect(isIncluded({ index: index + 1, size, root }, hashes[index]!, proof)).toBe(false);
        if (proof.length > 0)
          expect(isIncluded({ index, size, root }, hashes[index]!, proof.toReversed().slice(1))).toBe(false);
      }
      for (const old of new Set([0, 1, size >> 1, size - 1, size])) {
        const before = { size: old, root: rootBySpecification(hashes.slice(0, old)) };
        const proof = await proveConsistency(read, old, size);
        expect(isConsistent(before, { size, root }, proof), `${old} of ${size}`).toBe(true);
        const other = { size: old, root: leafHash(Buffer.from('another')) };
        expect(isConsistent(other, { size, root }, proof)).toBe(false);
        if (old < size && old > 0)
          expect(isConsistent(before, { size, root: leafHash(Buffer.from('another')) }, proof)).toBe(false);
      }
    }
  });
});

describe('tiles', () => {
  test('have the paths of the specification', () => {
    expect(tilePath({ level: 0, index: 1234067, width: 256 })).toBe('tile/0/x001/x234/067');
    expect(tilePath({ level: 'entries', index: 5, width: 12 })).toBe('tile/entries/005.p/12');
    for (const path of ['tile/0/x001/x234/067', 'tile/entries/005.p/12', 'tile/7/000'])
      expect(tilePath(parseTilePath(path)!)).toBe(path);
    for (const path of [
      'tile/0/5',
      'tile/00/005',
      'tile/0/x000/005',
      'tile/0/005.p/0',
      'tile/0/005.p/256',
      'tile/0/005/x001',
      'tile/0/../005',
    ])
      expect(parseTilePath(path), path).toBe(null);
  });

  test('of 70,000 leaves are those that the specification names', () => {
    const all = [...tilesOf(70_000)].filter(({ level }) => level !== 'entries');
    const partial = all.filter(({ width }) => width < 256).map(({ level, width }) => [level, width]);
    expect(all.length - partial.length).toBe(274);
    expect(partial).toEqual([
      [0, 112],
      [1, 17],
      [2, 1],
    ]);
  });

  test('a bundle has its leaves, and a cut one none', () => {
    const bundle = encodeBundle([Buffer.from('a'), Buffer.from(''), Buffer.from('bcd')]);
    expect(decodeBundle(bundle)!.map(String)).toEqual(['a', '', 'bcd']);
    expect(decodeBundle(bundle.subarray(0, -1))).toBe(null);
    expect(decodeBundle(Buffer.of(0))).toBe(null);
  });
});
