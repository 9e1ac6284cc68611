import { sampleOf } from '../sample.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Load } from '../../src/compile/compile.ts';
import { shareCompiler } from './shared-compiler.ts';
import { formatProblem, problemAtFile } from '../../src/model/problem.ts';
import { limits } from './limits.ts';
import { inputOf, memoryLoad } from './sandbox/memory-load.ts';

const corpus = '../shared/corpus';
const isThere = existsSync(corpus);

const load: Load = async (paths) =>
  paths.map((path) => {
    const file = join(corpus, path);
    return existsSync(file)
      ? { path, found: true, bytes: readFileSync(file), blob: null }
      : { path, found: false, problem: problemAtFile('file-missing', path, 'There is no such file.') };
  });

function filesBelow(folder: string): string[] {
  return readdirSync(join(corpus, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:json|ya?ml)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(corpus.length + 1))
    .sort();
}

const compiler = shareCompiler();

async function compile(entry: string, from: Load = load) {
  const { artifact, report, files } = await compiler.compile(inputOf(entry, { type: null }), from);
  return {
    isPublished: artifact !== null,
    problems: report.problems,
    lines: report.problems.map(formatProblem),
    files,
  };
}

describe.skipIf(!isThere)(isThere ? 'the corpus of broken documents' : 'skipped: the corpus is not there', () => {
  it.each([
    ['derived/bom-utf8.yaml', null],
    ['derived/crlf.yaml', null],
    ['derived/multi-doc-end-marker.yaml', null],
    ['derived/latin1-bytes.yaml', 'derived/latin1-bytes.yaml:3:13 error encoding'],
    ['derived/multi-doc-trailing-empty.yaml', 'derived/multi-doc-trailing-empty.yaml:179:1 error yaml-documents'],
    ['derived/multi-doc-two-openapi.yaml', 'derived/multi-doc-two-openapi.yaml:180:1 error yaml-documents'],
    ['derived/nul-byte.yaml', 'derived/nul-byte.yaml:3:20 error control-character'],
    ['derived/truncated.yaml', 'derived/truncated.yaml:'],
    ['derived/utf16le-bom.yaml', 'derived/utf16le-bom.yaml:1:1 error encoding'],
  ])('%s', async (entry, problem) => {
    const { isPublished, lines } = await compile(entry);
    expect(isPublished).toBe(problem === null);
    if (problem === null) expect(lines).toEqual([]);
    else expect(lines[0]).toContain(problem);
  });

  it.each([
    'invalid/openapi3-examples',
    'invalid/ibm-validator',
    'invalid/analysis',
    'invalid/not-openapi',
    'invalid/json-test-suite',
    'invalid/yaml-test-suite',
    'invalid/kin-openapi',
    'invalid/swagger-parser',
  ])(
    'everything in %s is published, or its report says what is wrong at a place in one of its files',
    async (folder) => {
      // Every third.
      const entries = sampleOf(filesBelow(folder), 3);
      expect(entries.length).toBeGreaterThan(0);
      await Promise.all(
        entries.map(async (entry) => {
          const { isPublished, problems, files } = await compile(entry);
          const errors = problems.filter(({ severity }) => severity === 'error');
          expect([entry, isPublished]).toEqual([entry, errors.length === 0]);
          for (const { rule, file, line, column, message } of problems) {
            expect([entry, rule]).not.toEqual([entry, expect.stringMatching(/^sandbox-/)]);
            expect(files.map(({ path }) => path)).toContain(file);
            expect(line).toBeGreaterThan(0);
            expect(column).toBeGreaterThan(0);
            expect(message).not.toMatch(/\/tree\/|node_modules|undefined|\[object/);
          }
        }),
      );
    },
  );
});

describe('documents that are made to hurt', () => {
  it.each([
    ['a million brackets', 'a.yaml', () => `openapi: 3.0.0\nx: ${'['.repeat(1_000_000)}`],
    [
      'a million members, each in the one before',
      'a.json',
      () => `{"openapi": "3.0.0", "x": ${'{"a":'.repeat(1_000_000)}`,
    ],
    ['33 MB', 'a.yaml', () => `openapi: 3.0.0\nx: ${'x'.repeat(33 * 1024 * 1024)}`],
    ['a billion laughs', 'a.yaml', () => laughs()],
    ['a hundred thousand aliases', 'a.yaml', () => `openapi: 3.0.0\na: &a 1\nx: [${'*a,'.repeat(100_000)}]`],
  ])('%s: a problem that says so, and the next document is compiled', async (_, entry, make) => {
    const { isPublished, lines } = await compile(entry, memoryLoad({ [entry]: make() }));
    expect(isPublished).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/^a\.\w+:\d+:\d+ error limit-(?:depth|nodes|file-bytes|aliases): /)]);
    const good = 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\n';
    expect((await compile('b.yaml', memoryLoad({ 'b.yaml': good }))).isPublished).toBe(true);
  });

  it('200 MB are refused', async () => {
    const bytes = Buffer.alloc(200 * 1024 * 1024, 'x');
    const { lines } = await compile('a.yaml', async ([path = '']) => [{ path, found: true, bytes, blob: null }]);
    expect(lines).toEqual([
      expect.stringContaining(
        `limit-file-bytes: The file has ${bytes.length} bytes; the limit is ${limits.fileBytes}.`,
      ),
    ]);
  });
});

function laughs(): string {
  const lines = ['openapi: 3.0.0', 'a: &a [lol,lol,lol,lol,lol,lol,lol,lol,lol]'];
  const names = [...'abcdefghijk'];
  for (const [index, name] of names.slice(1).entries())
    lines.push(`${name}: &${name} [${Array(9).fill(`*${names[index]}`).join()}]`);
  return lines.join('\n');
}
