/**
 * Spectral's own end-to-end scenarios. Their rulesets are mostly JavaScript; here they are written
 * out. `left`: lines of the expected output that are not found, and `added`: lines beside them.
 */
export const scenarios: Record<string, { ruleset: string; left?: string[]; added?: string[]; why?: string }> = {
  'alphabetical-responses-order.oas3': {
    ruleset: "rules: {response-order: {message: m, given: '$.paths.*.*.responses', then: {function: alphabetical}}}",
  },
  'examples.oas2': { ruleset: 'extends: spectral:oas' },
  'examples.oas3': { ruleset: 'extends: spectral:oas' },
  'oas3.1__petstore': { ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas3-schema: error}' },
  'oas3.1__webooks': {
    ruleset: 'extends: [[spectral:oas, off]]\nrules: {oas3-schema: error}',
    left: ['7 error oas3-schema'],
    added: ['8 error oas3-schema'],
    why: 'Spectral reports the path item, and Stele the member of it that is not allowed.',
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
  'unrecognized-format': {
    ruleset: 'formats: [json-schema-loose]\nrules: {}',
    left: ['1 warning unrecognized-format'],
    why: 'A document of none of the formats is not reported: a ruleset is attached to many documents.',
  },
};

/** Scenarios that are not compared, and why. */
export const notCompared: Record<string, string> = {
  'asyncapi2-streetlights': 'AsyncAPI is not published',
  'fail-on-unmatched-glob-patterns': 'about the command line only',
  'help-no-document': 'about the command line only',
  'no-ruleset': 'about the command line only',
  'strict-options': 'about the command line only',
};
