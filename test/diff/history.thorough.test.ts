import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatDiff } from '../../src/cli/check/finding-formats.ts';
import { compare, type Json } from './given.ts';

// Adjacent versions of a real API, by the ids of their blobs. The goldens were read beside `git diff`.
// All pairs of all bundles: `node scripts/diffs.ts ../shared/corpus/git`.
const bundle = new URL('../../../shared/corpus/git/museum-openapi-example.bundle', import.meta.url).pathname;
const goldens = '../fixtures/comparisons/';

const pairs = [
  ['another-status', 'a8d9ed26', 'bfa75ed5'],
  ['errors-in-two-media-types', '2d9a9b1f', 'ab9277d8'],
  ['schemas-are-shared', '2300a32b', 'c9f0ee73'],
] as const;

const isThere = existsSync(bundle);
const skipped = isThere ? '' : ' (skipped: the corpus is not there)';

test.skipIf(!isThere)(`the history of a real API reads as its owner would tell it${skipped}`, async () => {
  const git = mkdtempSync(join(tmpdir(), 'stele-history-'));
  try {
    execFileSync('git', ['clone', '--quiet', '--bare', bundle, git]);
    for (const [name, before, after] of pairs) {
      const comparison = compare(documentAt(git, before), documentAt(git, after));
      const names = { before, after };
      await expect(`${formatDiff(comparison, 'markdown', names)}\n`).toMatchFileSnapshot(`${goldens}${name}.md`);
      if (comparison.changes.length < 8)
        await expect(`${formatDiff(comparison, 'json', names)}\n`).toMatchFileSnapshot(`${goldens}${name}.json`);
    }
  } finally {
    rmSync(git, { recursive: true, force: true });
  }
});

function documentAt(git: string, blob: string): Json {
  return parse(execFileSync('git', ['-C', git, 'cat-file', 'blob', blob]).toString()) as Json;
}
