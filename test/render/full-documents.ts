/** Documents of every kind in which a text stands wherever a text may stand: in names, in values, in URLs, and where only a type is expected. */
export function fullDocuments(text: string): Record<string, unknown> {
  const schema = {
    type: 'object',
    title: text,
    description: text,
    required: [text, 'missing'],
    example: { [text]: [text, { deep: text }] },
    default: text,
    discriminator: { propertyName: text, mapping: { [text]: '#/components/schemas/Other' } },
    xml: { name: text, namespace: text },
    externalDocs: { url: text, description: text },
    properties: {
      [text]: {
        type: 'string',
        format: text,
        pattern: text,
        enum: [text, `${text} 2`],
        description: text,
        default: text,
      },
      strange: { type: text, const: text, examples: [text, [text]] },
      many: { enum: Array.from({ length: 20 }, (_, at) => `${text}${at}`) },
      link: { $ref: text },
      named: { $ref: `#/components/schemas/${text.replaceAll('~', '~0').replaceAll('/', '~1')}` },
      inside: {
        type: ['object', 'null'],
        properties: { [text]: { properties: { [text]: { properties: { [text]: { title: text } } } } } },
      },
      list: { type: 'array', items: { type: 'string', enum: [text], title: text } },
    },
    patternProperties: { [text]: { description: text } },
    additionalProperties: { type: 'string', description: text },
    dependentRequired: { [text]: [text] },
    dependentSchemas: { [text]: { title: text } },
    allOf: [{ title: text, description: text }, { $ref: '#/components/schemas/Other' }],
    oneOf: [{ title: text, const: text }, { $ref: '#/components/schemas/Other' }],
    anyOf: [{ type: text }, { not: { const: text } }],
    if: { const: text },
    // oxlint-disable-next-line unicorn/no-thenable
    then: { description: text },
    else: { title: text },
    prefixItems: [{ title: text }],
    contentMediaType: text,
    contentEncoding: text,
  };
  const example = { summary: text, description: text, value: { [text]: text } };
  const media = { schema, example: text, examples: { [text]: example, other: { externalValue: text } } };
  const parameters = ['path', 'query', 'header', 'cookie', text].map((place) => ({
    name: text,
    in: place,
    required: true,
    description: text,
    schema: { type: 'string', example: text, enum: [text] },
    examples: { [text]: example },
  }));
  const operation = {
    operationId: text,
    summary: text,
    description: text,
    tags: [text, 'other'],
    deprecated: true,
    externalDocs: { url: text, description: text },
    security: [{ [text]: [text] }, { key: [], [text]: [] }, {}],
    servers: [{ url: text, description: text }],
    parameters,
    requestBody: { description: text, required: true, content: { [text]: media, 'application/json': media } },
    responses: {
      [text]: { description: text },
      200: {
        description: text,
        headers: { [text]: { description: text, schema: { type: 'string', example: text } } },
        content: { [text]: media, 'application/json': { schema: { $ref: '#/components/schemas/Other' } } },
        links: { [text]: { operationId: text, description: text } },
      },
    },
    callbacks: {
      [text]: { [text]: { post: { summary: text, description: text, requestBody: { content: { [text]: media } } } } },
    },
  };
  const brief = { operationId: text, summary: text, description: text, tags: [text] };
  const info = {
    title: text,
    summary: text,
    description: text,
    version: text,
    termsOfService: text,
    contact: { name: text, url: text, email: text },
    license: { name: text, url: text, identifier: text },
  };
  const schemes = {
    [text]: {
      type: 'oauth2',
      description: text,
      flows: { [text]: { authorizationUrl: text, tokenUrl: text, scopes: { [text]: text } } },
    },
    key: { type: 'apiKey', in: 'header', name: text, description: text },
    query: { type: 'apiKey', in: 'query', name: text },
    basic: { type: 'http', scheme: text, bearerFormat: text },
    open: { type: 'openIdConnect', openIdConnectUrl: text },
    strange: { type: text },
  };
  const tags = [
    { name: text, description: text, externalDocs: { url: text, description: text } },
    { name: 'other', description: text },
  ];
  return {
    openapi: {
      openapi: '3.2.0',
      info,
      servers: [
        { url: text, description: text, variables: { [text]: { default: text, enum: [text], description: text } } },
      ],
      tags,
      externalDocs: { url: text, description: text },
      security: [{ key: [text] }],
      paths: {
        [text]: {
          summary: text,
          description: text,
          get: operation,
          query: brief,
          additionalOperations: { [text]: brief },
        },
        [`/pets/{${text}}`]: { post: { ...brief, parameters } },
      },
      webhooks: { [text]: { post: brief } },
      components: { schemas: { [text]: schema, Other: { title: text, enum: [text] } }, securitySchemes: schemes },
    },
    swagger: {
      swagger: '2.0',
      info,
      host: text,
      basePath: text,
      schemes: [text],
      consumes: [text],
      produces: [text],
      tags,
      paths: {
        [text]: {
          post: {
            ...operation,
            parameters: [
              { name: text, in: 'body', description: text, schema },
              { name: text, in: 'query', type: 'array', collectionFormat: text, items: { type: text } },
            ],
            responses: {
              200: {
                description: text,
                schema,
                examples: { [text]: { [text]: text } },
                headers: { [text]: { type: 'string', description: text } },
              },
            },
          },
          put: {
            ...operation,
            requestBody: undefined,
            parameters: [{ name: text, in: 'formData', type: 'file', description: text }],
          },
        },
      },
      definitions: { [text]: schema },
      securityDefinitions: { [text]: { type: 'oauth2', flow: text, authorizationUrl: text, scopes: { [text]: text } } },
    },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...schema,
      $id: text,
      properties: { ...schema.properties, named: { $ref: `#/$defs/${text}` }, itself: { $ref: '#' } },
      $defs: { [text]: { ...schema, $anchor: text }, Other: { title: text } },
    },
    redocly: {
      'x-title': text,
      'x-description': text,
      extends: [text],
      rules: {
        [text]: 'error',
        'operation-summary': { severity: text, [text]: text },
        [`rule/${text}`]: {
          subject: { type: text, property: text },
          assertions: { [text]: text },
          message: text,
          where: [{ subject: { type: text } }],
        },
      },
      oas3_1Rules: { [text]: 'warn' },
    },
    spectral: {
      title: text,
      description: text,
      extends: [[text, 'all']],
      aliases: { [text]: text },
      rules: {
        [text]: {
          description: text,
          message: text,
          given: [text],
          severity: text,
          // oxlint-disable-next-line unicorn/no-thenable
          then: { field: text, function: text, functionOptions: { [text]: text } },
        },
        off: false,
      },
      overrides: [{ files: [text], rules: { [text]: 'hint' } }],
    },
  };
}
