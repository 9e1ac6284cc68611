import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KindInput } from '../../../src/compile/kind.ts';
import { rulesetReferencePaths } from '../../../src/compile/ruleset/ruleset-files.ts';
import { given } from '../given.ts';

/** A ruleset in a folder, with the files there that it extends, as in a repository. */
export function withNeighbours(folder: string, path: string): KindInput {
  const files: Record<string, string> = {};
  const open = [path];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next in files || !existsSync(join(folder, next))) continue;
    files[next] = readFileSync(join(folder, next), 'utf8');
    open.push(...rulesetReferencePaths(given({ [next]: files[next] }, 'rulesets').entry));
  }
  return given(files, 'rulesets');
}
