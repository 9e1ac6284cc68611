import { sourceLayers } from '../../model/artifact.ts';
import { codeFrame } from '../code-frame.ts';
import type { Problem } from '../../model/problem.ts';
import { visible } from '../../model/escape.ts';
import { readManifest, openBlob, type GrantedVersion } from '../../registry/read.ts';
import type { Registry } from '../../registry/registry.ts';

/** The lines of a file around a problem, with a mark. Null: the file was not read. */
export type FrameOf = (problem: Problem) => string | null;

/** Files whose lines are shown, and the most bytes of one: a page reads them whenever it is made. */
const maxFiles = 10;
const maxBytes = 2 * 2 ** 20;

/** Reads the sources of a version in which problems are. Who may read the version may read them. */
export async function readFrames(
  registry: Registry,
  granted: GrantedVersion,
  problems: readonly Problem[],
): Promise<FrameOf> {
  const sources = sourceLayers(await readManifest(registry, granted));
  const lines = new Map<string, string[]>();
  for (const path of [...new Set(problems.map(({ file }) => file))].slice(0, maxFiles)) {
    const layer = sources.get(path);
    if (layer === undefined || layer.size > maxBytes) continue;
    const bytes = await openBlob(registry, granted, layer.digest);
    lines.set(path, Buffer.from(bytes).toString().split('\n'));
  }
  return (problem) => {
    const frame = codeFrame(lines.get(problem.file) ?? [], problem);
    return frame === '' ? null : visible(frame, { lines: true });
  };
}
