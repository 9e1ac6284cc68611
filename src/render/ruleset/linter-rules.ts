/**
 * What the built-in rules of Redocly's linter require of OpenAPI documents. Spectral's rules with
 * the same names require the same.
 */
const meanings: Readonly<Record<string, string>> = {
  'array-parameter-serialization': 'Array parameters specify style and explode.',
  'boolean-parameter-prefixes': 'Names of boolean parameters start with is, has or a similar prefix.',
  'component-name-unique': 'Components of one kind have different names, across all files.',
  'info-contact': 'The document has contact information.',
  'info-license': 'The document names its license.',
  'info-license-strict': 'The license has a URL or an SPDX identifier.',
  'no-ambiguous-paths': 'No URL matches two paths.',
  'no-duplicated-enum-values': 'Enum values are unique.',
  'no-duplicated-tag-names': 'Tag names are unique.',
  'no-empty-servers': 'The document has at least one server.',
  'no-enum-type-mismatch': 'Enum values have the type of their schema.',
  'no-example-value-and-externalValue': 'Examples have either value or externalValue.',
  'no-http-verbs-in-paths': 'Paths do not contain HTTP methods.',
  'no-identical-paths': 'Paths differ in more than the names of their parameters.',
  'no-illogical-composition-keywords': 'oneOf, anyOf and allOf have at least two different schemas.',
  'no-invalid-media-type-examples': 'Examples of bodies match their schema.',
  'no-invalid-parameter-examples': 'Examples of parameters match their schema.',
  'no-invalid-schema-examples': 'Examples in schemas match the schema.',
  'no-mixed-number-range-constraints': 'Numbers have an inclusive or an exclusive limit on each side, not both.',
  'no-path-trailing-slash': 'Paths do not end with a slash.',
  'no-required-schema-properties-undefined': 'Required properties are defined.',
  'no-schema-type-mismatch': 'properties is used only with type object, items only with type array.',
  'no-server-example.com': 'Servers are not example.com or localhost.',
  'no-server-trailing-slash': 'Server URLs do not end with a slash.',
  'no-server-variables-empty-enum': 'Enums of server variables are not empty and contain the default.',
  'no-undefined-server-variable': 'Variables in server URLs are defined, and all defined variables are used.',
  'no-unresolved-refs': 'All references resolve.',
  'no-unsafe-markdown': 'Descriptions contain no Markdown that could run a script.',
  'no-unused-components': 'All components are used.',
  'nullable-type-sibling': 'nullable is used only together with type.',
  'operation-2xx-response': 'Operations have a 2xx response.',
  'operation-4xx-problem-details-rfc7807': '4xx responses are problem documents (RFC 7807).',
  'operation-4xx-response': 'Operations have a 4xx response.',
  'operation-description': 'Operations have a description.',
  'operation-operationId': 'Operations have an operationId.',
  'operation-operationId-unique': 'operationIds are unique.',
  'operation-operationId-url-safe': 'operationIds contain only characters that URLs allow.',
  'operation-parameters-unique': 'Parameters of an operation are unique.',
  'operation-singular-tag': 'Operations have at most one tag.',
  'operation-summary': 'Operations have a summary.',
  'operation-tag-defined': 'Tags of operations are defined in the document.',
  'parameter-description': 'Parameters have a description.',
  'path-declaration-must-exist': 'Parameters in paths have names.',
  'path-http-verbs-order': 'Methods of a path are in a fixed order.',
  'path-not-include-query': 'Paths do not contain a query string.',
  'path-parameters-defined': 'Parameters in paths are defined, and all defined path parameters are used.',
  'path-params-defined': 'Parameters in paths are defined, and all defined path parameters are used.',
  'path-segment-plural': 'Path segments are plural.',
  'paths-kebab-case': 'Paths are in kebab-case.',
  'request-mime-type': 'Request bodies use only the configured media types.',
  'required-string-property-missing-min-length': 'Required strings have a minLength.',
  'response-contains-header': 'Responses have the configured headers.',
  'response-contains-property': 'Response bodies have the configured properties.',
  'response-mime-type': 'Response bodies use only the configured media types.',
  'scalar-property-missing-example': 'Properties other than objects and arrays have an example.',
  'security-defined': 'Operations have security requirements, with defined schemes.',
  'security-scopes-defined': 'Scopes of operations are defined in their security scheme.',
  'spec-components-invalid-map-name':
    'Names of components contain only letters, digits, dots, hyphens and underscores.',
  'spec-ref-siblings': 'References have no siblings that would be ignored.',
  'spec-strict-refs': 'References are used only where the specification allows them.',
  struct: 'The document matches the structure of its specification.',
  'tag-description': 'Tags have a description.',
  'tags-alphabetical': 'Tags are in alphabetical order.',
};

/**
 * What a built-in rule requires; null if it is not listed here. The name may have a prefix for an
 * OpenAPI version: `oas3_1: struct`.
 */
export function linterRuleMeaning(name: string): string | null {
  const text = name.replace(/^[\w/*. -]{1,80}: /, '');
  return Object.hasOwn(meanings, text) ? meanings[text]! : null;
}
