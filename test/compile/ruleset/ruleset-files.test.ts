import { expect, test } from 'vitest';
import { lintWithRuleset } from '../../../src/compile/ruleset/ruleset-evaluate.ts';
import { rulesetReferencePaths } from '../../../src/compile/ruleset/ruleset-files.ts';
import { compileRuleset } from '../../../src/compile/ruleset/ruleset.ts';
import { detectFiles } from '../../../src/compile/detect.ts';
import { given, limits, lines } from '../given.ts';
import { run } from '../run.ts';

const document = { openapi: '3.1.0', info: { title: 'a', version: '1' }, paths: {} };

async function compile(files: Record<string, string>) {
  const { problems, bundle, used, kind } = await compileRuleset(given(files, 'rulesets'));
  return { problems: lines(problems), bundle, used: [...(used ?? [])], kind };
}

async function lint(bundle: unknown): Promise<string[]> {
  const style = { json: JSON.stringify(bundle), name: '@acme/rulesets/r' };
  return lines(await lintWithRuleset(given({ 'a.json': document }, 'apis'), style));
}

const rule = (field: string) => `{given: $.info, then: {field: ${field}, function: truthy}}`;

test('a ruleset contains the files of its repository that it extends', async () => {
  const files = {
    'styles/r.yaml': 'extends: [./a.yaml, [shared/b.yaml, all]]\nrules: {contact: error}\n',
    'styles/a.yaml': `rules: {contact: ${rule('contact')}}\n`,
    'styles/shared/b.yaml': `extends: ../../c.yaml\naliases: {I: $.info}\nrules: {license: ${rule('license')}}\n`,
    'c.yaml': `rules: {summary: {given: "#I", then: {field: summary, function: truthy}}}\naliases: {I: $.info}\n`,
  };
  const { problems, bundle, used, kind } = await compile(files);
  expect([problems, kind]).toEqual([[], 'spectral-ruleset']);
  expect(used).toEqual(Object.keys(files));
  expect((await lint(bundle)).map((line) => line.split(' ').slice(1, 3).join(' ')).sort()).toEqual([
    'error contact:',
    'warning license:',
    'warning summary:',
  ]);
});

test("files in Redocly's dialect are read too", async () => {
  const files = {
    'redocly.yaml': 'extends: [minimal, base.yaml]\nrules: {info-contact: error}\n',
    'base.yaml': 'rules: {info-license: warn, info-contact: warn, no-empty-servers: off}\n',
  };
  const { problems, bundle } = await compile(files);
  expect(problems).toEqual([]);
  const found = (await lint(bundle)).map((line) => line.split(' ').slice(1, 3).join(' '));
  expect(found).toContain('error info-contact:');
  expect(found).toContain('warning info-license:');
  expect(found).not.toContain('warning no-empty-servers:');
});

test('a file that is missing, leads back, or has errors is named', async () => {
  const files = {
    'r.yaml': 'extends: [spectral:oas, a.yaml, none.yaml]\nrules: {}\n',
    'a.yaml': 'extends: r.yaml\nrules: {x: {given: a, then: {function: truthy}}}\n',
  };
  expect((await compile(files)).problems).toEqual([
    expect.stringMatching(/^r\.yaml:1:33 error ruleset-extends: The file "none\.yaml" is not there/),
    expect.stringMatching(
      /^a\.yaml:1:10 error ruleset-extends: The file "r\.yaml" is not there, or it extends this one/,
    ),
    expect.stringMatching(/^a\.yaml:2:20 error ruleset-path: /),
  ]);
});

test('overrides of a file that is extended may name rules of its neighbours, since they have no effect', async () => {
  const files = {
    'r.yaml': 'extends: [a.yaml, b.yaml]\nrules: {}\n',
    'a.yaml': `rules: {license: ${rule('license')}}\noverrides: [{files: ["**#/info"], rules: {contact: off}}]\n`,
    'b.yaml': `rules: {contact: ${rule('contact')}}\n`,
  };
  const { problems, bundle } = await compile(files);
  expect(problems).toEqual([expect.stringMatching(/^a\.yaml:2:\d+ info ruleset-rule: "contact" .* have no effect\.$/)]);
  expect((await lint(bundle)).map((line) => line.split(' ')[2]).sort()).toEqual(['contact:', 'license:']);
});

test('what was published with its files can be published again, and each part of it is checked', async () => {
  const files = {
    'r.yaml': `extends: [[spectral:oas, off], [a.yaml, all]]\nrules: {contact: error}\n`,
    'a.yaml': `extends: b.yaml\nrules: {contact: ${rule('contact')}}\n`,
    'b.yaml': `rules: {license: ${rule('license')}}\n`,
    'redocly.yaml': 'extends: [minimal, base.yaml]\nrules: {info-contact: error}\n',
    'base.yaml': 'rules: {info-license: warn}\n',
  };
  for (const name of ['r.yaml', 'redocly.yaml'] as const) {
    const { bundle } = await compile({ [name]: files[name], ...files });
    const again = await compile({ 'p.json': JSON.stringify(bundle) });
    expect(again).toMatchObject({ problems: [], bundle });
    expect(await lint(again.bundle)).toEqual(await lint(bundle));
  }
  const { bundle } = await compile(files);
  const bad = JSON.stringify(bundle).replace('"field":"license"', '"field":"license","function":"run"');
  expect((await compile({ 'p.json': bad.replace(',"function":"truthy"}}}}', '}}}}') })).problems).toEqual([
    expect.stringMatching(/^p\.json:1:\d+ error ruleset-refused: "run" is not a core function/),
  ]);
});

