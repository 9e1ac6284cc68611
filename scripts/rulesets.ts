/**
 * Prints as tables in Markdown what becomes of every ruleset of the corpus, and where findings and verdicts
 * differ from those of the tools that the cases are from. docs/rulesets.md has the sums.
 *
 *   node scripts/rulesets.ts ../shared/corpus
 */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { kindOf } from '../src/compile/detect.ts';
import { compileRuleset } from '../src/compile/ruleset/ruleset.ts';
import { findingsOf, readCase } from '../test/compile/openapi/redocly-case.ts';
import { excluded, refused } from '../test/compile/ruleset/redocly-cases.ts';
import { withNeighbours } from '../test/compile/ruleset/with-neighbours.ts';
import { notCompared, scenarios } from '../test/compile/ruleset/spectral/scenarios.ts';
import { catalogue, checks, left } from '../test/diff/oasdiff.ts';

const corpus = join(process.argv[2] ?? '../shared/corpus', 'rulesets');

for (const [title, text] of [
  ['Real rulesets', await realRulesets()],
  ["Redocly's own cases", await redoclyCases()],
  ["Spectral's own scenarios", spectralScenarios()],
  ["oasdiff's catalogue", oasdiffChecks()],
])
  console.log(`## ${title}\n\n${text}\n`);

async function realRulesets(): Promise<string> {
  const rows: string[][] = [];
  const counts = new Map<string, number>();
  for (const folder of ['redocly', 'spectral', 'spectral-fixtures']) {
    for (const entry of readdirSync(join(corpus, folder), { recursive: true, withFileTypes: true })) {
      const path = relative(corpus, join(entry.parentPath, entry.name));
      if (!entry.isFile() || !/\.(?:ya?ml|json)$/.test(path) || path.includes('lint-ignore')) continue;
      const input = withNeighbours(corpus, path);
      if (kindOf(input.entry.value)?.kind === 'openapi') continue;
      const { problems } = await compileRuleset(input);
      const errors = problems.filter(({ severity }) => severity === 'error');
      const [first] = errors;
      const outcome = first === undefined ? 'accepted' : `refused: \`${first.rule}\``;
      counts.set(`${folder} ${outcome}`, (counts.get(`${folder} ${outcome}`) ?? 0) + 1);
      const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
      rows.push([
        `\`./${path}\``,
        outcome,
        first === undefined ? '' : `${first.line}: ${first.message.slice(0, 160)}${more}`,
      ]);
    }
  }
  const summary = [...counts].map(([name, count]) => [name, String(count)]);
  return [
    table(['corpus and outcome', 'rulesets'], summary),
    '\nEvery file, with the line and the message of the first error:\n',
    table(
      ['ruleset', 'outcome', 'why'],
      rows.toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
    ),
  ].join('\n');
}

async function redoclyCases(): Promise<string> {
  const folder = join(corpus, 'redocly-lint-cases/lint');
  const reasons = Object.entries(excluded).flatMap(([why, names]) => names.map((name) => [name, why] as const));
  const why = new Map([
    ...reasons,
    ...Object.entries(refused).map(([name, rule]) => [name, `refused: ${rule}`] as const),
  ]);
  let same = 0;
  const others: string[][] = [];
  for (const name of readdirSync(folder)) {
    const reason = why.get(name);
    if (reason !== undefined) others.push([name, reason]);
    else {
      const one = readCase(join(folder, name));
      const isSame = JSON.stringify(await findingsOf(one)) === JSON.stringify(one.expected);
      if (isSame) same++;
      else others.push([name, '**other findings**']);
    }
  }
  return `The same findings in ${same} cases: file, line, column, severity, rule and message. The others:\n\n${table(['case', 'not compared, because'], others)}`;
}

function spectralScenarios(): string {
  const rows = Object.entries(scenarios).map(([name, { left: missing = [], added = [], why = '' }]) => {
    const isSame = missing.length + added.length === 0;
    const differs = [...missing.map((line) => `not: ${line}`), ...added.map((line) => `instead: ${line}`)].join('; ');
    return [name, isSame ? 'same' : differs, why];
  });
  const out = Object.entries(notCompared).map(([name, why]) => [name, 'not compared', why]);
  return table(['scenario', 'findings (line, severity, rule)', 'why'], [...rows, ...out]);
}

function oasdiffChecks(): string {
  const theirs = checks.filter(([name]) => catalogue.has(name));
  const differing = theirs.filter((check) => check[6] !== undefined);
  return [
    `${theirs.length - differing.length} of ${theirs.length + left.length} checks have the same verdict, ${differing.length} another one for a reason, and ${left.length} have no counterpart.\n`,
    table(
      ['check', 'oasdiff', 'Stele', 'why'],
      differing.map(([name, level, , , , told, why]) => [`\`${name}\``, level, told, why!]),
    ),
    '\nWithout a counterpart:\n',
    table(
      ['check', 'why'],
      left.map(([name, why]) => [`\`${name}\``, why]),
    ),
  ].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (value: string) => value.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
