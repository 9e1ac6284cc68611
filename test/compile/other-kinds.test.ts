import { describe, expect, it } from 'vitest';
import { limits } from './limits.ts';
import { run } from './run.ts';
import { detectFiles } from '../../src/compile/detect.ts';

const stored = 'Stele stores OpenAPI documents (2.0 to 3.2), JSON Schemas, and rulesets of Redocly and Spectral.';

/** What each text is, and a text of it. */
const kinds: readonly [name: string, text: string][] = [
  ['AsyncAPI 3.0.0', 'asyncapi: 3.0.0\ninfo: {title: A, version: "1"}\n'],
  ['AsyncAPI 2.6.0', '{"asyncapi": "2.6.0"}'],
  ['AsyncAPI', 'asyncapi: {a: 1}\n'],
  ['Arazzo 1.0.1', 'arazzo: 1.0.1\ninfo: {title: A, version: "1"}\n'],
  ['an OpenAPI Overlay 1.0.0', 'overlay: 1.0.0\nactions: []\n'],
  ['Swagger 1.2', '{"swaggerVersion": "1.2", "apis": []}'],
  ['OpenRPC 1.3.2', '{"openrpc": "1.3.2", "methods": []}'],
  ['Smithy 2.0', '{"smithy": "2.0"}'],
  [
    'a Postman collection',
    '{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"}, "item": []}',
  ],
  ['a Postman collection', '{"info": {"_postman_id": "x"}, "item": []}'],
  ['an Insomnia export', '{"_type": "export", "__export_format": 4}'],
  ['an Insomnia collection', 'type: collection.insomnia.rest/5.0\nname: a\n'],
  ['a Google discovery document', '{"discoveryVersion": "v1", "kind": "discovery#restDescription"}'],
  ['an HTTP archive (HAR)', '{"log": {"version": "1.2", "entries": []}}'],
  ['the result of a GraphQL introspection', '{"data": {"__schema": {}}}'],
  ['an Avro schema', '{"type": "record", "name": "A", "fields": []}'],
  ['a Backstage entity', 'apiVersion: backstage.io/v1alpha1\nkind: API\n'],
  ['a Kubernetes manifest', 'apiVersion: v1\nkind: Service\n'],
  ['RAML', '#%RAML 1.0\ntitle: a\n'],
  ['API Blueprint', 'FORMAT: 1A\n\n# A\n'],
  [
    'WSDL',
    '<?xml version="1.0"?>\n<!-- a -->\n<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"></wsdl:definitions>\n',
  ],
  ['WADL', '<application xmlns="http://wadl.dev.java.net/2009/02"></application>'],
  ['an XML schema', '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"></xs:schema>'],
  ['OData metadata', '<?xml version="1.0"?><edmx:Edmx Version="4.0"></edmx:Edmx>'],
  ['HTML', '<!DOCTYPE html>\n<html></html>'],
  ['XML', '<a>\n<b/></a>'],
  ['Protocol Buffers', '// A comment\nsyntax = "proto3";\npackage a.b;\nmessage A { string a = 1; }\n'],
  ['Protocol Buffers', '/* a */\npackage a.b;\n'],
  ['GraphQL', '# A comment\ntype Query {\n  a: Int\n}\n'],
  ['GraphQL', '"""\nA type\n"""\ninterface A { a: Int }\n'],
  ['GraphQL', 'schema { query: Q }\n'],
  ['TypeSpec', 'import "@typespec/http";\n'],
];

describe('a document of a kind that Stele does not store is named', () => {
  it.each(kinds)('%s', async (name, text) => {
    for (const type of [null, 'apis', 'schemas', 'rulesets'] as const)
      for (const file of /^\w+:/.test(text) ? ['a.yaml'] : ['a.yaml', 'a.json']) {
        const { report, artifact } = await run({ [file]: text }, { type });
        const [problem] = report.problems;
        expect([artifact, problem?.rule, problem?.message]).toEqual([
          null,
          'kind-unknown',
          `This is ${name}. ${stored}`,
        ]);
      }
  });

  it.each([
    'type: object\nproperties: {a: {}}\n',
    'type: string\nenum: [a]\n',
    'schema: 1\n',
    'rules: {}\n',
    'message: a\n',
    'info: {title: A}\n',
    '{"data": 1, "log": 1, "fields": 1, "kind": 1}',
    '{"info": {"schema": {"toString": 1}}, "type": {"toString": 1}, "apiVersion": {"toString": 1}}',
    'not a document',
    '',
  ])('%j is not named', async (text) => {
    const { report } = await run({ 'a.yaml': text }, { type: null });
    expect(report.problems.every(({ message }) => !message.includes(stored))).toBe(true);
  });

  it('what Stele stores is never taken for another kind', () => {
    const openapi = 'openapi: 3.1.0\nasyncapi: 3.0.0\napiVersion: v1\nkind: A\ninfo: {title: A, version: "1"}\n';
    expect(detectFiles([{ path: 'a.yaml', bytes: Buffer.from(openapi) }], limits)).toMatchObject([{ kind: 'openapi' }]);
  });
});

describe('a version without quotes says what to write', () => {
  it.each<[text: string, problem: string | RegExp]>([
    [
      'openapi: 3.0',
      'error openapi-version: "openapi" must be a text with the whole version, not 3.0. Write openapi: "3.0.4".',
    ],
    [
      'openapi: 3',
      'error openapi-version: "openapi" must be a text with the whole version, not 3. Write openapi: "3.0.4".',
    ],
    ['openapi: 3.0.3\ninfo: {title: A, version: 3.10}\npaths: {}', /error schema: .* Put it in quotes: "3\.10"\.$/],
    [
      'openapi: 3.0.3\ninfo: {title: 5, version: "1"}\npaths: {}',
      /error schema: .* not a number\. Put it in quotes\.$/,
    ],
    [
      'openapi: 3.0.3\ninfo: {title: A, version: null}\npaths: {}',
      /error schema: "version" must be a string, not null\.$/,
    ],
    [
      'rules: {info-contact: error}\nversion: 1.10',
      'error schema: "version" must be a string, not a number. Put it in quotes: "1.10".',
    ],
    [
      '$schema: https://json-schema.org/draft/2020-12/schema\nversion: 3.10',
      'warning version-number: "version" is the number 3.1 and is not read as a version. Put it in quotes: "3.10".',
    ],
  ])('%j', async (text, problem) => {
    const { lines } = await run({ 'a.yaml': `${text}\n` }, { type: null });
    expect(lines[0]?.replace(/^\S+ /, '')).toEqual(
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    );
  });
});
