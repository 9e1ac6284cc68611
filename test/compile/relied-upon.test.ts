import { Validator } from '@seriousme/openapi-schema-validator';
import { createConfig, lintDocument, Oas3_2Types } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createTree } from '../../src/compile/openapi/redocly.ts';
import { limitRounds } from '../../src/compile/openapi/redocly-rounds.ts';
import { assertionNames, nodeTypes, ruleBlocks, sayAssertions } from '../../src/compile/ruleset/redocly-config.ts';
import { clearRule, sayRules } from '../../src/compile/ruleset/rule-at-work.ts';
import { appendErrors, mendComparisons } from '../../src/compile/schema/ajv.ts';
import { parseFile } from '../../src/compile/text/parse.ts';
import { limits } from './limits.ts';
import { run } from './run.ts';

/** What docs/development.md lists under "What we rely on that nobody promised", where no other test holds it. */

function treeOf(files: Record<string, object>) {
  const parsed = Object.entries(files).map(([path, value]) => {
    const file = parseFile(path, Buffer.from(JSON.stringify(value)), limits);
    if (!file.ok) throw new Error('unreadable');
    return [path, file.file] as const;
  });
  return createTree({ files: new Map(parsed) });
}

const head = { openapi: '3.1.0', info: { title: 'a', version: '1' } };

test('ajv: the generated code copies the list of errors for each reference, and ours appends', () => {
  const codes: string[] = [];
  const process = (code: string) => {
    codes.push(code);
    return appendErrors(code);
  };
  const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false, code: { process } });
  const validate = ajv.compile({
    definitions: { a: { type: 'string' } },
    properties: { b: { $ref: '#/definitions/a' }, c: { $ref: '#/definitions/a' } },
  });
  // Where this fails, ajv copies no more, and appendErrors of ajv.ts can go.
  expect(codes.join('')).toContain('vErrors.concat(');
  expect(codes.map(appendErrors).join('')).not.toContain('.concat(');
  expect(validate({ b: 1, c: 2 })).toBe(false);
  expect(validate.errors?.map(({ instancePath }) => instancePath)).toEqual(['/b', '/c']);
});

test('ajv: our comparisons are in every instance, in that of the OpenAPI validator too', () => {
  mendComparisons();
  let code = '';
  const process = (generated: string) => {
    code += generated;
    return generated;
  };
  const validate = new Ajv2020({ code: { process } }).compile({ type: 'array', uniqueItems: true });
  expect(code).toContain('const twins');
  expect([
    validate([1, 2, 1]),
    validate([
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
    validate([1, '1']),
  ]).toEqual([false, false, true]);
  const named = { valueOf: 1, constructor: { a: 1 } };
  for (const schema of [{ const: named }, { enum: [named, 1] }])
    expect(new Ajv().compile(schema)(structuredClone(named))).toBe(true);
  for (const version of ['2.0', '3.0', '3.1', '3.2']) {
    code = '';
    const validator = new Validator({ code: { process } }) as unknown as { getAjvValidator(version: string): unknown };
    expect(typeof validator.getAjvValidator(version)).toBe('function');
    expect(code, version).toContain('const twins');
  }
});

test('Redocly: each round of its search for references waits for all of them with Promise.all', async () => {
  const usual = Promise.all;
  onTestFinished(() => void (Promise.all = usual));
  limitRounds();
  const limited = Promise.all;
  const rounds: number[] = [];
  Promise.all = ((values: readonly unknown[]) => {
    if (/@redocly.openapi-core/.test(new Error().stack ?? '')) rounds.push(values.length);
    return limited.call(Promise, values);
  }) as typeof Promise.all;
  const names = Array.from({ length: 20 }, (_, n) => `${n}.json`);
  const chain = names.map((name, n) => [name, JSON.stringify({ items: { $ref: names[n + 1] ?? 'end.json' } })]);
  const schemas = Object.fromEntries(names.map((name) => [`s${name}`, { $ref: name }]));
  await run({
    'a.json': JSON.stringify({ ...head, paths: {}, components: { schemas } }),
    ...(Object.fromEntries(chain) as Record<string, string>),
    'end.json': '{}',
  });
  // Where this fails, redocly-rounds.ts limits nothing.
  expect(rounds.filter((count) => count >= 20).length).toBeGreaterThan(1);
});

test('Redocly: references that lead to each other end with the message that we know', async () => {
  const schemas = { a: { $ref: '#/components/schemas/b' }, b: { $ref: '#/components/schemas/a' } };
  const { report } = await run({ 'a.json': JSON.stringify({ ...head, paths: {}, components: { schemas } }) });
  expect(report.problems.map(({ rule }) => rule)).toContain('ref-circular');
});

test('Redocly: the scopes of a device flow have a type that exists', async () => {
  expect(Oas3_2Types['DeviceAuthorization']?.properties?.['scopes']).toMatchObject({ type: 'object' });
  const flows = { deviceAuthorization: { deviceAuthorizationUrl: '/d', tokenUrl: '/t', scopes: { read: 'Read.' } } };
  const securitySchemes = { a: { type: 'oauth2', flows } };
  const other = { $ref: 'b.json' };
  const document = { ...head, openapi: '3.2.0', paths: {}, components: { securitySchemes, schemas: { other } } };
  const { report, artifact } = await run({
    'a.json': JSON.stringify(document),
    'b.json': JSON.stringify({ type: 'string' }),
  });
  expect(report.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(artifact).not.toBeNull();
});

test('Redocly: its assertions say which of them is at work', async () => {
  const titles: string[] = [];
  sayRules((title) => titles.push(title));
  onTestFinished(clearRule);
  const rule = { subject: { type: 'Info', property: 'title' }, assertions: { pattern: '/a*b*c/' } };
  const config = sayAssertions(await createConfig({ rules: { 'rule/title': rule } as never }));
  const tree = treeOf({ 'a.json': { ...head, paths: {} } });
  const problems = await lintDocument({
    document: tree.documentOf('a.json'),
    config,
    externalRefResolver: tree.resolver,
  });
  expect(problems.map(({ ruleId }) => ruleId)).toContain('rule/title');
  expect(titles).toContain('rule rule/title');
});

test('Redocly: what a ruleset may say is read from its own types', () => {
  expect(ruleBlocks).toEqual(
    expect.arrayContaining(['rules', 'oas2Rules', 'oas3_0Rules', 'oas3_1Rules', 'oas3_2Rules']),
  );
  expect([...assertionNames]).toEqual(expect.arrayContaining(['pattern', 'casing', 'defined', 'sortOrder']));
  expect([...nodeTypes]).toEqual(expect.arrayContaining(['Info', 'Operation', 'Schema']));
});

test('Node: messages that a sandbox sends to Node itself are heard by nobody', async () => {
  const child = fork('-e', ["process._send({ cmd: 'NODE_HANDLE', type: 'net.Nothing' }); process.send('end')"], {
    execArgv: ['--input-type=commonjs'],
  });
  onTestFinished(() => void child.kill());
  expect(child.listenerCount('internalMessage')).toBeGreaterThan(0);
  child.removeAllListeners('internalMessage');
  const heard = once(child, 'message');
  expect((await heard)[0]).toBe('end');
});
