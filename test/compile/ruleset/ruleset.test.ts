import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { assertionNames, builtIn, ruleBlocks } from '../../../src/compile/ruleset/redocly-config.ts';
import { compileRuleset } from '../../../src/compile/ruleset/ruleset.ts';
import { compileJsonSchema } from '../../../src/compile/schema/json-schema.ts';
import { shareCompiler } from '../shared-compiler.ts';
import { given, limits, lines } from '../given.ts';

const content = new URL('../../../content/', import.meta.url);

async function compile(text: string, path = 'r.yaml', validation: 'strict' | 'lenient' = 'strict') {
  return compileRuleset(given({ [path]: text }, 'rulesets', validation));
}

async function problemsOf(text: string): Promise<string[]> {
  return lines((await compile(text)).problems);
}

/** Assertions, of which those at some places need a property and name none. */
function rulesWith(count: number, isWrong: (at: number) => boolean): string {
  const rules = Array.from({ length: count }, (_, at) => {
    const property = isWrong(at) ? '' : ', property: title';
    return `  rule/r${at}: {subject: {type: Schema${property}}, assertions: {nonEmpty: true}}`;
  });
  return ['extends: [minimal]', 'rules:', ...rules, ''].join('\n');
}

describe('rules that cannot be applied', () => {
  test('each is named among many that can', async () => {
    const wrong = [0, 13, 14, 39];
    const problems = await problemsOf(rulesWith(40, (at) => wrong.includes(at)));
    expect(problems.map((line) => /"rule\/r(\d+)" cannot be applied/.exec(line)?.[1])).toEqual(wrong.map(String));
  });

  test('the first twenty are named, and the ruleset is refused', async () => {
    const problems = await problemsOf(rulesWith(30, () => true));
    const named = problems.map((line) => /"rule\/r(\d+)" cannot be applied/.exec(line)?.[1]);
    expect(named).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
  });
});

