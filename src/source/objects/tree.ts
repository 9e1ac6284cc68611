import type { SnapshotEntry } from '../snapshot.ts';
import { isPlainSegment } from '../path.ts';

/** An entry of a tree. */
export interface TreeEntry {
  name: string;
  kind: SnapshotEntry['kind'] | 'folder';
  id: string;
}

/**
 * Parses a tree object: `<octal mode> <name>NUL<20 bytes of id>`, repeated. Skips names
 * that no path can contain, and repeated names.
 */
export function parseTree(bytes: Buffer): TreeEntry[] {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const entries = new Map<string, TreeEntry & { key: Buffer }>();
  for (let position = 0; position < bytes.length;) {
    const space = bytes.indexOf(0x20, position);
    const end = bytes.indexOf(0, space + 1);
    if (space < 0 || end < 0 || end + 21 > bytes.length) throw new TypeError('A tree object is cut off.');
    const mode = Number.parseInt(bytes.toString('latin1', position, space), 8);
    const raw = bytes.subarray(space + 1, end);
    const id = bytes.toString('hex', end + 1, end + 21);
    position = end + 21;
    const name = decode(decoder, raw);
    const kind = kindOf(mode);
    if (name === null || !isPlainSegment(name) || name.includes('/') || entries.has(name)) continue;
    entries.set(name, { name, kind, id, key: kind === 'folder' ? Buffer.concat([raw, Buffer.from('/')]) : raw });
  }
  return [...entries.values()]
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ name, kind, id }) => ({ name, kind, id }));
}

function decode(decoder: TextDecoder, raw: Buffer): string | null {
  try {
    return decoder.decode(raw);
  } catch {
    return null;
  }
}

function kindOf(mode: number): TreeEntry['kind'] {
  const type = mode & 0o170000;
  if (type === 0o040000) return 'folder';
  if (type === 0o120000) return 'symlink';
  return type === 0o160000 ? 'submodule' : 'file';
}
