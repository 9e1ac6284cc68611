import { describe, expect, it } from 'vitest';
import type { CompileGate } from '../../src/compile/compile.ts';
import { passGate } from '../../src/compile/run.ts';
import { findingKey } from '../../src/model/gate.ts';
import { type Exemption, type Problem, blockingIn } from '../../src/model/problem.ts';
import { digestOf } from '../../src/model/digest.ts';
import { run } from './run.ts';

const document = `openapi: 3.1.0
info: {title: x, version: "1"}
paths:
  /a: {get: {responses: {default: {description: ok}}}}
  /b: {get: {responses: {default: {description: ok}}}}
`;
const json = JSON.stringify({ rules: { 'operation-summary': 'error', 'operation-description': 'warn' } });
const ruleset = { digest: digestOf(json), name: '@acme/rulesets/style@1.0.0', json };
const at = { file: 'stele.yaml', pointer: '/resources/0/exemptions/0', line: 5, column: 7 };
const exemption = (given: Partial<Exemption>): Exemption => ({
  rule: 'operation-summary',
  reason: 'Old.',
  at,
  ...given,
});
const gate = (given: Partial<CompileGate> = {}): CompileGate => ({
  blockOn: 'error',
  exemptions: [],
  today: '2026-11-22',
  known: null,
  ...given,
});
const check = (given: Partial<CompileGate> = {}, files: Record<string, string> = {}) =>
  run({ 'a.yaml': document, ...files }, { ruleset, gate: gate(given) });

describe('blockOn', () => {
  it.each([
    ['error', 2],
    ['warn', 4],
    ['none', 0],
  ] as const)('%s: %i findings block', async (blockOn, blocking) => {
    const { artifact, report } = await check({ blockOn });
    expect(artifact === null).toBe(blocking > 0);
    expect(blockingIn(report)).toBe(blocking);
    expect(report.counts).toEqual({ error: 2, warning: 2, info: 0 });
    expect(report.gate).toEqual({ ruleset: { name: ruleset.name, digest: ruleset.digest }, blockOn });
    expect(report.problems.every(({ ofRuleset }) => ofRuleset === true)).toBe(true);
  });

  it('none does not let an invalid document pass', async () => {
    const { artifact } = await run(
      { 'a.yaml': `${document}nothing: 1\n` },
      { ruleset, gate: gate({ blockOn: 'none' }) },
    );
    expect(artifact).toBe(null);
  });
});

describe('an exemption', () => {
  const pointers = async (given: Partial<Exemption>) => {
    const { report } = await check({ exemptions: [exemption(given)] });
    return (report.exempted ?? []).map(({ rule, pointer }) => `${rule} ${pointer}`);
  };

  it.each<[Partial<Exemption>, string[]]>([
    [{}, ['operation-summary /paths/~1a/get', 'operation-summary /paths/~1b/get']],
    [{ pointer: '/paths/~1a/get/summary' }, ['operation-summary /paths/~1a/get']],
    [{ pointer: '/paths/~1a/**' }, ['operation-summary /paths/~1a/get']],
    [{ pointer: '/paths/*/get/*', rule: 'operation-d*' }, ['operation-description /paths/~1a/get', 'operation-description /paths/~1b/get']],
    [{ pointer: '/paths/~1c/get' }, []],
    [{ expires: '2026-11-21' }, []],
    [{ expires: '2026-11-22', pointer: '/paths/~1b/get/summary' }, ['operation-summary /paths/~1b/get']],
  ])('%j takes out what it matches', async (given, expected) => {
    expect((await pointers(given)).map((line) => line.replace(/\/summary$|\/description$/, ''))).toEqual(expected);
  }); // prettier-ignore

  it('goes into the report with its reason; what it matches blocks no more', async () => {
    const one = exemption({ owner: 'team-a', expires: '2027-01-01' });
    const { artifact, report } = await check({ exemptions: [one] });
    expect(artifact === null).toBe(false);
    expect(report.counts).toEqual({ error: 0, warning: 2, info: 0 });
    expect(report.exempted![0]).toMatchObject({
      rule: 'operation-summary',
      ofRuleset: true,
      exemption: { reason: 'Old.', owner: 'team-a', expires: '2027-01-01', at: 'stele.yaml:5:7' },
    });
    expect(report.gate).toMatchObject({ exemptions: [one], today: '2026-11-22' });
  });

  it('that ended or matches nothing is reported at its place', async () => {
    const { artifact, lines } = await check({
      exemptions: [exemption({ expires: '2026-01-01' }), exemption({ rule: 'no-such-rule' })],
    });
    expect(artifact).toBe(null);
    expect(lines.filter((line) => line.startsWith('stele.yaml'))).toEqual([
      'stele.yaml:5:7 warning exemption-expired: operation-summary: The exemption ended on 2026-01-01 and does not count any more.',
      'stele.yaml:5:7 info exemption-unused: no-such-rule: The exemption matches no finding. Remove it, unless it approves a breaking change.',
    ]);
  });

  it('in .redocly.lint-ignore.yaml counts, for this document only', async () => {
    const ignore = `a.yaml:\n  operation-summary:\n    - '#/paths/~1a/get/summary'\n    - '#/paths/~1a/get'\n    - '#/paths/~1b/get/summary'\n    - '#/paths/~1b/get'\nother.yaml:\n  operation-summary: ['#/paths/~1c/get']\n`;
    const { artifact, report } = await check({}, { '.redocly.lint-ignore.yaml': ignore });
    expect(artifact === null).toBe(false);
    expect(report.exempted).toHaveLength(2);
    expect(report.exempted![0]!.exemption.reason).toBe('listed in .redocly.lint-ignore.yaml');
    expect(JSON.stringify(report.problems)).not.toContain('~1c');
  });

  it.each<[content: string, warnings: string[]]>([
    ['a.yaml: [1', ['1:11 warning yaml-syntax: Unexpected end of file: a bracket or brace is not closed. Nothing in this file is exempted.']],
    ['- a.yaml', ['1:1 warning settings: This file must name files, their rules, and lists of pointers.']],
    ['a.yaml: [1]', ['1:9 warning settings: This must name rules, each with a list of pointers.']],
    ["a.yaml: { a: '#/x', b: [true] }\nother.yaml: 1", ["1:14 warning settings: A rule must have a list of pointers, such as ['#/paths/~1pets/get'].", "1:25 warning settings: A rule must have a list of pointers, such as ['#/paths/~1pets/get']."]],
    ['# Nothing is ignored.\n', []],
  ])('a .redocly.lint-ignore.yaml that cannot be read excuses nothing, and is reported: %s', async (content, warnings) => {
    const { artifact, report, lines } = await check({ blockOn: 'warn' }, { '.redocly.lint-ignore.yaml': content });
    expect(artifact).toBe(null);
    expect(report.exempted).toBe(undefined);
    expect(report.blocking).toBe(4);
    expect(lines.filter((line) => line.startsWith('.'))).toEqual(warnings.map((line) => `.redocly.lint-ignore.yaml:${line}`));
  }); // prettier-ignore
});

