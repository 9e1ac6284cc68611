import { rule } from './write-rule.ts';

const error = { severity: 'error' } as const;
const oas3 = { formats: ['oas3'] };
const oas30 = { formats: ['oas3_0'] };
const oas31 = { formats: ['oas3_1'] };
const older = ['oas2', 'oas3_0'];

/** Schemas of a type; from 3.1 on also those that list it. */
function schemasOfType(type: string): object {
  const named = `$..[?(@ && @.type=="${type}")]`;
  const listed = `$..[?(@ && @.type && @.type.constructor.name === "Array" && @.type.includes("${type}"))]`;
  return {
    targets: [
      { formats: older, given: [named] },
      { formats: ['oas3_1'], given: [named, listed] },
    ],
  };
}

/** The aliases that the rules of the OWASP set use. */
export const owaspAliases = {
  ArrayProperties: schemasOfType('array'),
  IntegerProperties: schemasOfType('integer'),
  StringProperties: schemasOfType('string'),
};

/** Requires an object with all names of one of these lists. */
const withOneOf = (choice: 'anyOf' | 'oneOf', ...lists: string[][]): Record<string, unknown> => ({
  schema: { type: 'object', [choice]: lists.map((required) => ({ required })) },
});

const responses = '$.paths..responses';
const schemes = '$.components.securitySchemes';

/** A response that every operation describes, with its content. */
const describes = (status: string, why: string) =>
  rule(`Describe the response ${status} and its content: ${why}`, responses, [
    [status, 'truthy'],
    [`${status}.content`, 'truthy'],
  ]);

const mayNot = (keyword: string, formats: { formats: string[] }) =>
  rule(
    `"${keyword}" should be false or absent, so that clients cannot add unknown properties.`,
    `$..[?(@ && @.type=="object" && @.${keyword})]`,
    [keyword, 'falsy'],
    formats,
  );
const isBounded = (keyword: string, formats: { formats: string[] }) =>
  rule(
    `An object with "${keyword}" should limit them with "maxProperties".`,
    `$..[?(@ && @.type=="object" && @.${keyword} &&  @.${keyword}!=true &&  @.${keyword}!=false )]`,
    ['maxProperties', 'defined'],
    formats,
  );

/**
 * The rules of `@stoplight/spectral-owasp-ruleset` 2.0: the names, places, severities and requirements
 * of its rules for the OWASP API Security Top 10 of 2023.
 */
