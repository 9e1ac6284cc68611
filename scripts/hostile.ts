/**
 * What hostile documents cost: processor seconds of a warm sandbox for the verdict on each, and for the outline and the page of those that are
 * accepted. `node scripts/hostile.ts [name prefix…] [--over 1] [--verbose] [--table rows.tsv] [--skip regex]`; prints the dearest first, beside
 * what each may take: `--over` seconds, and the time to read and write so much text (docs/design.md §6). Exit code 1: one was over that. `--table` appends a line for each document and passes over those that it has, so that a long run can be made in parts.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { argv, echo } from 'zx';
import { startChild, type Child } from '../src/compile/sandbox/child.ts';
import { findIsolation } from '../src/compile/sandbox/isolation.ts';
import type { LoadedFile } from '../src/compile/collect.ts';
import { dialects } from '../src/compile/schema/schema-dialect.ts';
import { problemAtFile } from '../src/model/problem.ts';
import { hostileDocuments } from '../test/compile/hostile-documents.ts';
import { limits } from '../test/compile/limits.ts';

const prefixes = argv._.length === 0 ? [''] : argv._.map(String);
const over = Number(argv['over'] ?? 1);
const skip = new RegExp(argv['skip'] ?? '^$');
const isolation = await findIsolation('auto');
/** Seconds to read a MB of text, and of YAML a million values. */
const reading = { json: 0.5, yaml: 1, values: 12 };
/** Seconds to write a MB: of the document as it is stored, or of its page. */
const writing = 0.02;
const rows: { name: string; kb: number; may: number; compile: number; page: number; wall: number; said: string }[] = [];
let child: Child | null = null;
const table: string | undefined = argv['table'];
const measured = new Set(
  table && existsSync(table)
    ? readFileSync(table, 'utf8')
        .split('\n')
        .map((line) => line.split('\t')[0])
    : [],
);

for (const { name, make } of hostileDocuments()) {
  if (!prefixes.some((prefix) => name.startsWith(prefix)) || measured.has(name) || skip.test(name)) continue;
  const { files, type } = make();
  const bytes = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  const [entry] = Object.keys(files);
  const load = async (paths: string[]): Promise<LoadedFile[]> =>
    paths.map((path) =>
      bytes[path]
        ? { path, bytes: bytes[path] }
        : { path, problem: problemAtFile('file-missing', path, 'There is no such file.') },
    );
  if (child === null || !child.isUsable()) child = await warmChild();
  const options = { seconds: Number(argv['seconds'] ?? 30), load, signal: undefined };
  const before = cpuOf(child);
  const started = performance.now();
  let seen = before;
  const watch = setInterval(() => (seen = cpuOf(child!) ?? seen), 50);
  const input = { type, entry: entry!, validation: 'strict' as const, ruleset: null, limits };
  const outcome = await child.run({ type: 'compile', input }, options);
  clearInterval(watch);
  const compile = (cpuOf(child) ?? seen)! - before!;
  const wall = performance.now() - started;
  let said = 'died' in outcome ? outcome.died : '';
  let page = 0;
  let written = 0;
  if ('answer' in outcome) {
    const { artifact, report } = outcome.answer;
    said = `${artifact === null ? 'refused' : 'ACCEPTED'} ${report.problems[0]?.rule ?? ''} ${report.problems[0]?.message.slice(0, 70) ?? ''}`;
    if (artifact !== null && child.isUsable()) {
      const served = artifact.representations.find(({ format, coding }) => format === 'json' && coding === 'identity')!;
      const document = { type, kind: artifact.kind, json: served.bytes };
      const from = cpuOf(child)!;
      for (const job of ['outline', 'render'] as const) {
        const made = await child.run({ type: job, document }, options);
        if ('answer' in made && 'rendered' in made.answer && made.answer.rendered)
          written = served.bytes.length + made.answer.rendered.html.length + made.answer.rendered.markdown.length;
        if ('died' in made) said += ` ${job} ${made.died}`;
        if (!child.isUsable()) break;
      }
      page = (cpuOf(child) ?? from + options.seconds) - from;
    }
  }
  const kb = Math.round(Object.values(bytes).reduce((sum, { length }) => sum + length, 0) / 1024);
  const may = over + readingTime(files) + (written / 1e6) * writing;
  rows.push({ name, kb, may, compile, page, wall: wall / 1000, said });
  if (table)
    appendFileSync(table, `${[name, kb, may.toFixed(2), compile.toFixed(2), page.toFixed(2), said].join('\t')}\n`);
  if (argv['verbose'] || Math.max(compile, page) > may) show(rows.at(-1)!);
}
child?.kill();

rows.sort((a, b) => Math.max(b.compile, b.page) - Math.max(a.compile, a.page));
const worst = rows.filter(({ compile, page, may }) => Math.max(compile, page) > may);
echo(`\n${rows.length} documents, ${worst.length} over the processor time that they may take; the dearest:`);
for (const row of rows.slice(0, 10)) show(row);
process.exitCode = worst.length > 0 ? 1 : 0;

function show({ name, kb, may, compile, page, said }: (typeof rows)[number]): void {
  echo(
    `${compile.toFixed(2).padStart(6)} s  ${page.toFixed(2).padStart(6)} s  of ${may.toFixed(2).padStart(5)} s  ${String(kb).padStart(6)} KB  ${name.padEnd(36)} ${said}`,
  );
}

/** Seconds that reading these texts may take. */
function readingTime(files: Record<string, string>): number {
  return Object.entries(files).reduce((sum, [path, text]) => {
    const megabytes = text.length / 1e6;
    if (path.endsWith('.json')) return sum + megabytes * reading.json;
    const values = text.match(/[[{,:\n]|[-?] /g)?.length ?? 0;
    return sum + Math.max(megabytes * reading.yaml, (values / 1e6) * reading.values);
  }, 0);
}

/** Processor seconds that the process has taken, all threads, or null when it has ended. */
function cpuOf(of: Child): number | null {
  try {
    const fields = readFileSync(`/proc/${of.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return null;
  }
}

/** A sandbox that has seen a valid and an invalid document of each kind, as one that has been at work. */
async function warmChild(): Promise<Child> {
  const made = startChild(limits.memoryMegabytes, isolation);
  const versions = ['"swagger":"2.0"', '"openapi":"3.0.4"', '"openapi":"3.1.2"'];
  const documents: ['apis' | 'schemas' | 'rulesets', string][] = [
    ...versions.map(
      (version) => ['apis', `{${version},"info":{"title":"a","version":"1"},"paths":{}}`] as ['apis', string],
    ),
    ...versions.map((version) => ['apis', `{${version},"info":{"title":1},"paths":{}}`] as ['apis', string]),
    ...Object.values(dialects).map(({ uri }) => ['schemas', `{"$schema":"${uri}"}`] as ['schemas', string]),
    ['rulesets', '{"extends":["minimal"]}'],
  ];
  for (const [type, document] of documents) {
    const load = async (): Promise<LoadedFile[]> => [{ path: 'a.json', bytes: Buffer.from(document) }];
    const input = { type, entry: 'a.json', validation: 'strict' as const, ruleset: null, limits };
    await made.run({ type: 'compile', input }, { seconds: 30, load, signal: undefined });
  }
  return made;
}
