import { sampleOf } from '../../sample.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ajv04 from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import { Ajv, type AnySchema, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { compileJsonSchema } from '../../../src/compile/schema/json-schema.ts';
import { given } from '../given.ts';

const corpus = join(import.meta.dirname, '../../../../shared/corpus/jsonschema');
const present = existsSync(corpus);
const skipped = present ? '' : ' (skipped: no corpus beside the project)';

/** Real schemas that are refused, and the rule that says why. */
const refused: Record<string, [rule: string, reason: string]> = {
  'grunt-jshint-task.json': ['ref-unresolved', 'refers to neighbours that the corpus lacks'],
  'rc3-collection-0.0.3.json': ['ref-unresolved', 'refers to a neighbour that the corpus lacks'],
  'openapi-3.X.json': ['ref-remote', 'refers to schemas on another host'],
  'openapi-arazzo-1.X.json': ['ref-remote', 'refers to a schema on another host'],
};

describe.skipIf(!present)(`schemas of SchemaStore${skipped}`, () => {
  const folder = join(corpus, 'schemastore');
  // Every fourth, and those that are refused.
  const names = present ? readdirSync(folder) : [];
  const drawn = new Set([...sampleOf(names, 4), ...names.filter((name) => name in refused)]);
  test.each([...drawn])('%s', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const input = given({ [name]: text }, 'schemas');
    const { bundle, problems } = await compileJsonSchema(input);
    const rules = [...new Set(problems.filter(({ severity }) => severity === 'error').map(({ rule }) => rule))];
    const reason = refused[name];
    expect(rules).toEqual(reason ? [reason[0]] : []);
    // Numbers that a double cannot hold are kept apart, in a copy.
    if (!reason && !/: -?\d{17}/.test(text)) expect(bundle).toBe(input.entry.value);
  });
});

const drafts: Record<string, string> = {
  draft4: 'http://json-schema.org/draft-04/schema#',
  draft6: 'http://json-schema.org/draft-06/schema#',
  draft7: 'http://json-schema.org/draft-07/schema#',
  'draft2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft2020-12': 'https://json-schema.org/draft/2020-12/schema',
};

function createAjv(draft: string): Ajv {
  const old = ['draft4', 'draft6', 'draft7'].includes(draft);
  const options: Options = { strict: false, logger: false, ...(old ? { ignoreKeywordsWithRef: true } : {}) };
  const ajv = draft === 'draft4' ? new ajv04.default(options) : draft === 'draft2019-09' ? new Ajv2019(options) : draft === 'draft2020-12' ? new Ajv2020(options) : new Ajv(options); // prettier-ignore
  if (draft === 'draft6') ajv.addMetaSchema(draft06);
  if (draft !== 'draft4') ajv.removeKeyword('id');
  addFormats.default(ajv);
  return ajv;
}

/** What a schema says of an instance; where it cannot be asked, why not. */
function createAsk(draft: string, schema: unknown): (instance: unknown) => boolean | string {
  try {
    const validate = createAjv(draft).compile(schema as AnySchema);
    return (instance) => {
      try {
        return validate(instance) === true;
      } catch {
        return 'recurses without end';
      }
    };
  } catch {
    return () => 'does not compile';
  }
}

interface Case {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

/** Cases of the official suite that need files of its `remotes` folder, which the corpus lacks. */
const needRemotes = [
  'strict-tree schema, guards against misspelled properties',
  'tests for implementation dynamic anchor and reference link',
  '$ref and $dynamicAnchor are independent of order - $defs first',
  '$ref and $dynamicAnchor are independent of order - $ref first',
  '$ref to $dynamicRef finds detached $dynamicAnchor',
];

/** Files of the suite, with the number of instances of which ajv says something else than the suite of the very schema it gives. */
const suite: [file: string, faultsOfAjv: number][] = [
  ['draft4/ref.json', 2],
  ['draft6/const.json', 0],
  ['draft7/ref.json', 2],
  ['draft7/format.json', 0],
  ['draft2019-09/recursiveRef.json', 2],
  ['draft2020-12/dynamicRef.json', 20],
  ['draft2020-12/unevaluatedProperties.json', 5],
  ['draft2020-12/type.json', 0],
  ['draft2020-12/optional/format/date-time.json', 3],
];

describe.skipIf(!present)(`the official test suite${skipped}`, () => {
  test.each(suite)('%s', async (file, faultsOfAjv) => {
    const draft = file.split('/')[0]!;
    const cases = JSON.parse(readFileSync(join(corpus, 'test-suite/tests', file), 'utf8')) as Case[];
    let faults = 0;
    for (const { description, schema, tests } of cases) {
      const stated = typeof schema === 'object' ? { $schema: drafts[draft], ...schema } : schema;
      const alone = await compileJsonSchema(given({ 'a.json': stated }, 'schemas'));
      const missing = needRemotes.includes(description);
      expect([description, alone.bundle === null]).toEqual([description, missing]);
      if (missing) continue;

      // The same schema in a file of its own: brought in, it must mean the same.
      const wrapper = { $schema: drafts[draft], allOf: [{ $ref: 'd/a.json' }], definitions: { a: { not: {} } } };
      const { bundle } = await compileJsonSchema(given({ 'w.json': wrapper, 'd/a.json': stated }, 'schemas'));
      const ask = createAsk(draft, stated);
      const askBundle = createAsk(draft, bundle);
      for (const { description: instance, data, valid } of tests) {
        const said = ask(data);
        if (said !== valid) faults++;
        const saidOfBundle = askBundle(data);
        if (saidOfBundle !== valid)
          expect([description, instance, saidOfBundle]).toEqual([description, instance, said]);
      }
    }
    expect(faults).toBe(faultsOfAjv);
  });
});
