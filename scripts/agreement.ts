// How Stele's verdict on OpenAPI documents compares with three other tools': node scripts/agreement.ts [corpus folder] [path prefix]
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Load } from '../src/compile/compile.ts';
import { openCompiler } from '../src/compile/sandbox/sandbox.ts';
import { formatProblem, problemAtFile, type Problem } from '../src/model/problem.ts';

const [corpus = '../shared/corpus', prefix = ''] = process.argv.slice(2);
const limits = {
  fileBytes: 32 * 2 ** 20,
  bundleBytes: 64 * 2 ** 20,
  files: 5000,
  depth: 200,
  aliases: 10_000,
  nodes: 2_000_000,
  seconds: 60,
  memoryMegabytes: 2048,
};

type Verdict = 'valid' | 'invalid' | 'none';

interface Row {
  file: string;
  version: string;
  ours: Verdict;
  others: Record<'redocly' | 'scalar' | 'readme', Verdict>;
  said: string;
  problems: Problem[];
}

/** Why Stele's verdict differs from most of the others', the first that fits. */
const classes: [reason: string, fits: (row: Row) => boolean][] = [
  ['refused by design: bytes that are no UTF-8 or no text', blockedBy(/^(?:encoding|control-character)$/)],
  ['refused by design: JSON that is not strict JSON', blockedBy(/^json-syntax$/)],
  ['refused by design: a key twice', blockedBy(/^duplicate-key$/)],
  [
    'refused by design: a reference to the network or out of the tree',
    blockedBy(/^ref-(?:remote|scheme|outside-tree|syntax|registry)$/),
  ],
  [
    'a reference that leads nowhere, which others do not look at',
    blockedBy(/^(?:ref-unresolved|ref-circular|ref-anchor|file-missing)$/),
  ],
  ['a YAML text that other parsers let pass', blockedBy(/^yaml-/)],
  ['the official schema refuses it', blockedBy(/^(?:schema|struct|openapi-version)$/)],
  [
    'what "xml" of a schema may not say at once, which is not looked at',
    accepts(({ file }) => /fail\/xml-/.test(file)),
  ],
  ['the others do not know OpenAPI 3.2 in full', accepts(({ version }) => version.startsWith('3.2'))],
  [
    'a reference that leads nowhere in an extension or an example: a warning',
    accepts(({ problems }) => problems.some(({ rule }) => rule === 'file-missing' || rule.startsWith('ref-'))),
  ],
  [
    'a rule of the specification’s text, not of its schema: for rulesets',
    accepts(({ said }) =>
      /operationId|operation-parameters|path parameter|path-parameters|path-params|invalid name|invalid-map-name|no-identical-paths|spec-strict-refs|Found multiple|duplicate/i.test(
        said,
      ),
    ),
  ],
  ['style: siblings of a reference', accepts(({ said }) => /spec-ref-siblings/.test(said))],
  ['YAML 1.2 that js-yaml does not read', accepts(({ said }) => /deficient indentation/.test(said))],
  [
    'a reference to a part of another kind, or a rule that the official schema does not have',
    accepts(({ said }) => /struct:|ADDITIONAL PROPERTY|REQUIRED|must include an/.test(said)),
  ],
];

function blockedBy(rule: RegExp): (row: Row) => boolean {
  return ({ ours, problems }) =>
    ours === 'invalid' && problems.some((problem) => problem.severity === 'error' && rule.test(problem.rule));
}

function accepts(fits: (row: Row) => boolean): (row: Row) => boolean {
  return (row) => row.ours === 'valid' && fits(row);
}

const load: Load = async (paths) =>
  paths.map((path) => {
    const plain = join(corpus, path);
    if (existsSync(plain) && !plain.endsWith('/')) return { path, found: true, bytes: readFileSync(plain), blob: null };
    if (existsSync(`${plain}.gz`))
      return { path, found: true, bytes: gunzipSync(readFileSync(`${plain}.gz`)), blob: null };
    return { path, found: false, problem: problemAtFile('file-missing', path, 'There is no such file.') };
  });

function verdictOf(text: string): Verdict {
  return text === 'valid' || text === 'invalid' ? text : 'none';
}

const lines = readFileSync(join(corpus, 'validity.tsv'), 'utf8').trimEnd().split('\n').slice(1);
const compiler = openCompiler({ children: 2 });
const rows = await Promise.all(
  lines
    .map((line) => line.split('\t'))
    .filter(([file = '']) => file.startsWith(prefix))
    .map(async ([file = '', version = '', , redocly = '', scalar = '', readme = '', ...said]): Promise<Row> => {
      const entry = file.replace(/\.gz$/, '');
      const input = { type: 'apis', entry, validation: 'strict', ruleset: null, limits } as const;
      const { artifact, report } = await compiler.compile(input, load);
      return {
        file,
        version,
        ours: artifact === null ? 'invalid' : 'valid',
        others: {
          redocly: redocly === '0' ? 'valid' : 'invalid',
          scalar: verdictOf(scalar),
          readme: verdictOf(readme),
        },
        said: said.slice(3).join(' // '),
        problems: report.problems,
      };
    }),
);
await compiler.close();

function majority({ others }: Row): Verdict {
  const votes = Object.values(others);
  const valid = votes.filter((vote) => vote === 'valid').length;
  const invalid = votes.filter((vote) => vote === 'invalid').length;
  return valid > invalid ? 'valid' : invalid > valid ? 'invalid' : 'none';
}

console.log(
  `${rows.length} documents\n\n| tool | both valid | both invalid | Stele alone valid | Stele alone invalid | no verdict | agreement |`,
);
console.log('|---|---|---|---|---|---|---|');
const tools: [string, (row: Row) => Verdict][] = [
  ['redocly, no finding of its spec rules', ({ others }) => others.redocly],
  ['scalar', ({ others }) => others.scalar],
  ['readme', ({ others }) => others.readme],
  ['most of the three', majority],
];
for (const [tool, verdict] of tools) {
  const count = (ours: Verdict, theirs: Verdict) =>
    rows.filter((row) => row.ours === ours && verdict(row) === theirs).length;
  const same = count('valid', 'valid') + count('invalid', 'invalid');
  const voted = rows.filter((row) => verdict(row) !== 'none').length;
  console.log(
    `| ${tool} | ${count('valid', 'valid')} | ${count('invalid', 'invalid')} | ${count('valid', 'invalid')} | ${count('invalid', 'valid')} | ` +
      `${rows.length - voted} | ${((100 * same) / voted).toFixed(1)} % |`,
  );
}

const differing = rows.filter((row) => majority(row) !== 'none' && majority(row) !== row.ours);
const byClass = Map.groupBy(
  differing,
  (row) => `${row.ours}: ${classes.find(([, fits]) => fits(row))?.[0] ?? 'UNCLASSIFIED'}`,
);
console.log(`\n${differing.length} verdicts differ from most of the others':\n`);
for (const [reason, members] of [...byClass].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${members.length} × ${reason}`);
  for (const { file, others, said, problems } of members) {
    const first = problems.find(({ severity }) => severity === 'error');
    console.log(
      `    ${file} (${Object.values(others).join(', ')}): ${first ? formatProblem(first) : said.slice(0, 160)}`,
    );
  }
}
const unclassified = [...byClass.keys()].filter((reason) => reason.endsWith('UNCLASSIFIED'));
const died = rows.filter(({ problems }) => problems.some(({ rule }) => rule.startsWith('sandbox-')));
for (const { file, problems } of died) console.log(`sandbox died: ${file} ${problems[0]?.rule}`);
process.exitCode = unclassified.length > 0 ? 1 : 0;