export const owaspRules: Readonly<Record<string, object>> = {
  'owasp:api1:2023-no-numeric-ids': rule(
    'Use identifiers that cannot be guessed, such as UUIDs, not integers.',
    '$.paths..parameters[*][?(@property === "name" && (@ === "id" || @.match(/(_id|Id|-id)$/)))]^.schema',
    [null, 'schema', { schema: { type: 'object', not: { properties: { type: { const: 'integer' } } } } }],
    error,
  ),
  'owasp:api2:2023-no-http-basic': rule(
    'HTTP Basic sends the password with each request. Use OAuth 2 or OpenID Connect.',
    `${schemes}[*]`,
    ['scheme', 'pattern', { notMatch: 'basic' }],
    error,
  ),
  'owasp:api2:2023-no-api-keys-in-url': rule(
    'An API key in a URL is kept in logs and histories. Send it in a header or a cookie.',
    '$..[securitySchemes][?(@ && @.type=="apiKey")].in',
    [null, 'pattern', { notMatch: '^(path|query)$' }],
    { ...error, ...oas3 },
  ),
  'owasp:api2:2023-no-credentials-in-url': rule(
    'A parameter in the URL looks like a password, a secret or a key.',
    '$..parameters[?(@ && @.in && @.in.match(/query|path/))].name',
    [
      'name',
      'pattern',
      {
        notMatch: '/^.*(client_?secret|token|access_?token|refresh_?token|id_?token|password|secret|api-?key).*$/i',
      },
    ],
    { ...error, ...oas3 },
  ),
  'owasp:api2:2023-auth-insecure-schemes': rule(
    'This authentication scheme is outdated or insecure.',
    '$..[securitySchemes][?(@.type=="http")].scheme',
    [null, 'pattern', { notMatch: '^(negotiate|oauth)$' }],
    { ...error, ...oas3 },
  ),
  'owasp:api2:2023-jwt-best-practices': rule(
    'The description of a scheme with JWTs should say that it follows RFC8725.',
    [`${schemes}[?(@ && @.type=="oauth2")]`, `${schemes}[?(@ && (@.bearerFormat=="jwt" || @.bearerFormat=="JWT"))]`],
    [
      ['description', 'truthy'],
      ['description', 'pattern', { match: '.*RFC8725.*' }],
    ],
    error,
  ),
  'owasp:api2:2023-short-lived-access-tokens': rule(
    'Without a "refreshUrl", access tokens are likely to live long.',
    `${schemes}[?(@ && @.type=="oauth2")].flows.*`,
    ['refreshUrl', 'truthy'],
    error,
  ),
  'owasp:api2:2023-write-restricted': rule(
    'An operation that writes should have a security scheme.',
    '$',
    [null, 'owaspIsSecured', { methods: ['post', 'put', 'patch', 'delete'] }],
    error,
  ),
  'owasp:api2:2023-read-restricted': rule('An operation that reads should have a security scheme.', '$', [
    null,
    'owaspIsSecured',
    { methods: ['get', 'head'] },
  ]),
  'owasp:api3:2023-no-additionalProperties': mayNot('additionalProperties', oas30),
  'owasp:api3:2023-constrained-additionalProperties': isBounded('additionalProperties', oas30),
  'owasp:api3:2023-no-unevaluatedProperties': mayNot('unevaluatedProperties', oas31),
  'owasp:api3:2023-constrained-unevaluatedProperties': isBounded('unevaluatedProperties', oas31),
  'owasp:api4:2023-rate-limit': rule(
    'Responses 2XX and 4XX should have headers about the rate limit, such as "RateLimit".',
    '$.paths[*]..responses[?(@property.match(/^(2|4)/))]',
    [
      'headers',
      'schema',
      withOneOf(
        'oneOf',
        ['RateLimit'],
        ['RateLimit-Limit', 'RateLimit-Reset'],
        ['X-RateLimit-Limit'],
        ['X-Rate-Limit-Limit'],
      ),
    ],
    { ...error, ...oas3 },
  ),
  'owasp:api4:2023-rate-limit-retry-after': rule(
    'A response 429 should have the header Retry-After.',
    '$..responses[429].headers',
    ['Retry-After', 'defined'],
    { ...error, ...oas3 },
  ),
  'owasp:api4:2023-rate-limit-responses-429': describes('429', 'clients should know when to try again.'),
  'owasp:api4:2023-array-limit': rule(
    'An array should have "maxItems".',
    '#ArrayProperties',
    ['maxItems', 'defined'],
    error,
  ),
  'owasp:api4:2023-string-limit': rule(
    'A string should have "maxLength", "enum" or "const".',
    '#StringProperties',
    [null, 'schema', withOneOf('anyOf', ['maxLength'], ['enum'], ['const'])],
    error,
  ),
  'owasp:api4:2023-string-restricted': rule(
    'A string should have "format", "pattern", "enum" or "const".',
    '#StringProperties',
    [null, 'schema', withOneOf('anyOf', ['format'], ['pattern'], ['enum'], ['const'])],
  ),
  'owasp:api4:2023-integer-limit': rule(
    'An integer should have a minimum and a maximum.',
    '#IntegerProperties',
    [
      [null, 'xor', { properties: ['minimum', 'exclusiveMinimum'] }],
      [null, 'xor', { properties: ['maximum', 'exclusiveMaximum'] }],
    ],
    { ...error, ...oas31 },
  ),
  'owasp:api4:2023-integer-limit-legacy': rule(
    'An integer should have a minimum and a maximum.',
    '#IntegerProperties',
    [
      ['minimum', 'defined'],
      ['maximum', 'defined'],
    ],
    { ...error, formats: older },
  ),
  'owasp:api4:2023-integer-format': rule(
    'An integer should have a format, int32 or int64.',
    '#IntegerProperties',
    ['format', 'defined'],
    error,
  ),
  'owasp:api5:2023-admin-security-unique': rule(
    'Operations of administrators should have security schemes of their own.',
    '$',
    [null, 'owaspAdminIsApart', { adminUrl: '/admin' }],
    { ...error, saysWhy: true },
  ),
  'owasp:api7:2023-concerning-url-parameter': rule(
    'A parameter that takes a URL can make the server send requests elsewhere (SSRF). Check how it is used.',
    ['$.paths[*].parameters[*].name', '$.paths[*][get,put,post,delete,options,head,patch,trace].parameters[*].name'],
    [null, 'pattern', { notMatch: '(^(callback|redirect)|(_url|Url|-url))$' }],
    { severity: 'info' },
  ),
  'owasp:api8:2023-define-cors-origin': rule(
    'Responses should have the header Access-Control-Allow-Origin.',
    '$..headers',
    ['Access-Control-Allow-Origin', 'truthy'],
    error,
  ),
  'owasp:api8:2023-no-scheme-http': rule(
    'Use https or wss, not http.',
    '$.schemes.*',
    [null, 'schema', { schema: { type: 'string', enum: ['https', 'wss'] } }],
    { ...error, formats: ['oas2'] },
  ),
  'owasp:api8:2023-no-server-http': rule(
    'Servers should have https or wss, not http.',
    '$.servers..url',
    [null, 'pattern', { notMatch: '/^http:/' }],
    { ...error, ...oas3 },
  ),
  'owasp:api8:2023-define-error-validation': rule(
    'Describe what clients get for an invalid request: a response 400, 422 or 4XX.',
    responses,
    [null, 'schema', withOneOf('anyOf', ['400'], ['422'], ['4XX'])],
  ),
  'owasp:api8:2023-define-error-responses-401': describes('401', 'it is what clients without access get.'),
  'owasp:api8:2023-define-error-responses-500': describes('500', 'an undescribed error may tell too much.'),
  'owasp:api9:2023-inventory-access': rule(
    'Say with "x-internal" whether a server is internal.',
    '$.servers.*',
    ['x-internal', 'defined'],
    { ...error, ...oas3 },
  ),
  'owasp:api9:2023-inventory-environment': rule(
    'The description of a server should name its environment, such as staging or production.',
    '$.servers.*',
    [
      'description',
      'pattern',
      {
        match: '/(local|sandbox|alpha|beta|test|testing|stag|staging|prod|production|next|preprod|preproduction)/i',
      },
    ],
    { ...error, ...oas3 },
  ),
};
