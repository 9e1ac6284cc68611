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
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv } from 'zx';
import type { LoadedFile } from '../src/compile/collect.ts';
import type { Published } from '../src/compile/compile.ts';
import { runCompile } from '../src/compile/run.ts';
import { checkConfig } from '../src/config/load-config.ts';
import { compareDocuments } from '../src/diff/compare-documents.ts';
import { problemAtFile } from '../src/model/problem.ts';

const { limits } = checkConfig({}, { base: '/nowhere', data: '/nowhere/data' });
const folder = resolve(String(argv._[0] ?? '../shared/corpus/git'));
const only = String(argv['only'] ?? '');
const root = await mkdtemp(join(tmpdir(), 'stele-diffs-'));
let failed = 0;

try {
  for (const name of (await readdir(folder)).filter((file) => file.endsWith('.bundle') && file.includes(only)).sort()) {
    const git = join(root, name);
    execFileSync('git', ['clone', '--quiet', '--bare', join(folder, name), git]);
    for (const path of entriesIn(git)) await compareAll(name, path, git);
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

/** The paths of all OpenAPI documents of the newest commit. */
function entriesIn(git: string): string[] {
  const paths = gitText(git, 'ls-tree', '-r', '-z', '--name-only', 'HEAD').split('\0');
  const found = paths.filter((path) => /\.(?:ya?ml|json)$/i.test(path));
  return found.filter((path) => /^\s*["']?(?:openapi|swagger)["']?\s*:/m.test(gitText(git, 'show', `HEAD:${path}`)));
}

/** Each commit that changed files, with their paths; the oldest first. */
function commitsIn(git: string): { id: string; paths: Set<string> }[] {
  const log = gitText(git, 'log', '--reverse', '--first-parent', '-m', '--name-only', '--format=%x00%H');
  return log.split('\0').flatMap((block) => {
    const [id, ...paths] = block.split('\n').filter((line) => line !== '');
    return id === undefined ? [] : [{ id, paths: new Set(paths) }];
  });
}

async function compareAll(bundle: string, path: string, git: string): Promise<void> {
  const verdicts = new Map<string, number>();
  const unknown = new Map<string, number>();
  let dearest = 0;
  let rejected = 0;
  let before: Published | null = null;
  let used: ReadonlySet<string> = new Set([path]);
  for (const { id, paths } of commitsIn(git)) {
    if (used.isDisjointFrom(paths)) continue;
    const read = await documentAt(git, id, path);
    used = read.used;
    if (read.document === null) {
      if (paths.has(path)) rejected++;
      continue;
    }
    const old: Published | null = before;
    const current: Published = read.document;
    before = current;
    if (old === null || Buffer.compare(old.json, current.json) === 0) continue;
    const from = process.cpuUsage();
    try {
      const { verdict, reason, changes } = compareDocuments(old, current);
      count(verdicts, verdict);
      if (reason !== null) count(unknown, reason);
      for (const change of changes) if (change.verdict === 'unknown') count(unknown, change.code);
      if (verdict === 'unknown' && reason === null && !changes.some((change) => change.message !== '')) failed++;
    } catch (error) {
      failed++;
      console.log(`${bundle}:${path} ${id}: ${String(error)}`);
    }
    const { user, system } = process.cpuUsage(from);
    dearest = Math.max(dearest, (user + system) / 1e6);
  }
  const compared = [...verdicts.values()].reduce((sum, each) => sum + each, 0);
  if (compared + rejected === 0) return;
  const passed = rejected === 0 ? '' : `, ${rejected} commits rejected`;
  console.log(
    `${bundle}:${path}: ${compared} pairs of ${used.size} files, ${told(verdicts)}${passed}; dearest ${dearest.toFixed(2)} s`,
  );
  if (unknown.size > 0) console.log(`  cannot be judged: ${told(unknown)}`);
}

/** A document as it would be published from a commit, and the files that it was made of. Null: it is rejected. */
async function documentAt(
  git: string,
  commit: string,
  entry: string,
): Promise<{ document: Published | null; used: ReadonlySet<string> }> {
  const used = new Set([entry]);
  const load = async (paths: string[]): Promise<LoadedFile[]> => {
    const input = paths.map((path) => `${commit}:${path}\n`).join('');
    const { stdout } = spawnSync('git', ['-C', git, 'cat-file', '--batch'], { input, maxBuffer: 1e9 });
    let at = 0;
    return paths.map((path) => {
      const end = stdout.indexOf('\n', at);
      const [, type, size] = stdout.toString('utf8', at, end).split(' ');
      at = end + 1;
      if (type !== 'blob') return { path, problem: problemAtFile('file-missing', path, 'There is no such file.') };
      const bytes = stdout.subarray(at, at + Number(size));
      at += Number(size) + 1;
      used.add(path);
      return { path, bytes };
    });
  };
  const input = { type: 'apis', entry, validation: 'lenient', ruleset: null, limits } as const;
  const { artifact } = await runCompile(input, load);
  const json = artifact?.representations.find(({ format, coding }) => format === 'json' && coding === 'identity');
  return { document: json ? { kind: artifact!.kind, json: json.bytes } : null, used };
}

function gitText(git: string, ...args: string[]): string {
  return execFileSync('git', ['-C', git, ...args], { maxBuffer: 1e9 }).toString();
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function told(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([key, number]) => `${number} ${key}`).join(', ');
}