describe("Redocly's form", () => {
  test('severities, options, version blocks and assertions are accepted; the document is kept as it is', async () => {
    const text = [
      'title: House style',
      'description: D',
      'x-version: 2.0.0',
      'extends: [recommended-strict]',
      'rules:',
      '  operation-summary: warn',
      '  request-mime-type: {severity: error, allowedValues: [application/json]}',
      '  rule/summary: {subject: {type: Operation, property: summary}, assertions: {pattern: "/^[A-Z]/", nonEmpty: true}}',
      'oas3_1Rules:',
      '  nullable-type-sibling: off',
      'arazzo1Rules:',
      '  workflowId-unique: error',
    ].join('\n');
    const input = given({ 'r.yaml': text }, 'rulesets');
    const result = await compileRuleset(input);
    expect(result).toMatchObject({
      kind: 'redocly-ruleset',
      title: 'House style',
      description: 'D',
      version: '2.0.0',
      problems: [],
    });
    expect(result.bundle).toBe(input.entry.value);
  });

  test.each([
    ['plugins: [./p.js]', 'plugins', 1],
    ['rules: {}\ndecorators:\n  remove-x-internal: on', 'decorators', 2],
    ['rules: {}\noas3_0Decorators: {}', 'oas3_0Decorators', 2],
    ['rules: {}\npreprocessors: {}', 'preprocessors', 2],
    ['rules: {}\nresolve:\n  http: {headers: [{matches: "https://*", name: A, envVariable: HOME}]}', 'resolve', 2],
    ['rules: {}\nlint: {extends: [recommended]}', 'lint', 2],
    ['apis: {}\nrule/a: {subject: {type: Info}, assertions: {defined: true}}', 'rule/a', 2],
  ])('%j is refused', async (text, key, line) => {
    const { problems } = await compile(text);
    const [problem] = problems.filter(({ severity }) => severity === 'error');
    expect(problem).toMatchObject({ rule: 'ruleset-refused', line, column: 1 });
    expect(problem!.message.startsWith(`"${key}" `)).toBe(true);
    expect(problem!.message).toMatch(/(?:Write|Make|put|Put|belongs)/);
  });

  test.each(['./other.yaml', 'https://example.com/r.yaml', 'plugin/recommended', 'recheck/markdown', 'recomended'])(
    'extends: %s is refused',
    async (name) => {
      expect((await compile(`extends:\n  - ${name}\n`)).problems).toMatchObject([
        { rule: 'ruleset-extends', pointer: '/extends/0', line: 2, column: 5, severity: 'error' },
      ]);
    },
  );

  test('names that Redocly would ignore in silence are errors, with a guess', async () => {
    expect(
      await problemsOf(
        'rules:\n  operation-sumary: warn\n  spec: error\n  no-such-thing-at-all: off\n  my/rule: warn\n  assert/x: warn\noas2Rules:\n  operation-summary: info\n',
      ),
    ).toEqual([
      'r.yaml:8:22 error schema: "operation-summary" must be "error", "warn" or "off".',
      `r.yaml:2:3 error ruleset-rule: Redocly has no rule "operation-sumary" and would silently ignore it. Did you mean "operation-summary"?`,
      `r.yaml:3:3 error ruleset-rule: Redocly has no rule "spec" and would silently ignore it. Did you mean "struct"?`,
      `r.yaml:4:3 error ruleset-rule: Redocly has no rule "no-such-thing-at-all" and would silently ignore it.`,
      'r.yaml:5:3 error ruleset-refused: "my/rule" is a rule of a plugin, and plugins are not run here unless "plugins" names their files and the operator allows it. Write its checks as assertions: a rule "rule/<name>".',
      'r.yaml:6:3 error ruleset-rule: "assert/x" is from Redocly before 1.0. Rename it to "rule/<name>".',
    ]);
  });

  test('assertions: node types, names, patterns and shapes', async () => {
    const text = `rules:
  rule/a:
    subject: {type: Operatoin, matchParentKeys: '['}
    assertions: {pattern: '/(/', plugin/fn: 1, no-such: 1}
    where: [{subject: {type: Nothing}, assertions: {notPattern: '+'}}]
`;
    expect((await problemsOf(text)).map((line) => line.replace(/: Invalid regular.*/, ''))).toEqual([
      'r.yaml:4:48 error schema: "no-such" is not expected here.',
      'r.yaml:3:21 error ruleset-rule: "Operatoin" is not a node type, so the rule would never apply. Did you mean "Operation"?',
      expect.stringContaining('r.yaml:4:34 error ruleset-refused: "plugin/fn" is an assertion of a plugin'),
      'r.yaml:3:49 error ruleset-pattern: This pattern is not a valid regular expression',
      'r.yaml:4:27 error ruleset-pattern: This pattern is not a valid regular expression',
      'r.yaml:5:30 error ruleset-rule: "Nothing" is not a node type, so the rule would never apply.',
      'r.yaml:5:65 error ruleset-pattern: This pattern is not a valid regular expression',
    ]);
  });

  test('what fails only when it is applied is found by applying it', async () => {
    const text = `rules:
  operation-summary: warn
  rule/a: {subject: {type: Schema}, assertions: {nonEmpty: true}}
  rule/b: {subject: {type: Operation, property: tags}, assertions: {disallowed: [a]}}
  path-segment-plural: {severity: warn, exceptions: 5}
`;
    const problems = await problemsOf(text);
    expect(problems).toHaveLength(3);
    expect(problems[0]).toContain(
      `r.yaml:3:3 error ruleset-rule: "rule/a" cannot be applied: The 'nonEmpty' assertion`,
    );
    expect(problems[1]).toContain(`r.yaml:4:3 error ruleset-rule: "rule/b" cannot be applied: The 'disallowed'`);
    expect(problems[2]).toContain('r.yaml:5:3 error ruleset-rule: "path-segment-plural" cannot be applied: ');
  });

  test('what is not about rules is ignored, and said', async () => {
    expect(await problemsOf('apis: {main: {root: a.yaml}}\ntheme: {}\nx-any: 1\nrulez: {}\nrules: {}\n')).toEqual([
      'r.yaml:1:1 info ruleset-ignored: "apis" is not about rules and is ignored.',
      'r.yaml:2:1 info ruleset-ignored: "theme" is not about rules and is ignored.',
      'r.yaml:4:1 warning ruleset-ignored: "rulez" is not a member of a Redocly configuration and is ignored. Did you mean "rules"?',
    ]);
    expect(await problemsOf('apis: {main: {root: a.yaml}}\n')).toEqual([
      'r.yaml:1:1 info ruleset-ignored: "apis" is not about rules and is ignored.',
      'r.yaml:1:1 error ruleset-empty: The ruleset has no rules. Add "rules" or "extends".',
    ]);
  });

  test('rules of one document are ignored, and said', async () => {
    expect(await problemsOf('apis:\n  main:\n    rules: {info-contact: off}\nextends: [minimal]\n')).toEqual([
      'r.yaml:1:1 info ruleset-ignored: "apis" is not about rules and is ignored.',
      'r.yaml:3:5 warning ruleset-ignored: "rules" of a single API is ignored, because a published ruleset applies to every document. Move it to the root.',
    ]);
  });

  test('references are not followed', async () => {
    expect((await compile('rules:\n  $ref: ./rules.yaml\n')).problems).toContainEqual(
      expect.objectContaining({ rule: 'ruleset-reference', pointer: '/rules/$ref', line: 2, column: 9 }),
    );
  });

  test('lenient lets the shape pass, and nothing that loads', async () => {
    const { problems } = await compile('plugins: [a]\nrules:\n  operation-summary: loud\n', 'r.yaml', 'lenient');
    expect(problems.map(({ rule, severity }) => [rule, severity])).toEqual([
      ['schema', 'warning'],
      ['ruleset-refused', 'error'],
    ]);
  });

  test("the schema's assertions and blocks are Redocly's", () => {
    const schema = JSON.parse(readFileSync(new URL('schemas/redocly-ruleset.json', content), 'utf8'));
    expect(new Set(Object.keys(schema.$defs.assertions.properties))).toEqual(assertionNames);
    const [pattern] = Object.keys(schema.patternProperties);
    expect(ruleBlocks.filter((block) => block !== 'rules' && !new RegExp(pattern!).test(block))).toEqual([]);
  });

  test("Redocly's own lists are read from it", async () => {
    const { rules, presets } = await builtIn;
    expect(presets).toEqual(new Set(['minimal', 'recommended', 'recommended-strict', 'spec', 'all']));
    for (const name of ['struct', 'no-unresolved-refs', 'operation-summary', 'spec-strict-refs', 'no-criteria-xpath'])
      expect(rules).toContain(name);
    expect(rules).not.toContain('assertions');
  });
});