test('only files inside the repository are asked for', () => {
  const value = {
    extends: [
      '../../up.yaml',
      '/etc/a.yaml',
      'https://a.example/b.yaml',
      'file:c.yaml',
      '@acme/rulesets/d',
      'e.js',
      'f.yaml',
    ],
  };
  expect(rulesetReferencePaths(given({ 's/r.json': value }, 'rulesets').entry)).toEqual(['s/e.js', 's/f.yaml']);
});

test('a partial ruleset leaves out exactly what is not supported, and every report names it', async () => {
  const text = `
x-stele-partial: true
functions: [mine]
extends: [[spectral:oas, off], https://acme.example/r.yaml]
rules:
  own: {given: $.info, then: {function: mine}}
  kept: ${rule('contact')}
  odd: {given: "$..[?(@.a())]", then: {function: truthy}}
`;
  const { problems, bundle } = await compile({ 'r.yaml': text });
  expect(problems.map((line) => line.split(' ').slice(0, 5).join(' '))).toEqual([
    'r.yaml:3:1 warning ruleset-refused: Left out:',
    'r.yaml:4:32 warning ruleset-extends: Left out:',
    'r.yaml:6:41 warning ruleset-refused: Left out:',
    'r.yaml:8:16 warning ruleset-path: Left out:',
  ]);
  expect(bundle).toMatchObject({
    'x-stele-left-out': ['extends https://acme.example/r.yaml', 'functions', 'odd', 'own'],
  });
  expect(await lint(bundle)).toEqual([
    expect.stringContaining(' warning kept: '),
    'a.json:1:1 info ruleset-partial: The ruleset @acme/rulesets/r is partial. Not checked: extends https://acme.example/r.yaml, functions, odd, own.',
  ]);
  expect((await compile({ 'r.yaml': text.replace('partial: true', 'partial: false') })).problems).toHaveLength(4);
});

test('a partial ruleset leaves out what is not supported in the files that it extends, and what others say of it', async () => {
  const files = {
    'r.yaml': `x-stele-partial: true\nextends: [a.yaml, b.yaml]\nrules: {odd: error, deep: off, kept: ${rule('contact')}}\n`,
    'a.yaml': `extends: c.yaml\nfunctions: [mine]\nrules:\n  odd: {given: "$..[?(@.a())]", then: {function: truthy}}\n  license: ${rule('license')}\n`,
    'b.yaml': `rules: {own: {given: $.info, then: {function: mine}}}\n`,
    'c.yaml': `extends: https://acme.example/r.yaml\nrules: {deep: {given: "$..[?(@.a())]", then: {function: truthy}}}\n`,
  };
  const { problems, bundle } = await compile(files);
  expect(problems.map((line) => line.split(' ').slice(0, 5).join(' ')).sort()).toEqual([
    'a.yaml:2:1 warning ruleset-refused: Left out:',
    'a.yaml:4:16 warning ruleset-path: Left out:',
    'b.yaml:1:47 warning ruleset-refused: Left out:',
    'c.yaml:1:10 warning ruleset-extends: Left out:',
    'c.yaml:2:23 warning ruleset-path: Left out:',
    'r.yaml:3:21 warning ruleset-rule: Left out:',
    'r.yaml:3:9 warning ruleset-rule: Left out:',
  ]);
  expect(bundle).toMatchObject({ 'x-stele-left-out': ['deep', 'extends https://acme.example/r.yaml', 'functions', 'odd', 'own'] });
  const again = await compile({ 'p.json': JSON.stringify(bundle) });
  expect(again).toMatchObject({ problems: [], bundle });
  expect((await lint(bundle)).map((line) => line.split(' ').slice(1, 3).join(' '))).toEqual([
    'warning license:', 'warning kept:', 'info ruleset-partial:',
  ]);
  expect((await compile({ ...files, 'r.yaml': files['r.yaml'].replace('x-stele-partial: true\n', '') })).problems.filter((line) => line.includes('error'))).toHaveLength(5);
}); // prettier-ignore

test('a ruleset that extends files is recognized by what they are, or by its own name', async () => {
  const spectral = `rules: {contact: ${rule('contact')}}\n`;
  const redocly = 'rules: {info-contact: error}\n';
  for (const [entry, base, kind] of [
    ['extends: [./base.yaml]\n', spectral, 'spectral-ruleset'],
    ['extends: ./base.yaml\nrules: {contact: off}\n', spectral, 'spectral-ruleset'],
    ['extends: [base.yaml]\n', redocly, 'redocly-ruleset'],
    ['extends: [middle.yaml]\n', spectral, 'spectral-ruleset'],
  ] as const) {
    const { artifact, lines: said } = await run({ 'r.yaml': entry, 'middle.yaml': 'extends: base.yaml\n', 'base.yaml': base }, { type: null }); // prettier-ignore
    expect([said, artifact?.kind]).toEqual([[], kind]);
  }
  const other = await run(
    { '.eslintrc.yaml': 'extends: ./base.yaml\n', 'base.yaml': 'rules: {semi: error}\n' },
    { type: null },
  );
  expect(other.lines).toEqual([expect.stringContaining('kind-unknown')]);
  const found = detectFiles(
    ['.spectral.yaml', 'a/redocly.yaml', 'other.yaml'].map((path) => ({ path, bytes: Buffer.from('extends: [./base.yaml]\n') })),
    limits,
  ); // prettier-ignore
  expect(found.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
    '.spectral.yaml spectral-ruleset',
    'a/redocly.yaml redocly-ruleset',
  ]);
});
