import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Registry } from '../../../src/registry/registry.ts';
import { openAnswers } from '../../../src/server/app.ts';
import { buildSite, type Built, type BuildOptions } from '../../../src/site/build/build.ts';
import { createMemoryCache } from '../../memory-store.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';

/** Packed assets are many, and the same in every test: what is kept is named by its content. */
const cache = createMemoryCache();

/** Builds as `stele build` does, but without compressed files unless the options ask for them: they take most of the time. */
export function build(registry: Registry, out: string, options: Partial<BuildOptions> = {}): Promise<Built> {
  return buildSite(
    { ...registry, cache },
    {
      out,
      url: 'http://registry.test',
      openAnswers: (snapshot, site) => openAnswers(snapshot, site, createSyncQueue(snapshot, createPulls)),
      program: 'test',
      precompressed: 'none',
      isFresh: false,
      say: () => undefined,
      signal: new AbortController().signal,
      ...options,
    },
  );
}

/** A folder of its own, removed at the end. */
export async function openFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'stele-build-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Every file in a folder by its path, in order. */
export async function filesIn(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
}

const decoders: Record<string, (bytes: Uint8Array) => Buffer> = {
  '.br': brotliDecompressSync,
  '.gz': gunzipSync,
  '.zst': zstdDecompressSync,
};

/** What a file says, unpacked where its name says that it is packed. */
export async function textOf(folder: string, path: string): Promise<string> {
  const bytes = await readFile(join(folder, path));
  const ending = /\.(?:br|gz|zst)$/.exec(path)?.[0];
  return (ending === undefined ? bytes : decoders[ending]!(bytes)).toString();
}
