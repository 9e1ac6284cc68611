/**
 * Publishes real repositories: every git bundle of a folder is cloned bare, served by `git http-backend`, and followed by a
 * `stele serve` of its own. Prints a table: documents found, versions published, refused with why, seconds, peak memory.
 *
 *   node scripts/bundles.ts ../shared/corpus/git
 *   node scripts/bundles.ts ../shared/corpus/git --replay 20
 *
 * With `--replay N` the last N commits of each are pushed one at a time: every changed document must become a version, and no earlier
 * version may change a byte.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv } from 'zx';
import { serveStele, type Serving } from '../test/e2e/stele.ts';
import { createRepositoryFromBundle, type FixtureRepository } from '../test/servers/fixture-repository.ts';
import { openGitServer } from '../test/servers/git-http.ts';

const folder = resolve(String(argv._[0] ?? '../shared/corpus/git'));
const replay = Number(argv['replay'] ?? 0);

interface Listed {
  items: { coordinate: string; url: string }[];
}

for (const name of (await readdir(folder)).filter((file) => file.endsWith('.bundle')).sort()) {
  const root = await mkdtemp(join(tmpdir(), 'stele-bundle-'));
  await using server = await openGitServer({ root });
  const title = name.replace(/(?:\.filtered)?\.bundle$/, '');
  const repository = createRepositoryFromBundle(join(root, `${title}.git`), join(folder, name));
  const tip = repository.git('rev-parse', 'main');
  const commits = repository
    .git('rev-list', '--first-parent', `--max-count=${replay + 1}`, 'main')
    .split('\n')
    .reverse();
  repository.setBranch('main', commits[0]!);
  const config = join(root, 'config.mjs');
  await writeFile(config, 'export default { sync: { interval: 1 } };');
  const started = Date.now();
  const stele = await serveStele([`${server.url}/${title}.git`, '--data', join(root, 'data'), '--config', config]);
  try {
    const first = await stele.logged(({ msg, to }) => msg === 'sync' && to === commits[0]);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    const documents = stele.log.filter(({ msg }) => msg === 'document');
    console.log(
      `\n${title}: ${documents.length} documents, ${String(first['published'])} published, ${seconds} s, peak ${peak(stele)} MB`,
    );
    for (const { path, outcome, resource, label, detail } of documents)
      console.log(`  ${outcome} ${path} → ${resource}@${label} ${detail ?? ''}`);
    if (replay > 0) await replayHistory(stele, repository, commits.slice(1));
    repository.setBranch('main', tip);
  } finally {
    await stele.stop();
    await rm(root, { recursive: true, force: true });
  }
}

async function replayHistory(stele: Serving, repository: FixtureRepository, commits: readonly string[]): Promise<void> {
  const known = new Map<string, string>();
  const times: number[] = [];
  for (const commit of commits) {
    const pushed = Date.now();
    repository.setBranch('main', commit);
    await syncNow(stele, commit);
    times.push(Date.now() - pushed);
    for (const [pinned, digest] of await readAll(stele)) {
      const before = known.get(pinned);
      if (before !== undefined && before !== digest) throw new Error(`${pinned} changed: ${before} → ${digest}`);
      known.set(pinned, digest);
    }
  }
  times.sort((a, b) => a - b);
  const published = stele.log.filter(({ msg, outcome }) => msg === 'document' && outcome === 'published').length;
  console.log(
    `  replayed ${commits.length} commits: ${published} versions in all, ${known.size} read back and unchanged`,
  );
  console.log(
    `  push to version: median ${times[times.length >> 1]} ms, longest ${times.at(-1)} ms; peak ${peak(stele)} MB`,
  );
}

/** Waits until the timer's look has brought the commit in. */
async function syncNow(stele: Serving, commit: string): Promise<void> {
  await stele.logged(({ msg, to }) => msg === 'sync' && to === commit);
}

/** Every pinned document in both formats, hashed. */
async function readAll({ url }: Serving): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const type of ['apis', 'schemas', 'rulesets']) {
    const listed = (await (await fetch(`${url}/@local/${type}`)).json()) as Partial<Listed>;
    for (const { coordinate } of listed.items ?? []) {
      const { items } = (await (await fetch(`${url}/${coordinate}/versions?limit=100`)).json()) as {
        items: { version: string }[];
      };
      for (const { version } of items) {
        for (const format of ['json', 'yaml']) {
          const pinned = `/${coordinate}@${encodeURIComponent(version)}.${format}`;
          const bytes = await (await fetch(`${url}${pinned}`)).bytes();
          digests.set(pinned, createHash('sha256').update(bytes).digest('hex'));
        }
      }
    }
  }
  return digests;
}

/** Peak resident megabytes of the server and its sandboxes together. */
function peak({ pid }: Serving): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const kilobytes = [String(pid), ...children].map((id) =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0),
  );
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024);
}