describe("Spectral's form", () => {
  test('is accepted', async () => {
    const text = `
extends: [[spectral:oas, recommended], spectral:asyncapi]
formats: [oas3, oas3.1]
aliases:
  Paths: $.paths
  Ops: ['#Paths[*]']
  Byformat: {description: d, targets: [{formats: [oas2], given: $.definitions}]}
rules:
  operation-tags: off
  info-contact: true
  own:
    description: d
    given: ['#Ops.get', "$..[?(@.type == 'string' && @.x.match(/^a[)/]/))]"]
    severity: 1
    then:
      - {field: summary, function: pattern, functionOptions: {match: '/^[A-Z]/u'}}
      - {field: summary, function: truthy}
overrides:
  - files: ['legacy/**']
    rules: {own: off}
parserOptions: {duplicateKeys: error}
`;
    expect(await compile(text)).toMatchObject({ kind: 'spectral-ruleset', problems: [], specification: '6' });
  });

  test.each([
    ["rules: {a: {given: $, enabled: false, then: {function: truthy}}}", 'ruleset-ignored', '/rules/a/enabled', '"enabled" is not known to Spectral and is ignored.'],
    ["extends: 'spectral:oas'\nparserOptions: {duplicateKeys: off}", 'ruleset-ignored', '/parserOptions/duplicateKeys', '"duplicateKeys" has no effect: what it is about is always an error here.'],
  ])('what has no effect is a warning: %s', async (text, rule, pointer, message) => {
    const { problems } = await compile(`${text}\n`);
    expect(problems).toMatchObject([{ rule, severity: 'warning', pointer, message }]);
  }); // prettier-ignore

  test.each([
    ['functions: [equals]\nrules: {}', 'ruleset-refused', '/functions'],
    ['functionsDir: ./f\nrules: {}', 'ruleset-refused', '/functionsDir'],
    ["rules: {}\nexcept: {'a.yaml#/paths': [a]}", 'ruleset-refused', '/except'],
    ['extends: spectral:oas\nrules: {operation-tag: off}', 'ruleset-rule', '/rules/operation-tag'],
    ['rules:\n  a: {given: "$.a[?(@.b =~ /c/)]", then: {function: truthy}}', 'ruleset-path', '/rules/a/given'],
    ["extends: spectral:oas\noverrides: [{files: ['a?.yaml'], rules: {}}]", 'ruleset-files', '/overrides/0/files/0'],
    ['extends: ./other.js', 'ruleset-extends', '/extends'],
    ['extends: [[https://example.com/r.yaml, all], spectral:oas]', 'ruleset-extends', '/extends/0/0'],
    ['extends: spectral:oas\nformats: [oas9]', 'ruleset-format', '/formats/0'],
    ['rules:\n  a: {given: $, then: {function: mine}}', 'ruleset-refused', '/rules/a/then/function'],
    ['rules:\n  a: {given: info, then: {function: truthy}}', 'ruleset-path', '/rules/a/given'],
    ['rules:\n  a: {given: "$.a[?(@.b]", then: {function: truthy}}', 'ruleset-path', '/rules/a/given'],
    ['rules:\n  a: {given: ["#No"], then: {function: truthy}}', 'ruleset-path', '/rules/a/given/0'],
    [
      'rules:\n  a: {given: $, then: {function: pattern, functionOptions: {match: "("}}}',
      'ruleset-pattern',
      '/rules/a/then/functionOptions/match',
    ],
    ['rules:\n  a: {given: $, then: {function: pattern}}', 'schema', '/rules/a/then'],
    [
      'rules:\n  a: {given: $, then: {function: casing, functionOptions: {type: loud}}}',
      'schema',
      '/rules/a/then/functionOptions/type',
    ],
    ['rules:\n  a: {given: $}', 'schema', '/rules/a'],
    ['rules:\n  a: hint', 'ruleset-rule', '/rules/a'],
    [
      'rules:\n  a: {given: $, then: {function: schema, functionOptions: {schema: {$ref: "https://example.com/a.json"}}}}',
      'ruleset-reference',
      '/rules/a/then/functionOptions/schema/$ref',
    ],
  ])('%j: %s', async (text, rule, pointer) => {
    const { problems, kind } = await compile(text);
    expect(kind).toBe('spectral-ruleset');
    expect(problems.map((problem) => [problem.severity, problem.rule, problem.pointer])).toEqual([
      ['error', rule, pointer],
    ]);
  });

  test('members of other linters of its form are ignored, and said', async () => {
    const text = 'rules:\n  a: {given: $, howToFix: x, then: {function: truthy, message: y}}\n';
    expect(await problemsOf(text)).toEqual([
      'r.yaml:2:17 warning ruleset-ignored: "howToFix" is not known to Spectral and is ignored.',
      'r.yaml:2:55 warning ruleset-ignored: "message" is not known to Spectral and is ignored.',
    ]);
  });
});

