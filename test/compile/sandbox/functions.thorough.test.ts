import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString, type Plugin } from '@redocly/openapi-core';
import { parse } from 'yaml';
import type { Sandboxes } from '../../../src/compile/sandboxes.ts';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import { inputOf, memoryLoad } from './memory-load.ts';

/** Rulesets with functions of their own, in the sandboxes that run them. */
let compiler: Sandboxes;
beforeAll(() => {
  compiler = openCompiler({ children: 1 });
});
afterAll(() => compiler.close());

const code = { date: '2026-01-02T03:04:05Z' };
const api = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  paths: {},
  tags: [{ name: 'a' }],
});

async function publish(files: Record<string, string>, given: object = { code }) {
  const [entry] = Object.keys(files);
  const input = inputOf(entry!, { type: 'rulesets', ...given });
  const { artifact, report } = await compiler.compile(input, memoryLoad(files));
  const json = artifact?.representations.find(
    ({ format, coding }) => format === 'json' && coding === 'identity',
  )?.bytes;
  return { json: json === undefined ? null : Buffer.from(json).toString(), lines: report.problems.map(formatProblem) };
}

async function lint(json: string, given: object = { code }) {
  const ruleset = { digest: digestOf(json), name: 'style', json };
  const input = inputOf('api.json', { ruleset, reportOnly: true, ...given });
  return (await compiler.compile(input, memoryLoad({ 'api.json': api }))).report.problems.map(formatProblem);
}

/** The findings of one function on `$.info`. */
async function findings(source: string, path = 'functions/f.js', more: Record<string, string> = {}) {
  const name = path.replace(/^functions\/|\.\w+$/g, '');
  const ruleset = `functions: [${name}]\nrules:\n  own: {given: $.info, then: {function: ${name}}}\n`;
  const { json, lines } = await publish({ '.spectral.yaml': ruleset, [path]: source, ...more });
  return json === null ? lines : lint(json);
}

