// What is known of Redocly's own cases (`corpus/rulesets/redocly-lint-cases`). The others give the same findings.

/** Cases that are not compared, by reason. */
export const excluded: Record<string, string[]> = {
  'the corpus holds no configuration for it': [
    'arazzo-1-1-valid-description',
    'arazzo-not-valid-test-description',
    'arazzo-valid-test-description',
    'info-contact',
    'info-license-rule',
    'info-license-strict-rule',
    'no-path-trailing-slash-rule',
    'no-server-variables-empty-enum',
    'operation-operationId-unique-rule',
    'path-not-include-query-rule',
    'path-parameters-defined-ref-location',
    'path-parameters-defined-rule',
    'request-response-mime-type-oas3.1-error',
  ],
  'the corpus holds no document for it': [
    'assertions-max-length-array-error',
    'assertions-max-length-string-error',
    'assertions-min-length-array-error',
    'assertions-min-length-string-error',
    'assertions-mutually-required-error',
    'assertions-pattern-error',
    'assertions-show-suggestions',
    'assertions-undefined-error',
  ],
  'its documents are no OpenAPI': [
    'async2',
    'async3',
    'graphql-configurable-rule-redefine-severity-per-api',
    'graphql-invalid',
    'graphql-valid',
    'openrpc-invalid',
    'spec-step-mutually-exclusive-fields',
  ],
  'its rules belong to one entry of "apis", which a published ruleset has not': [
    'default-message-override',
    'info-contact--lint-in-apis',
    'nested-extends-two-level',
    'skip-rules',
  ],
  'Redocly checks nothing, since no rule is configured': ['extends-empty-array'],
  'the value is left out (`summary:`), and Redocly points at the key instead of the place of the value': [
    'assertions-non-empty-error',
  ],
};

/** Configurations that Redocly fails at when it applies them, and Stele when they are published. */
export const refused: Record<string, string> = { 'assertions-property-key-not-allowed': 'ruleset-rule' };
