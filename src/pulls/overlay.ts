import { digestOf, type Digest } from '../model/digest.ts';
import type { Registry } from '../registry/registry.ts';
import type { Decide, Generation } from '../store/records.ts';

/**
 * A view of the registry that keeps in its memory what is written through it. The registry itself
 * never changes, so that publishing into the view shows what publishing would give.
 */
export function createOverlay(registry: Registry): Registry {
  const { refs, objects } = registry;
  const written = new Map<string, Generation<unknown>>();
  const stored = new Map<Digest, Uint8Array>();
  const keep = (bytes: Uint8Array | string): Digest => {
    const digest = digestOf(bytes);
    stored.set(digest, typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    return digest;
  };
  const writtenHere = <T>(name: string) => written.get(name) as Generation<T> | undefined;
  return {
    ...registry,
    answers: registry.answers.contentsOnly(),
    refs: {
      ...refs,
      read: async <T>(name: string) => writtenHere<T>(name) ?? refs.read<T>(name),
      readFresh: async <T>(name: string) => writtenHere<T>(name) ?? refs.readFresh<T>(name),
      async update<T>(name: string, decide: Decide<T>) {
        const current = writtenHere<T>(name) ?? (await refs.read<T>(name));
        const decided = await decide(current);
        if (decided === null) return current;
        const stamp = { writeId: 'overlay', at: registry.now().toISOString() };
        const generation = (current?.generation ?? 0) + 1;
        const next: Generation<T> = { generation, ...stamp, ...decided.change, value: decided.value };
        written.set(name, next);
        return next;
      },
    },
    objects: {
      ...objects,
      put: async (bytes) => keep(bytes),
      async putPack(root, shared, alone = []) {
        [...shared, ...alone].forEach(keep);
        return keep(root);
      },
      get: async (digest, pack) => stored.get(digest) ?? objects.get(digest, pack),
      async delete() {
        throw new TypeError('A view must not delete objects.');
      },
    },
  };
}
