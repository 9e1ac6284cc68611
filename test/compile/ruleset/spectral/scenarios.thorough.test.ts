import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { lintWithRuleset } from '../../../../src/compile/ruleset/ruleset-evaluate.ts';
import { given } from '../../given.ts';
import { scenarios } from './scenarios.ts';

const corpus = join(import.meta.dirname, '../../../../../shared/corpus/rulesets/spectral-scenarios');
const present = existsSync(corpus);
const skipped = present ? '' : ' (skipped: no corpus beside the project)';

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
