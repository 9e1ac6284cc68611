import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { lintWithRuleset } from '../../../../src/compile/ruleset/ruleset-evaluate.ts';
import { given } from '../../given.ts';

const corpus = join(import.meta.dirname, '../../../../../shared/corpus/rulesets/spectral-scenarios');
const present = existsSync(corpus);
const skipped = present ? '' : ' (skipped: no corpus beside the project)';

/**
 * Spectral's own end-to-end scenarios. Their rulesets are mostly JavaScript; here they are written
 * out. `left`: lines of the expected output that are not found, and `added`: lines beside them.
 */
const scenarios: Record<string, { ruleset: string; left?: string[]; added?: string[] }> = {
  'alphabetical-responses-order.oas3': {
    ruleset: "rules: {response-order: {message: m, given: '$.paths.*.*.responses', then: {function: alphabetical}}}",
  },
  'examples.oas2': { ruleset: 'extends: spectral:oas' },
  'examples.oas3': { ruleset: 'extends: spectral:oas' },
  'oas3.1__petstore': { ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas3-schema: error}' },
  // Spectral reports the path item, and not the member of it that is not allowed.
  'oas3.1__webooks': {
    ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas3-schema: error}',
    left: ['7 error oas3-schema'],
    added: ['8 error oas3-schema'],
  },
  'operation-security-defined.oas3': {
    ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas3-operation-security-defined: error}',
  },
  'parameter-description-links.oas3': {
    ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas3-parameter-description: true}',
  },
  'parameter-description-parameters.oas2': {
    ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas2-parameter-description: true}',
  },
  'parameter-description-parameters.oas3': {
    ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas3-parameter-description: true}',
  },
  'todo-full-loose-schema': {
    ruleset: `
formats: [json-schema-loose]
rules:
  no-root-all-of: {severity: error, given: $, then: {field: allOf, function: falsy}}
  no-empty-description: {given: $..description, then: {function: truthy}}`,
  },
  // A document of none of the formats is not reported: every API may have another format.
  'unrecognized-format': {
    ruleset: 'formats: [json-schema-loose]\nrules: {}',
    left: ['1 warning unrecognized-format'],
  },
};

describe.skipIf(!present)(`spectral lint finds the same${skipped}`, () => {
  test.each(Object.entries(scenarios))('%s', async (name, { ruleset, left = [], added = [] }) => {
    const text = readFileSync(join(corpus, `${name}.scenario`), 'utf8');
    const part = (title: string) => text.split(`====${title}====\n`)[1]?.split(/^====/m)[0] ?? '';
    const path = part('document').trimStart().startsWith('{') ? 'document.json' : 'document.yaml';
    const expected = [...part('stdout').matchAll(/^ +(\d+):\d+ +(error|warning|information|hint) +(\S+)/gm)].map(
      ([, line, severity, rule]) => `${line} ${severity} ${rule}`,
    );
    const input = given({ [path]: part('document') }, 'apis');
    const found = await lintWithRuleset(input, { json: JSON.stringify(parse(ruleset)), name: 'r' });
    const lines = found.map(({ line, severity, rule }) => `${line} ${severity} ${rule}`);
    expect([...lines, ...left].sort()).toEqual([...expected, ...added].sort());
  });
});
