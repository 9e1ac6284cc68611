import { isPathGlob } from '../model/path-glob.ts';
import type { Coordinate } from '../model/address.ts';

/**
 * Returns a `stele.yaml` that publishes these documents under the same names. `folder`: the folder
 * of the `stele.yaml` in the repository. A path with a star cannot be listed and becomes a comment.
 */
export function formatSettings(documents: readonly { path: string; coordinate: Coordinate }[], folder: string): string {
  const entries = documents.map(({ path, coordinate }) => {
    const relative = folder === '' ? path : path.slice(folder.length + 1);
    const lines = [
      `  - path: ${scalar(relative)}`,
      `    type: ${coordinate.type}`,
      `    slug: ${scalar(coordinate.slug)}`,
    ];
    return isPathGlob(relative) ? ['  # A path with a star cannot be listed.', ...lines.map(commented)] : lines;
  });
  return ['resources:', ...entries.flat(), ''].join('\n');
}

function commented(line: string): string {
  return `  # ${line.slice(2)}`;
}

/** A YAML scalar: as it is where that is safe, else as a JSON string, which YAML reads too. */
function scalar(text: string): string {
  return /^[a-z][a-z0-9._/-]*[a-z0-9]$/i.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
