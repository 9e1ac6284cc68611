import { describe, expect, it } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import { findIsolation } from '../../../src/compile/sandbox/isolation.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import { limits } from '../limits.ts';
import { inputOf, memoryLoad } from './memory-load.ts';
import { openCompilerHere, slow, valid } from './sandbox-world.ts';

const compiler = openCompilerHere();

it('is not kept busy by references that are found one by one, each in a round of its own', async () => {
  const count = 6000;
  const next = (at: number) => ({ properties: { p: { $ref: `#/components/schemas/s${at + 1}` } } });
  const chain = Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, next(at)]));
  const document = {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: {},
    'x-a': { b: { $ref: '#/components/schemas/s0' } },
    components: { schemas: { ...chain, [`s${count}`]: { type: 'string' } } },
  };
  const { artifact, report } = await compiler.compile(
    inputOf('a.json'),
    memoryLoad({ 'a.json': JSON.stringify(document) }),
  );
  expect(artifact).toBeNull();
  expect(report.problems.map(formatProblem)).toEqual([
    expect.stringContaining('limit-references: References lead through too many others'),
  ]);
});

describe('the sandbox', () => {
  it.each([
    [
      'slow',
      '{"rules": {"rule/slow": {"subject": {"type": "Info", "property": "title"}, "assertions": {"pattern": "/^(?=(a+)+$)b/"}}}}',
    ],
    [
      'deep',
      '{"rules": {"deep": {"given": "$.x-a", "then": {"function": "schema", "functionOptions": {"schema": {"additionalProperties": {"$ref": "#"}}}}}}}',
    ],
  ])('says which rule was at work when it took too long: %s', async (name, json) => {
    const shared = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `s${at}`,
        { a: { $ref: `#/x-s/s${at + 1}` }, b: { $ref: `#/x-s/s${at + 1}` } },
      ]),
    );
    const document = {
      openapi: '3.1.0',
      info: { title: `${'a'.repeat(60)}!`, version: '1' },
      paths: {},
      'x-a': { $ref: '#/x-s/s0' },
      'x-s': { ...shared, s60: {} },
    };
    const checked = compiler.compile(
      inputOf('a.json', {
        limits: { ...limits, seconds: 1 },
        ruleset: { name: '@acme/rulesets/r@1', json, digest: digestOf(Buffer.from(json)) },
      }),
      memoryLoad({ 'a.json': JSON.stringify(document) }),
    );
    await expect(checked).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(`The rule "(rule/)?${name}" of its ruleset was at work`) as string,
    });
  });

  it('is killed when it needs too much memory', async () => {
    const { artifact, report } = await compiler.compile(
      inputOf('slow.json', { limits: { ...limits, memoryMegabytes: 160 } }),
      memoryLoad({ 'slow.json': slow }),
    );
    expect(artifact).toBeNull();
    expect(report.problems.map(formatProblem)).toEqual([
      'slow.json:1:1 error sandbox-memory: Compiling the document needed more than 160 MB of memory and was stopped.',
    ]);
  });

  it('is done with when something else kills it, and that is no verdict', async () => {
    const child = startChild(256, await findIsolation('auto'));
    const load = async () => {
      process.kill(child.pid!, 'SIGKILL');
      return [];
    };
    const outcome = await child.run(
      { type: 'compile', input: inputOf('a.yaml') },
      { seconds: 60, load, signal: undefined },
    );
    expect(outcome).toEqual({ lost: expect.stringContaining('It ended with') as string, isHung: false });
    expect(child.isUsable()).toBe(false);
  });

  it('counts the time that it works, not the time that passes', async () => {
    const child = startChild(256, await findIsolation('auto'));
    const files = memoryLoad({ 'a.yaml': valid });
    const compile = (load: typeof files | (() => ReturnType<typeof files>), seconds: number) =>
      child.run({ type: 'compile', input: inputOf('a.yaml') }, { seconds, load: load as never, signal: undefined });
    await compile(files, 60);
    const outcome = await compile(async () => {
      process.kill(child.pid!, 'SIGSTOP');
      setTimeout(() => process.kill(child.pid!, 'SIGCONT'), 1200);
      return files(['a.yaml']);
    }, 0.8);
    expect(outcome).toMatchObject({ answer: { report: { problems: [] } } });
    child.kill();
  });
});
