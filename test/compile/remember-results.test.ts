import { beforeEach, expect, test } from 'vitest';
import { rememberResults } from '../../src/compile/remember-results.ts';
import type { Artifact, CompileInput, Compiled, Load } from '../../src/compile/compile.ts';
import type { Sandboxes } from '../../src/compile/sandboxes.ts';
import { createReport, problemAtFile } from '../../src/model/problem.ts';
import type { SnapshotFile } from '../../src/source/snapshot.ts';
import { inputOf } from './sandbox/memory-load.ts';

const ruleset = { digest: 'sha256:aa', name: '@acme/rulesets/style@1.0.0', json: '{}' } as const;
const base = { '@acme/rulesets/base': { digest: 'sha256:bb', json: '{}' } } as const;

let compiles: number;
let files: Record<string, string>;
let blob: string | null;
let rule: string;
beforeEach(() => {
  compiles = 0;
  files = { 'a.json': '{"$ref":"b.json"}', 'b.json': '{}' };
  blob = null;
  rule = 'file-missing';
});

const load: Load = async (paths) =>
  paths.map((path): SnapshotFile => {
    const text = files[path];
    if (text === undefined) return { path, found: false, problem: problemAtFile(rule, path, 'No.') };
    return { path, found: true, bytes: Buffer.from(text), blob };
  });

/** Reads the entry, then two more, and answers with all that it read. */
const slow = {
  async compile(input: CompileInput, read: Load): Promise<Compiled> {
    compiles++;
    const loaded = [...(await read(['a.json'])), ...(await read(['b.json', 'c.json']))];
    const collected = loaded.map((file) => ({ blob: null, bytes: null, ...file }));
    const wrong = files['b.json'] === 'wrong' ? [problemAtFile('struct', 'a.json', 'It is wrong.')] : [];
    const artifact = wrong.length > 0 || input.reportOnly ? null : ({ representations: [] } as unknown as Artifact);
    return { artifact, report: createReport(wrong), files: collected };
  },
} as Partial<Sandboxes> as Sandboxes;

const compiler = () => {
  const { compile } = rememberResults(slow);
  return (changes: Partial<CompileInput> = {}, org = 'acme') => compile(inputOf('a.json', changes), load, { org });
};

test('the same input, from the same organization, is compiled once', async () => {
  const compile = compiler();
  const first = await compile();
  expect(await compile()).toEqual(first);
  expect(compiles).toBe(1);
  await compile({}, 'other');
  expect(compiles).toBe(2);
});

test('a report that is all that was asked for is remembered, apart from the whole result', async () => {
  const compile = compiler();
  const first = await compile({ reportOnly: true });
  expect(await compile({ reportOnly: true })).toEqual(first);
  expect(compiles).toBe(1);
  expect((await compile()).artifact).not.toBeNull();
  expect(compiles).toBe(2);
});

test('the same bytes from a commit have its blobs', async () => {
  const compile = compiler();
  await compile();
  blob = 'b10b';
  expect((await compile()).files.map((file) => file.blob)).toEqual(['b10b', 'b10b', null]);
  expect(compiles).toBe(1);
});

test.each<[string, Partial<CompileInput>, (() => void)?]>([
  ['another byte in the entry', {}, () => void (files['a.json'] = '{"$ref":"c.json"}')],
  ['another byte in a file that it refers to', {}, () => void (files['b.json'] = '[]')],
  ['a file that was missing', {}, () => void (files['c.json'] = '{}')],
  ['a file that is gone', {}, () => void delete files['b.json']],
  ['another problem with a missing file', {}, () => void (rule = 'symlink')],
  ['another validation', { validation: 'lenient' }],
  ['another limit', { limits: { ...inputOf('a.json').limits, nodes: 7 } }],
  ['a ruleset', { ruleset }],
])('%s is compiled again', async (_name, changes, change) => {
  const compile = compiler();
  await compile();
  change?.();
  await compile(changes);
  expect(compiles).toBe(2);
});

test('a ruleset is another one by its content, its name and what it extends', async () => {
  const compile = compiler();
  const others = [
    ruleset,
    { ...ruleset, digest: 'sha256:cc' },
    { ...ruleset, name: 'other' },
    { ...ruleset, extended: base },
  ];
  for (const other of others) await compile({ ruleset: other as typeof ruleset });
  expect(compiles).toBe(4);
  await compile({ ruleset: { ...ruleset, extended: { ...base } } });
  expect(compiles).toBe(4);
});

test('a refused document is compiled again, so that who repeats it waits in line', async () => {
  const compile = compiler();
  files['b.json'] = 'wrong';
  await compile();
  await compile();
  expect(compiles).toBe(2);
});

test('results over the limit are forgotten, the oldest first', async () => {
  const { compile } = rememberResults(slow, 4000);
  const ask = (entry: string) => {
    files['a.json'] = entry;
    return compile(inputOf('a.json'), load, { org: 'acme' });
  };
  for (const entry of ['1', '22', '333', '333', '22', '4444', '1']) await ask(entry);
  expect(compiles).toBe(5);
});

test('what is remembered keeps no other bytes in memory', async () => {
  const part = (text: string) => Buffer.from(text).subarray(0, text.length);
  const representations = [{ format: 'json', coding: 'identity', bytes: part('{}') }];
  const { compile } = rememberResults({
    async compile(_input: CompileInput, read: Load): Promise<Compiled> {
      const [entry] = await read(['a.json']);
      const artifact = { representations } as unknown as Artifact;
      return { artifact, report: createReport([]), files: [{ blob: null, bytes: null, ...entry! }] };
    },
  } as Partial<Sandboxes> as Sandboxes);
  await compile(inputOf('a.json'), load, { org: 'acme' });
  const again = await compile(inputOf('a.json'), load, { org: 'acme' });
  const kept = [
    ...again.artifact!.representations.map(({ bytes }) => bytes),
    ...again.files.map(({ bytes }) => bytes!),
  ];
  expect(kept.map((bytes) => Buffer.from(bytes).toString())).toEqual(['{}', files['a.json']]);
  expect(kept.map((bytes) => bytes.buffer.byteLength)).toEqual(kept.map((bytes) => bytes.byteLength));
});
