import { RegistryError } from '../model/errors.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Planned } from './planned.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * The version to publish instead of the one in the document: undefined for the document's own, null
 * for none. Rejects with `refused` when the file that should contain it does not.
 */
export async function statedVersion(
  registry: Registry,
  snapshot: Snapshot,
  { version, coordinate }: Pick<Planned, 'version' | 'coordinate'>,
  signal?: AbortSignal,
): Promise<string | null | undefined> {
  if (version.from !== 'file') return version.from === 'next' ? null : undefined;
  const { path, pointer } = version;
  const [file] = await snapshot.read([path]);
  if (!file?.found)
    throw new RegistryError('refused', `Cannot read the version from ${path}. ${file?.problem.message ?? ''}`.trim());
  const { bytes } = file;
  const { limits } = registry.config;
  const read = await registry.compiler.readVersion({ path, bytes, pointer }, limits, { org: coordinate.org, signal });
  if ('version' in read) return read.version;
  const { line, column, message } = read.problem;
  throw new RegistryError('refused', `${path}:${line}:${column} ${message}`);
}
