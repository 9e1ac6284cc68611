import { rule, type Then } from './write-rule.ts';

/** The aliases that the rules of `spectral:oas` use. */
export const oasAliases = {
  PathItem: ['$.paths[*]'],
  OperationObject: ['#PathItem[get,put,post,delete,options,head,patch,trace]'],
  SecurityRequirementObject: ['$.security[*]', '#OperationObject.security[*]'],
  ResponseObject: {
    targets: [
      { formats: ['oas2'], given: ['#OperationObject.responses[*]', '$.responses[*]'] },
      { formats: ['oas3'], given: ['#OperationObject.responses[*]', '$.components.responses[*]'] },
    ],
  },
  LinkObject: {
    targets: [{ formats: ['oas3'], given: ['$.components.links[*]', '#ResponseObject.links[*]'] }],
  },
};

const operation = '#OperationObject';
const extra = { isExtra: true } as const;
const oas2 = { formats: ['oas2'] };
const oas3 = { formats: ['oas3'] };
const recent = { formats: ['oas3_1', 'oas3_2'] };
const fatal = { severity: 'error', saysWhy: true } as const;
const notEmpty = (items?: string): Record<string, unknown> => ({
  schema: { type: 'array', minItems: 1, ...(items && { items: { type: items } }) },
});

const isSchema =
  "@property !== 'properties' && @ && (@.enum || @.type || @.format || @.$ref || @.properties || @.items)";
const mediaWithExamples = {
  oas2: '$..responses..[?(@ && @.schema && @.examples)]',
  oas3: ['content', 'headers', 'parameters'].map(
    (key) => `$..${key}..[?(@ && @.schema && (@.example !== undefined || @.examples))]`,
  ),
};
const schemasWithExamples = {
  oas2: ['$..definitions', '$..parameters', '$..responses'].map(
    (base) =>
      `${base}..[?(${isSchema} && (@.example !== undefined || @['x-example'] !== undefined || @.default !== undefined))]`,
  ),
  oas3: ['$.components.schemas', '$..content', '$..headers', '$..parameters'].map(
    (base) => `${base}..[?(${isSchema} && (@.example !== undefined || @.default !== undefined))]`,
  ),
};

/**
 * The rules of `spectral:oas`: Spectral's names, places, severities and requirements.
 */