it('a ratchet lets pass what is known, wherever its lines moved', async () => {
  const before = await check({ blockOn: 'none' });
  const known = before.report.problems.map(findingKey);
  const moved = document.replace('paths:', '\n\npaths:');
  const same = await run({ 'a.yaml': moved }, { ruleset, gate: gate({ known }) });
  expect(same.artifact === null).toBe(false);
  expect(same.report.problems.every((problem) => problem.known === true)).toBe(true);
  const grown = await run(
    { 'a.yaml': `${moved}  /c: {get: {responses: {default: {description: ok}}}}\n` },
    { ruleset, gate: gate({ known }) },
  );
  expect(grown.artifact).toBe(null);
  expect(blockingIn(grown.report)).toBe(1);
});

describe('a ratchet', () => {
  const rules = JSON.stringify({ rules: { 'operation-summary': 'error', 'parameter-description': 'error' } });
  const strict = { digest: digestOf(rules), name: ruleset.name, json: rules };
  const withParameters = (path: string, ...parameters: string[]) =>
    `openapi: 3.1.0\ninfo: {title: x, version: "1"}\npaths:\n  ${path}:\n    get:\n      summary: x\n` +
    `      parameters:\n${parameters.map((one) => `        - {${one}, schema: {}}\n`).join('')}` +
    '      responses: {default: {description: ok}}\n';
  const id = (name: string) => `name: ${name}, in: path, required: true`;
  const passes = async (before: string, after: string) => {
    const first = await run(
      { 'a.yaml': before },
      { ruleset: strict, gate: gate({ blockOn: 'none', listsKnown: true }) },
    );
    const { known: keys = [] } = first.report;
    const { report } = await run({ 'a.yaml': after }, { ruleset: strict, gate: gate({ known: keys }) });
    return blockingIn(report);
  };
  const q = 'name: q, in: query';
  const said = 'name: said, in: query, description: said';

  it.each<[what: string, before: string, after: string, blocking: number]>([
    ['knows a finding whose place in a list moved', withParameters('/a', q), withParameters('/a', said, q), 0],
    ['knows one whose path names its parameter otherwise', withParameters('/a/{id}', id('id')), withParameters('/a/{key}', id('key')), 0],
    ['counts: a second one in the same list is new', withParameters('/a', q), withParameters('/a', q, 'name: r, in: query'), 1],
    ['does not take another path for the same', withParameters('/a', q), withParameters('/b', q), 1],
  ])('%s', async (_, before, after, blocking) => {
    expect(await passes(before, after)).toBe(blocking);
  }); // prettier-ignore

  it('does not take the response 201 for the response 200', () => {
    const of = (code: number): Problem => ({ rule: 'r', severity: 'error', message: 'm', file: 'a', pointer: `/paths/~1a/get/responses/${code}`, line: 1, column: 1 }); // prettier-ignore
    const { blocking } = passGate([], [of(201)], { ruleset, gate: gate({ known: [findingKey(of(200))] }) });
    expect(blocking ?? 1).toBe(1);
  });

  it('knows all findings of a version, not only those that a report keeps', () => {
    const line1 = { file: 'a.yaml', line: 1, column: 1 };
    const many = Array.from({ length: 1_001 }, (_, n): Problem => ({ rule: 'r', severity: 'error', message: 'm', pointer: `/paths/~1${n}`, ...line1 })); // prettier-ignore
    const before = passGate([], many, { ruleset, gate: gate({ blockOn: 'none', listsKnown: true }) });
    expect(before.problems).toHaveLength(1_000);
    expect(passGate([], many, { ruleset, gate: gate({ known: before.known! }) }).blocking).toBe(0);
  });
});

describe('that findings were cut', () => {
  const place = { file: 'a.yaml', pointer: '', line: 1, column: 1 };
  const noisy: Problem = { rule: 'noisy', severity: 'warning', message: 'No.', ...place };
  const cut: Problem = { rule: 'ruleset-findings-cut', severity: 'warning', message: 'Cut.', ...place };

  it.each<[accepts: string, given: Partial<CompileGate>]>([
    ['an exemption of all rules', { exemptions: [exemption({ rule: '*' })] }],
    ['a ratchet', { known: [noisy, cut].map(findingKey) }],
  ])('is not accepted by %s', (_, given) => {
    const { blocking } = passGate([], [noisy, cut], { ruleset, gate: gate({ blockOn: 'warn', ...given }) });
    expect(blocking).toBe(1);
  });
});