test('a ruleset is an object', async () => {
  expect(await compile('- a\n')).toMatchObject({ bundle: null, problems: [{ rule: 'schema', severity: 'error' }] });
});

test.each(['redocly-ruleset.json', 'spectral-ruleset.json'])(
  'content/schemas/%s is a schema that Stele publishes',
  async (name) => {
    const text = readFileSync(new URL(`schemas/${name}`, content), 'utf8');
    expect((await compileJsonSchema(given({ [name]: text }, 'schemas'))).problems).toEqual([]);
    expect(() => new Ajv2020({ strict: false }).compile(JSON.parse(text))).not.toThrow();
  },
);

test('content/rulesets/stele.yaml is accepted', async () => {
  const text = readFileSync(new URL('rulesets/stele.yaml', content), 'utf8');
  expect(await compile(text, 'stele.yaml')).toMatchObject({ problems: [], title: 'Stele API style', version: '1.0.0' });
});

test('rulesets and schemas compile inside the sandbox', async () => {
  for (const [type, entry] of [
    ['rulesets', 'rulesets/stele.yaml'],
    ['schemas', 'schemas/redocly-ruleset.json'],
    ['schemas', 'schemas/spectral-ruleset.json'],
  ] as const) {
    const bytes = readFileSync(new URL(entry, content));
    const { artifact, report } = await shareCompiler().compile(
      { type, entry, validation: 'strict', ruleset: null, limits },
      async (paths) => paths.map((path) => ({ path, found: true, bytes, blob: null })),
    );
    expect(report.problems).toEqual([]);
    expect(artifact).toMatchObject({ type, version: '1.0.0' });
  }
});