export const oasRules: Readonly<Record<string, object>> = {
  'operation-success-response': rule('Operation must have at least one "2xx" or "3xx" response.', operation, [
    'responses',
    'oasOpSuccessResponse',
  ]),
  'oas2-operation-formData-consume-check': rule(
    'Operations with "in: formData" parameter must include "application/x-www-form-urlencoded" or "multipart/form-data" in their "consumes" property.',
    operation,
    [null, 'oasOpFormDataConsumeCheck'],
    oas2,
  ),
  'operation-operationId-unique': rule(
    'Every operation must have unique "operationId".',
    '$.paths',
    [null, 'oasOpIdUnique'],
    {
      severity: 'error',
    },
  ),
  'operation-parameters': rule(
    'Operation parameters are unique and non-repeating.',
    '#OperationObject.parameters',
    [null, 'oasOpParams'],
    {
      saysWhy: true,
    },
  ),
  'operation-tag-defined': rule('Operation tags must be defined in global tags.', '$', [null, 'oasTagDefined']),
  'path-params': rule('Path parameters must be defined and valid.', '$.paths', [null, 'oasPathParam'], fatal),
  'contact-properties': rule(
    'Contact object must have "name", "url" and "email".',
    '$.info.contact',
    ['name', 'url', 'email'].map((field): Then => [field, 'truthy']),
    extra,
  ),
  'duplicated-entry-in-enum': rule(
    'Enum values must not have duplicate entry.',
    "$..[?(@property !== 'properties' && @ != null && @.enum)]",
    ['enum', 'uniqueItems'],
    { saysWhy: true },
  ),
  'info-contact': rule('Info object must have "contact" object.', '$', ['info.contact', 'truthy']),
  'info-description': rule('Info "description" must be present and non-empty string.', '$', [
    'info.description',
    'truthy',
  ]),
  'info-license': rule('Info object must have "license" object.', '$', ['info.license', 'truthy'], extra),
  'license-url': rule('License object must include "url".', '$', ['info.license.url', 'truthy'], extra),
  'no-eval-in-markdown': rule('Markdown descriptions must not have "eval(".', '$..[description,title]', [
    null,
    'pattern',
    { notMatch: String.raw`eval\(` },
  ]),
  'no-script-tags-in-markdown': rule('Markdown descriptions must not have "<script>" tags.', '$..[description,title]', [
    null,
    'pattern',
    { notMatch: '<script' },
  ]),
  'openapi-tags-alphabetical': rule(
    'OpenAPI object must have alphabetical "tags".',
    '$',
    ['tags', 'alphabetical', { keyedBy: 'name' }],
    extra,
  ),
  'openapi-tags-uniqueness': rule('Each tag must have a unique name.', '$.tags', [null, 'uniquenessTags'], fatal),
  'openapi-tags': rule('OpenAPI object must have non-empty "tags" array.', '$', ['tags', 'schema', notEmpty()], extra),
  'operation-description': rule('Operation "description" must be present and non-empty string.', operation, [
    'description',
    'truthy',
  ]),
  'operation-operationId': rule('Operation must have "operationId".', operation, ['operationId', 'truthy']),
  'operation-operationId-valid-in-url': rule(
    'operationId must not contain characters that are invalid when used in URL.',
    operation,
    ['operationId', 'pattern', { match: String.raw`^[A-Za-z0-9-._~:/?#\[\]@!\$&'()*+,;=]*$` }],
  ),
  'operation-singular-tag': rule(
    'Operation must not have more than a single tag.',
    operation,
    ['tags', 'length', { max: 1 }],
    extra,
  ),
  'operation-tags': rule('Operation must have non-empty "tags" array.', operation, ['tags', 'schema', notEmpty()]),
  'path-declarations-must-exist': rule(
    'Path parameter declarations must not be empty, ex."/given/{}" is invalid.',
    '$.paths',
    ['@key', 'pattern', { notMatch: String.raw`\{\}` }],
  ),
  'path-keys-no-trailing-slash': rule('Path must not end with slash.', '$.paths', [
    '@key',
    'pattern',
    { notMatch: '.+/$' },
  ]),
  'path-not-include-query': rule('Path must not include query string.', '$.paths', [
    '@key',
    'pattern',
    { notMatch: String.raw`\?` },
  ]),
  'tag-description': rule('Tag object must have "description".', '$.tags[*]', ['description', 'truthy'], extra),
  'no-$ref-siblings': rule(
    'Property must not be placed among $ref',
    "$..[?(@property === '$ref')]^",
    [null, 'refSiblings'],
    {
      ...fatal,
      formats: ['oas2', 'oas3_0'],
      resolved: false,
    },
  ),
  'array-items': rule(
    'Schemas with "type: array", require a sibling "items" field',
    '$..[?(@ && @.type)]',
    [null, 'arrayItems'],
    { severity: 'error', resolved: false },
  ),
  'typed-enum': rule(
    'Enum values must respect the specified type.',
    '$..[?(@ && @.enum && @.type)]',
    [null, 'typedEnum'],
    {
      saysWhy: true,
    },
  ),
  'oas2-api-host': rule('OpenAPI "host" must be present and non-empty string.', '$', ['host', 'truthy'], oas2),
  'oas2-api-schemes': rule(
    'OpenAPI host "schemes" must be present and non-empty array.',
    '$',
    ['schemes', 'schema', notEmpty('string')],
    oas2,
  ),
  'oas2-discriminator': rule(
    'discriminator property must be defined and required',
    '$.definitions[?(@ && @.discriminator)]',
    [null, 'oasDiscriminator'],
    { ...fatal, ...oas2 },
  ),
  'oas2-host-not-example': rule(
    'Host URL must not point at example.com.',
    '$',
    ['host', 'pattern', { notMatch: String.raw`example\.com` }],
    { ...extra, ...oas2 },
  ),
  'oas2-host-trailing-slash': rule(
    'Server URL must not have trailing slash.',
    '$',
    ['host', 'pattern', { notMatch: '/$' }],
    oas2,
  ),
  'oas2-parameter-description': rule(
    'Parameter objects must have "description".',
    '$..parameters[?(@ && @.in)]',
    ['description', 'truthy'],
    { ...extra, ...oas2 },
  ),
  'oas2-operation-security-defined': rule(
    'Operation "security" values must match a scheme defined in the "securityDefinitions" object.',
    '#SecurityRequirementObject',
    [null, 'oasSecurityDefined', { oasVersion: 2 }],
    { saysWhy: true, ...oas2 },
  ),
  'oas2-valid-schema-example': rule(
    'Examples must be valid against their defined schema.',
    schemasWithExamples.oas2,
    [null, 'oasExample', { type: 'schema' }],
    { ...fatal, ...oas2 },
  ),
  'oas2-valid-media-example': rule(
    'Examples must be valid against their defined schema.',
    mediaWithExamples.oas2,
    [null, 'oasExample', { type: 'media' }],
    { ...fatal, ...oas2 },
  ),
  'oas2-anyOf': rule('"anyOf" keyword must not be used in OpenAPI v2 document.', '$..anyOf', [null, 'undefined'], oas2),
  'oas2-oneOf': rule('"oneOf" keyword must not be used in OpenAPI v2 document.', '$..oneOf', [null, 'undefined'], oas2),
  'oas2-schema': rule('Validate structure of OpenAPI v2 specification.', '$', [null, 'oasDocumentSchema'], {
    ...fatal,
    ...oas2,
    resolved: false,
  }),
  'oas2-unused-definition': rule(
    'Potentially unused definition has been detected.',
    '$.definitions',
    [null, 'unreferencedReusableObject', { reusableObjectsLocation: '#/definitions' }],
    { ...oas2, resolved: false },
  ),
  'oas3-api-servers': rule(
    'OpenAPI "servers" must be present and non-empty array.',
    '$',
    ['servers', 'schema', notEmpty('object')],
    oas3,
  ),
  'oas3-examples-value-or-externalValue': rule(
    'Examples must have either "value" or "externalValue" field.',
    [
      '$.components.examples[*]',
      '$.paths[*][*]..content[*].examples[*]',
      '$.paths[*][*]..parameters[*].examples[*]',
      '$.components.parameters[*].examples[*]',
      '$.paths[*][*]..headers[*].examples[*]',
      '$.components.headers[*].examples[*]',
    ],
    [null, 'xor', { properties: ['externalValue', 'value'] }],
    oas3,
  ),
  'oas3-operation-security-defined': rule(
    'Operation "security" values must match a scheme defined in the "components.securitySchemes" object.',
    '#SecurityRequirementObject',
    [null, 'oasSecurityDefined', { oasVersion: 3 }],
    { saysWhy: true, ...oas3 },
  ),
  'oas3-parameter-description': rule(
    'Parameter objects must have "description".',
    ['#PathItem', operation, '$.components'].map((base) => `${base}.parameters[?(@ && @.in)]`),
    ['description', 'truthy'],
    { ...extra, ...oas3 },
  ),
  'oas3-server-not-example.com': rule(
    'Server URL must not point at example.com.',
    '$.servers[*].url',
    [null, 'pattern', { notMatch: String.raw`example\.com` }],
    { ...extra, ...oas3 },
  ),
  'oas3-server-trailing-slash': rule(
    'Server URL must not have trailing slash.',
    '$.servers[*].url',
    [null, 'pattern', { notMatch: './$' }],
    oas3,
  ),
  'oas3-valid-media-example': rule(
    'Examples must be valid against their defined schema.',
    mediaWithExamples.oas3,
    [null, 'oasExample', { type: 'media' }],
    { ...fatal, ...oas3 },
  ),
  'oas3-valid-schema-example': rule(
    'Examples must be valid against their defined schema.',
    schemasWithExamples.oas3,
    [null, 'oasExample', { type: 'schema' }],
    { ...fatal, ...oas3 },
  ),
  'oas3-schema': rule('Validate structure of OpenAPI v3 specification.', '$', [null, 'oasDocumentSchema'], {
    ...fatal,
    ...oas3,
    resolved: false,
  }),
  'oas3-unused-component': rule(
    'Potentially unused component has been detected.',
    '$.components',
    [null, 'oasUnusedComponent'],
    {
      ...oas3,
      resolved: false,
    },
  ),
  'oas3-server-variables': rule(
    'Server variables must be defined and valid and there must be no unused variables.',
    ['$.servers[*]', '#PathItem.servers[*]', '#OperationObject.servers[*]', '#LinkObject.server'],
    [null, 'serverVariables'],
    fatal,
  ),
  'oas3-callbacks-in-callbacks': rule(
    'Callbacks should not be defined within a callback',
    '#OperationObject.callbacks[*][*][*].callbacks',
    [null, 'undefined'],
    oas3,
  ),
  'oas3_1-servers-in-webhook': rule(
    'Servers should not be defined in a webhook.',
    ['$.webhooks.servers', '$.webhooks[*][*].servers'],
    [null, 'undefined'],
    recent,
  ),
  'oas3_1-callbacks-in-webhook': rule(
    'Callbacks should not be defined in a webhook.',
    '$.webhooks[*][*].callbacks',
    [null, 'undefined'],
    recent,
  ),
  'oas3_2-no-deprecated-xml-attribute': rule(
    '"xml.attribute" is deprecated in OAS 3.2; use "xml.nodeType: attribute" instead.',
    '$..[?(@ && @.xml)].xml',
    [null, 'schema', { schema: { not: { properties: { attribute: { const: true } }, required: ['attribute'] } } }],
    { formats: ['oas3_2'] },
  ),
};
