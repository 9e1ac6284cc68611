import { posix } from 'node:path';
import { problemAtFile, type Problem } from '../model/problem.ts';
import type { Reading } from './settings-of.ts';
import type { Snapshot } from '../source/snapshot.ts';

/** Why discovery passes over files, and the patterns in gitignore syntax that say which. */
interface DefaultIgnore {
  /** Completes the sentence "`path` is not published: it is …". */
  reason: string;
  patterns: readonly string[];
}

/**
 * What discovery passes over unless a `.steleignore` takes it back, as if these lines stood at its
 * start. `content/docs/discovery.md` lists them. They name what is nearly never an API of the
 * repository itself. Each star stands at one end, so that matching takes linear time.
 */
export const defaultIgnores: readonly DefaultIgnore[] = [
  { reason: 'in a hidden folder', patterns: ['.*/'] },
  {
    reason: "another project's",
    patterns: folders(
      'bower_components jspm_packages site-packages dist-packages venv virtualenv',
      'vendor vendored third_party third-party thirdparty Pods Carthage',
    ),
  },
  {
    reason: 'built from other files',
    patterns: folders('dist build _build target out bin obj _site coverage bundled dereferenced'),
  },
  {
    reason: 'for tests',
    patterns: [
      ...folders('test tests testing __tests__ *-test *-tests *_test *_tests *.test *.tests e2e'),
      ...folders(
        'testdata test-data test_data testcases test-cases test_cases test-files test_files test-fixtures test_fixtures',
      ),
      ...folders(
        'fixture fixtures __fixtures__ mock mocks __mocks__ stub stubs __stubs__ __snapshots__ benchmark benchmarks',
      ),
      ...files('test tests fixture fixtures mock mocks'),
    ],
  },
  {
    reason: 'an example',
    patterns: [
      ...folders('example examples *-example *-examples *_example *_examples'),
      ...folders('sample samples *-sample *-samples *_sample *_samples'),
      ...folders('demo demos *-demo *-demos *_demo *_demos tutorial tutorials playground playgrounds'),
      ...files('example examples sample samples demo'),
    ],
  },
  { reason: 'a template', patterns: ['*{{*', '*{%*', '*<%*', '*.tmpl.*', '*.tpl.*', '*.template.*'] },
];

function folders(...names: string[]): string[] {
  return names.flatMap((each) => each.split(' ').map((name) => `${name}/`));
}

function files(names: string): string[] {
  return names.split(' ').map((name) => `*.${name}.*`);
}

/** Decides which files are passed over because of their path. */
export interface Ignores {
  /** Excluded by the repository's `.steleignore`: why, by path. Patterns in `stele.yaml` skip these. */
  byFile: ReadonlyMap<string, string>;
  /** Excluded by it or by default: why, by path. Discovery skips these. */
  byDefault: ReadonlyMap<string, string>;
  /** Why the file cannot be applied, or null. Nothing must be published then. */
  problem: Problem | null;
}

const fileName = '.steleignore';
const maxBytes = 100_000;
const defaults = defaultIgnores.flatMap(({ reason, patterns }) => patterns.map((pattern) => ({ reason, pattern })));

/**
 * Reads the `.steleignore` of the followed folder and applies it to paths of that folder, after the
 * patterns that apply by default.
 */
export async function readIgnores(
  { registry, repository: { org, discover }, snapshot, signal }: Reading,
  paths: readonly string[],
  isDiscovering: boolean,
): Promise<Ignores> {
  const folder = discover ?? '';
  const path = posix.join(folder, fileName);
  const given = await readLines(snapshot, path);
  if (!Array.isArray(given)) return refused(given);
  const relative = paths.map((each) => each.slice(folder === '' ? 0 : folder.length + 1));
  const usual = defaults.map(({ pattern }) => pattern);
  const apply = async (patterns: readonly string[]) =>
    patterns.length === 0 || paths.length === 0
      ? []
      : registry.compiler.ignored(patterns, relative, registry.config.limits, { org, signal });
  const byFile = await apply(given);
  const byDefault = byFile && (isDiscovering ? await apply([...usual, ...given]) : []);
  if (byFile === null || byDefault === null)
    return refused(
      problemAtFile(
        'ignore-limits',
        path,
        'Its patterns take too much work to match. Use fewer of them, or fewer stars.',
      ),
    );
  const reasonFor = (index: number): string =>
    index < usual.length
      ? `${defaults[index]!.reason} (${usual[index]})`
      : `excluded by ${path}:${index - usual.length + 1}`;
  const reasons = (lines: readonly number[], shift: number) =>
    new Map(
      paths.flatMap((each, at) => ((lines[at] ?? -1) < 0 ? [] : [[each, reasonFor(lines[at]! + shift)] as const])),
    );
  return { byFile: reasons(byFile, usual.length), byDefault: reasons(byDefault, 0), problem: null };
}

/** The lines of the file; none when there is no file. A problem when it cannot be read. */
async function readLines(snapshot: Snapshot, path: string): Promise<string[] | Problem> {
  const [file] = await snapshot.read([path]);
  if (!file?.found) return file === undefined || file.problem.rule === 'file-missing' ? [] : file.problem;
  if (file.bytes.length > maxBytes)
    return problemAtFile('file-too-large', path, `${path} has ${file.bytes.length} bytes; the limit is ${maxBytes}.`);
  return new TextDecoder().decode(file.bytes).split(/\r?\n/);
}

function refused(problem: Problem): Ignores {
  return { byFile: new Map(), byDefault: new Map(), problem };
}