describe('functions of a Spectral ruleset', () => {
  it('run on the nodes of their rule and say where, and the code is in what is published', async () => {
    const { json, lines } = await publish({
      'rules/.spectral.yaml':
        'functions: [[starts, {type: object}]]\nfunctionsDir: ./code\nrules:\n  own: {given: $.info, severity: error, then: {field: title, function: starts, functionOptions: {with: Q}}}\n',
      'rules/code/starts.js':
        "import { first } from './lib/first.mjs';\nexport default (value, options, { path, document, rule }) => first(value) === options.with ? [] : [{ message: `${rule.name}: ${path.join('.')} of ${document.data.openapi}`, path: ['tags', 0, 'name'] }];\n",
      'rules/code/lib/first.mjs': 'export const first = (text) => text[0];\n',
    });
    expect(lines).toEqual([]);
    expect(JSON.parse(json!)).toMatchObject({
      'x-stele-functions': { starts: 'rules/code/starts.js' },
      'x-stele-modules': { 'rules/code/lib/first.mjs': 'export const first = (text) => text[0];\n' },
    });
    expect(await lint(json!)).toEqual([
      expect.stringMatching(/^api\.json:1:\d+ error own: own: info\.title of 3\.1\.0$/),
    ]);
    // What was published can be published again.
    expect((await publish({ 'again.json': json! })).json).not.toBeNull();
  });

  it('may be CommonJS, TypeScript or asynchronous, and see the same time always', async () => {
    expect(
      await findings("const { f } = require('./g');\nmodule.exports = () => f();\n", 'functions/f.js', {
        'functions/g.js': 'exports.f = () => [{ message: "g" }];',
      }),
    ).toEqual([expect.stringContaining('own: g')]);
    const typed =
      'export default async (value: { title: string }): Promise<{ message: string }[]> => {\n  await null;\n  return [{ message: `${value.title} ${new Date().toISOString()} ${typeof setTimeout}` }];\n};\n';
    expect(await findings(typed, 'functions/f.ts')).toEqual([
      expect.stringContaining('own: Pets 2026-01-02T03:04:05.000Z undefined'),
    ]);
  });

  it.each([
    [
      'an exception',
      '\nexport default () => {\n  throw new TypeError("no");\n};',
      /ruleset-function: .*"own".* failed: TypeError: no\. At functions\/f\.js:3\./,
    ],
    [
      'an endless loop',
      'export default () => { for (;;) try { for (;;); } catch {} };',
      /function-steps: .*functions\/f\.js.*"own"/,
    ],
    ['an endless loop after a promise', 'export default async () => { await null; for (;;); };', /function-steps/],
    ['too much memory', 'export default () => { return new ArrayBuffer(1e9); };', /function-memory/],
    ['too deep calls', 'export default function f() { return f() + 1; }', /function-stack/],
    ['a promise that never settles', 'export default () => new Promise(() => {});', /never settles/],
    [
      'changed prototypes',
      'Object.prototype.toJSON = () => 1; Array.prototype.toJSON = () => 1; export default () => [{ message: "x" }];',
      /ruleset-function/,
    ],
    [
      'an unknown import',
      'import { get } from "lodash";\nexport default () => [];',
      /lodash is not available.*esbuild.*f\.js:1/,
    ],
    ['no function', 'export default 5;', /not a function/],
    ['a syntax error', '\nexport default () => { bad syntax };', /f\.js:2.*SyntaxError/],
  ])('%s is a finding of the ruleset', async (_, source, expected) => {
    const found = await findings(source);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it('is refused as missing where its file is not there and the ruleset has no other code', async () => {
    const ruleset = 'functions: [f]\nrules:\n  own: {given: $.info, then: {function: f}}\n';
    expect((await publish({ '.spectral.yaml': ruleset })).lines).toEqual([
      expect.stringMatching(/:1:13 error ruleset-function: The function "f" is not there: functions\/f\.js\./),
    ]);
  });

  it('find nothing of the host', async () => {
    const names = 'process require fetch setTimeout WebAssembly Buffer performance std os navigator'.split(' ');
    const source = `export default () => [{ message: ${JSON.stringify(names)}.filter((name) => name !== 'require' && typeof globalThis[name] !== 'undefined').join() + Function('return typeof process')() }];`;
    expect(await findings(source)).toEqual([expect.stringMatching(/own: undefined$/)]);
  });

  it('keep only so many findings, and their own objects', async () => {
    const many =
      'export default () => Array.from({ length: 20000 }, (_, at) => ({ message: `${at}`, get path() { throw 1; } }));';
    expect(await findings(many)).toEqual([expect.stringContaining('ruleset-function')]);
  });

  it('are refused where they are off, by name, as before', async () => {
    const { lines } = await publish(
      {
        '.spectral.yaml': 'functions: [f]\nrules: {own: {given: $, then: {function: f}}}\n',
        'functions/f.js': 'export default () => [];',
      },
      {},
    );
    expect(lines).toEqual([
      expect.stringMatching(/:1:1 error ruleset-refused: "functions" loads code/),
      expect.stringMatching(/ruleset-refused: "f" is not a core function/),
    ]);
    const written = JSON.stringify({
      'x-stele-modules': { 'f.js': 'export default () => [{ message: "ran" }];' },
      'x-stele-functions': { f: 'f.js' },
      rules: { own: JSON.parse('{"given": "$", "then": {"function": "f"}}') as unknown },
    });
    expect(await lint(written, {})).toEqual([expect.stringMatching(/ruleset-function: .* not run here/)]);
    expect((await publish({ 'a.spectral.json': written }, {})).lines.join()).toMatch(
      /ruleset-refused: "x-stele-modules"/,
    );
  });
});

it("each of Spectral's functions returns what it returns there: where nothing is found, and of a value that it does not take", async () => {
  const source = `import * as all from '@stoplight/spectral-functions';
const tried = {
  truthy: [1], falsy: [0], defined: [1], undefined: [undefined],
  pattern: ['a', { match: 'a', notMatch: 'b' }], length: ['a', { min: 1, max: 2 }], casing: ['a', { type: 'flat' }],
  enumeration: ['a', { values: ['a'] }], xor: [{ a: 1 }, { properties: ['a', 'b'] }], or: [{ a: 1 }, { properties: ['a', 'b'] }],
  alphabetical: [['a', 'b']], schema: [1, { schema: { type: 'number' } }], unreferencedReusableObject: [{}, { reusableObjectsLocation: '#' }],
};
export default (_, options, context) => Object.entries(tried).map(([name, [value, given]]) => ({
  message: name + ' ' + [value, true].map((one) => JSON.stringify(all[name](one, given ?? null, context)) ?? 'nothing').join(' '),
}));`;
  expect((await findings(source)).map((line) => line.replace(/^.* own: /, '').replace(/\[\{.*/, 'one'))).toEqual([
    'alphabetical nothing nothing',
    'casing nothing nothing',
    'defined nothing nothing',
    'enumeration nothing one',
    'falsy nothing one',
    'length nothing nothing',
    'or [] nothing',
    'pattern nothing nothing',
    'schema [] one',
    'truthy nothing nothing',
    'undefined nothing one',
    'unreferencedReusableObject [] nothing',
    'xor [] nothing',
  ]);
});

describe('a Spectral ruleset that is a module', () => {
  const source = `import { oas } from '@stoplight/spectral-rulesets';
import { oas3 } from '@stoplight/spectral-formats';
import { truthy, pattern } from '@stoplight/spectral-functions';
import { createRulesetFunction } from '@stoplight/spectral-core';
const starts = createRulesetFunction(
  { input: { type: 'string' }, options: { type: 'object', properties: { with: { type: 'string' } } } },
  (value, options, context) => pattern(value, { match: '^' + options.with }, context),
);
export default {
  extends: [[oas, 'off']],
  formats: [oas3],
  rules: {
    contact: { given: '$.info', then: { field: 'contact', function: truthy } },
    starts: { given: '$.info.title', then: { function: starts, functionOptions: { with: 'Q' } } },
  },
};
`;

  it('is published as data, with its code', async () => {
    const { json, lines } = await publish({ '.spectral.mjs': source });
    expect(lines).toEqual([]);
    expect(JSON.parse(json!)).toMatchObject({
      extends: [['spectral:oas', 'off']],
      formats: ['oas3'],
      rules: { contact: { given: '$.info' } },
    });
    expect((await lint(json!)).map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'warning contact: "contact" property must be truthy',
      'warning starts: "Pets" must match the pattern "^Q"',
    ]);
  });

  it('can be extended by a ruleset in YAML', async () => {
    const { json, lines } = await publish({
      'a.spectral.yaml': 'extends: ./b.js\nrules: {contact: off}\n',
      'b.js': source,
    });
    expect(lines).toEqual([]);
    expect((await lint(json!)).join()).toMatch(/^\S+ warning starts: "Pets"[^,]*$/);
  });

  it('is refused where code is off', async () => {
    expect((await publish({ '.spectral.mjs': source }, {})).lines).toEqual([
      expect.stringMatching(/ruleset-refused: .*rulesets\.functions/),
    ]);
  });
});

describe('plugins of a Redocly ruleset', () => {
  const plugin = `const described = ({ max }) => ({
  Operation: {
    enter: ({ description }, ctx) => {
      if (!description || description.length > max) ctx.report({ message: ctx.key + ctx.specVersion + ctx.type.name, location: ctx.location.child('description') });
    },
    leave: (_, { report, location, parentLocations }) => report({ message: 'end ' + Object.keys(parentLocations), location: location.key(), suggest: ['x'] }),
  },
});
const nested = () => ({
  Operation: {
    skip: (_, key) => key === 'delete',
    Response: (_, { report, key }, parents) => report({ message: key + parents.Operation.operationId }),
    Schema: ({ properties = {} }, { report, resolve }) => {
      for (const value of Object.values(properties)) {
        const { node, location } = resolve(value);
        if (node?.type === 'string') report({ message: 'text at ' + location.pointer, location });
      }
    },
  },
  any: ({ name }, { type, report, parent }) => { if (type.name === 'Tag') report({ message: name + Array.isArray(parent) }); },
  ref: ({ $ref }, { report, rawLocation }, to) => report({ message: $ref + to.location?.pointer, location: rawLocation }),
});
const words = (value, { min }, ctx) => (value.split(' ').length < min ? [{ message: 'few words', location: ctx.baseLocation }] : []);
export default () => ({
  id: 'my',
  rules: { oas3: { described, nested, unused: () => ({ Root: () => { throw 1; } }) } },
  assertions: { words },
  decorators: { oas3: { change: () => ({}) } },
  configs: { all: { rules: { 'my/described': 'error', 'my/nested': 'warn', 'info-license': 'warn' } } },
});
`;
  const config = `plugins: [plugins/my.js]
extends: [my/all]
rules:
  my/described: {severity: warn, max: 3}
  rule/words: {subject: {type: Info, property: title}, assertions: {my/words: {min: 2}}}
`;
  const text = { type: 'string' };
  const response = {
    description: 'ok',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    tags: [{ name: 'a' }],
    paths: {
      '/a': {
        get: { operationId: 'g', description: 'long', responses: { 200: response } },
        delete: { operationId: 'd', responses: { 200: response } },
      },
    },
    components: { schemas: { A: { properties: { b: { $ref: '#/components/schemas/B' }, c: text } }, B: text } },
  };
  const check = async (json: string, given: object = { code }) => {
    const ruleset = { digest: digestOf(json), name: 'style', json };
    const input = inputOf('api.json', { ruleset, reportOnly: true, ...given });
    return (await compiler.compile(input, memoryLoad({ 'api.json': JSON.stringify(document) }))).report.problems;
  };

  it("find what Redocly's own linter finds, node for node", async () => {
    const { json, lines } = await publish({ 'redocly.yaml': config, 'plugins/my.js': plugin });
    expect(lines).toEqual([expect.stringMatching(/info ruleset-ignored: The plugin "my" .* also has decorators/)]);
    const loaded = (await import(`data:text/javascript,${encodeURIComponent(plugin)}`)) as { default: () => Plugin };
    const { extends: bases, rules } = parse(config) as { extends: string[]; rules: object };
    const theirs = await lintDocument({
      document: makeDocumentFromString(JSON.stringify(document), 'api.json'),
      config: await createConfig({ extends: bases, rules, plugins: [loaded.default()] } as object),
      externalRefResolver: new BaseResolver(),
    });
    const expected = theirs.map(({ ruleId, severity, location: [place], message }) =>
      [ruleId, severity === 'warn' ? 'warning' : severity, place!.pointer!.replace(/^#\/?/, '/'), message].join(' '),
    );
    const found = (await check(json!)).map(({ rule, severity, pointer, message }) =>
      [rule, severity, pointer, message.replace(' Did you mean: x?', '')].join(' '),
    );
    expect(found.length).toBeGreaterThan(10);
    expect(found.sort()).toEqual([...new Set(expected)].sort());
    // What was published can be published again.
    expect((await publish({ 'again.json': json! })).json).not.toBeNull();
    expect(await check(json!, {})).toContainEqual(
      expect.objectContaining({ rule: 'ruleset-function', message: expect.stringMatching(/not run here/) as string }),
    );
  });

  it.each([
    [
      'an exception',
      "({ Root: () => { throw new TypeError('no'); } })",
      /"p\/r".* failed: TypeError: no\. At p\.cjs:1\./,
    ],
    ['an endless loop', '({ Root: () => { for (;;); } })', /function-steps: The rule "p\/r"/],
    ['a visitor that is none', '({ Root: { enter: 5 } })', /"p\/r".* should be function/],
  ])('%s is a finding of the ruleset, and others go on', async (_, visitor, expected) => {
    const source = `module.exports = { id: 'p', rules: { oas3: { r: () => ${visitor}, other: () => ({ Root: (_, { report }) => report({ message: 'other' }) }) } } };`;
    const ruleset = 'plugins: [./p.cjs]\nrules: {p/r: warn, p/other: warn}\n';
    const { json } = await publish({ 'redocly.yaml': ruleset, 'p.cjs': source });
    const found = (await check(json!)).map(formatProblem).sort();
    expect(found).toEqual([expect.stringMatching(expected), expect.stringContaining('p/other: other')]);
  });

  it.each([
    ['plugins: [some-package]', /is a package.*esbuild some-package/],
    ['plugins: [./no.js]', /is not there: no\.js/],
    ['plugins: [./p.js]\nrules: {p/none: error}', /"p\/none" is a rule of the plugin "p", which does not have it/],
    ['plugins: [./p.js]\ndecorators: {p/d: on}', /"decorators" changes documents.*overlay/],
  ])('%s is refused', async (ruleset, expected) => {
    const { json, lines } = await publish({ 'redocly.yaml': ruleset, 'p.js': "export default { id: 'p' };" });
    expect(json).toBeNull();
    expect(lines.join('\n')).toMatch(expected);
  });
});

it("the interpreter's version is part of the compiler's name", () => {
  const { version } = JSON.parse(
    readFileSync('node_modules/@jitl/quickjs-singlefile-mjs-release-sync/package.json', 'utf8'),
  ) as { version: string };
  expect(compiler.id).toContain(` quickjs/${version}`);
});
