import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kindOf } from '../../../src/compile/detect.ts';
import { compileRuleset } from '../../../src/compile/ruleset/ruleset.ts';
import { findingsOf, readCase, refusalOf } from '../openapi/redocly-case.ts';
import { excluded, refused } from './redocly-cases.ts';
import { withNeighbours } from './with-neighbours.ts';

const corpus = join(import.meta.dirname, '../../../../shared/corpus/rulesets');
const present = existsSync(corpus);
const skipped = present ? '' : ' (skipped: no corpus beside the project)';

describe.skipIf(!present)(`redocly lint says the same${skipped}`, () => {
  const folder = join(corpus, 'redocly-lint-cases/lint');
  const names = present ? readdirSync(folder) : [];
  const left = new Set(Object.values(excluded).flat());
  const compared = names.filter((name) => !left.has(name) && !(name in refused));

  test(`${compared.length} of ${names.length} cases are compared`, () => {
    expect([...left].filter((name) => !names.includes(name))).toEqual([]);
    expect(compared.length).toBeGreaterThanOrEqual(44);
  });

  test.each(compared)('%s', async (name) => {
    const one = readCase(join(folder, name));
    expect(await refusalOf(one)).toBeNull();
    expect(one.documents.length).toBeGreaterThan(0);
    expect(await findingsOf(one)).toEqual(one.expected);
  });

  test.each(Object.entries(refused))('%s is refused', async (name, rule) => {
    expect(await refusalOf(readCase(join(folder, name)))).toBe(rule);
  });
});

/** What becomes of real rulesets: how many are accepted, and for the others the first reason. */
describe.skipIf(!present)(`real rulesets${skipped}`, () => {
  async function classify(folder: string): Promise<Record<string, number>> {
    const classes: Record<string, number> = {};
    const entries = readdirSync(join(corpus, folder), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const path = relative(corpus, join(entry.parentPath, entry.name));
      if (!entry.isFile() || !/\.(?:ya?ml|json)$/.test(path)) continue;
      const input = withNeighbours(corpus, path);
      const kind = kindOf(input.entry.value)?.kind;
      const { problems } = await compileRuleset(input);
      const reason = problems.find(({ severity }) => severity === 'error')?.rule ?? 'accepted';
      const name = kind === 'openapi' || path.includes('lint-ignore') ? 'no ruleset' : reason;
      classes[name] = (classes[name] ?? 0) + 1;
    }
    return classes;
  }

  test.each([
    ['redocly', { accepted: 18, 'no ruleset': 2, 'ruleset-empty': 1, 'ruleset-refused': 8 }],
    ['spectral', { accepted: 35, 'ruleset-extends': 4, 'ruleset-refused': 16, 'ruleset-rule': 5 }],
    [
      'spectral-fixtures',
      {
        accepted: 11,
        'no ruleset': 6,
        'ruleset-extends': 2,
        'ruleset-reference': 1,
        'ruleset-refused': 9,
        'ruleset-rule': 2,
        schema: 2,
      },
    ],
  ])('%s', async (folder, expected) => {
    expect(await classify(folder)).toEqual(expected);
  });
});
