import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';

describe('what other tools refuse', () => {
  // prettier-ignore

  const fixtures = '../shared/corpus/invalid/readme-parser';
  // Valid by the specification: "The Paths MAY be empty, due to Access Control List (ACL) constraints."
  const silent = new Set(['invalid/no-paths.yaml', 'invalid/no-webhooks.yaml']);
  const skipped = existsSync(fixtures) ? '' : ' (skipped: the corpus is not there)';
  it.skipIf(skipped !== '')(`leaves none of a parser’s invalid fixtures in silence${skipped}`, async () => {
    const folders = ['validate-spec/invalid', 'validate-schema/invalid', 'invalid', 'compile-errors', 'better-errors'];
    const names = folders.flatMap((folder) =>
      readdirSync(join(fixtures, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.yaml'))
        .map((name) => `${folder}/${name}`),
    );
    expect(names).toHaveLength(40);
    const quiet = [];
    for (const name of names) {
      const { lines } = await run({ 'a.yaml': readFileSync(join(fixtures, name), 'utf8') }, { type: null });
      if (lines.length === 0) quiet.push(name);
    }
    expect(quiet).toEqual([...silent]);
  });
});
