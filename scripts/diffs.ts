/**
 * Compares all adjacent versions of every document in the git bundles of a folder, in this process:
 *
 *   node scripts/diffs.ts ../shared/corpus/git [--only PART-OF-A-BUNDLE'S-NAME]
 *
 * Prints for each document how many pairs there are, their verdicts, the reasons of those that cannot
 * be judged, and the processor time of the dearest pair. Exits with 1 if a comparison throws, or if one
 * cannot be judged and does not say why. Documents of several files are compared as they are stored:
 * what is in other files is not followed.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { argv } from 'zx';
import type { Published } from '../src/compile/compile.ts';
import { compareDocuments } from '../src/diff/compare-documents.ts';

const folder = resolve(String(argv._[0] ?? '../shared/corpus/git'));
const only = String(argv['only'] ?? '');
const root = await mkdtemp(join(tmpdir(), 'stele-diffs-'));
let failed = 0;

try {
  for (const name of (await readdir(folder)).filter((file) => file.endsWith('.bundle') && file.includes(only)).sort()) {
    const git = join(root, name);
    execFileSync('git', ['clone', '--quiet', '--bare', join(folder, name), git]);
    for (const [path, pairs] of pairsIn(git)) compareAll(name, path, git, pairs);
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

/** The ids of both blobs, for each change of each YAML or JSON file. */
function pairsIn(git: string): Map<string, [string, string][]> {
  const log = execFileSync('git', ['-C', git, 'log', '--raw', '--no-abbrev', '--format=', '--diff-filter=M'], {
    maxBuffer: 1e9,
  });
  const pairs = new Map<string, [string, string][]>();
  for (const line of log.toString().split('\n')) {
    const [, , before, after, , path] = line.split(/[ \t]/);
    if (path === undefined || !/\.(?:ya?ml|json)$/i.test(path)) continue;
    pairs.set(path, [...(pairs.get(path) ?? []), [before!, after!]]);
  }
  return pairs;
}

function compareAll(bundle: string, path: string, git: string, pairs: readonly [string, string][]): void {
  const verdicts = new Map<string, number>();
  const unknown = new Map<string, number>();
  let dearest = 0;
  for (const [before, after] of pairs) {
    const [old, current] = [documentOf(git, before), documentOf(git, after)];
    if (old === null || current === null) continue;
    const from = process.cpuUsage();
    try {
      const { verdict, reason, changes } = compareDocuments(old, current);
      count(verdicts, verdict);
      if (reason !== null) count(unknown, reason);
      for (const change of changes) if (change.verdict === 'unknown') count(unknown, change.code);
      if (verdict === 'unknown' && reason === null && !changes.some((change) => change.message !== '')) failed++;
    } catch (error) {
      failed++;
      console.log(`${bundle}:${path} ${before}..${after}: ${String(error)}`);
    }
    const { user, system } = process.cpuUsage(from);
    dearest = Math.max(dearest, (user + system) / 1e6);
  }
  const compared = [...verdicts.values()].reduce((sum, each) => sum + each, 0);
  if (compared === 0) return;
  console.log(`${bundle}:${path}: ${compared} pairs, ${told(verdicts)}; dearest ${dearest.toFixed(2)} s`);
  if (unknown.size > 0) console.log(`  cannot be judged: ${told(unknown)}`);
}

/** An OpenAPI document as it would be published. Null: it is something else, or cannot be parsed. */
function documentOf(git: string, blob: string): Published | null {
  const text = execFileSync('git', ['-C', git, 'cat-file', 'blob', blob], { maxBuffer: 1e9 }).toString();
  if (!/^\s*["']?(?:openapi|swagger)["']?\s*:/m.test(text)) return null;
  try {
    const value: unknown = parse(text, { logLevel: 'silent', maxAliasCount: -1 });
    return { type: 'apis', kind: 'openapi', json: Buffer.from(JSON.stringify(value)) };
  } catch {
    return null;
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function told(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([key, number]) => `${number} ${key}`).join(', ');
}
