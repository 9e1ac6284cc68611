import { describe, expect, it } from 'vitest';
import { adviseSchemas } from '../../../src/compile/openapi/openapi-schemas.ts';
import { run } from '../run.ts';

const head = (version: string) =>
  version === '2.0'
    ? 'swagger: "2.0"\ninfo: {title: x, version: "1"}\n'
    : `openapi: ${version}\ninfo: {title: x, version: "1"}\n`;
const get = (inside: string) => `get: {${inside}, responses: {"200": {description: ok}}}`;

describe('what other tools refuse', () => {
  it.each([
    ['3.1.0', `paths: {/a/{id}: {${get('operationId: a')}}}`, 'path-parameter-missing: The path has {id}, but no'],
    ['3.1.0', `paths: {/a: {${get('parameters: [{name: id, in: path, required: true, schema: {}}]')}}}`, 'path-parameter-unused: The path "/a" has no {id}.'],
    ['3.1.0', `paths: {/a: {${get('operationId: a')}}, /b: {${get('operationId: a')}}}`, 'operation-id-twice: Another operation has the operationId "a".'],
    ['3.2.0', `paths: {/a: {${get('operationId: a')}, additionalOperations: {COPY: {operationId: a, responses: {"200": {description: ok}}}}}}`, 'operation-id-twice: Another operation has the operationId "a".'],
    ['3.0.3', `paths: {/a: {${get('parameters: [{name: q, in: query, schema: {}}, {name: q, in: query, schema: {type: string}}]')}}}`, 'parameter-twice: Another parameter in "query" has the name "q".'],
    ['2.0', `paths: {/a: {${get('parameters: [{name: a, in: body, schema: {}}, {name: b, in: body, schema: {}}]')}}}`, 'body-twice: An operation has one body.'],
    ['2.0', `consumes: [multipart/form-data]\npaths: {/a: {${get('parameters: [{name: a, in: body, schema: {}}, {name: b, in: formData, type: string}]')}}}`, 'body-and-form: A form is a body.'],
    ['2.0', `paths: {/a: {${get('parameters: [{name: a, in: formData, type: file}]')}}}`, 'file-consumes: An operation that takes a file'],
    ['3.0.3', 'paths: {}\ncomponents: {schemas: {A: {type: array}}}', 'array-items: An array needs "items".'],
    ['3.0.3', 'paths: {}\ncomponents: {schemas: {A: {required: [a, b], properties: {a: {}}}}}', 'required-undeclared: The property "b" is required'],
    ['3.0.3', 'paths: {}\ncomponents: {schemas: {A B: {}}}', 'component-name: The name "A B"'],
    ['3.1.0', 'paths: {}\ncomponents: {schemas: {A: {properties: {a: {minLength: x}}}}}', 'schema-keyword: "minLength" must be an integer, not a string.'],
    ['3.2.0', 'paths: {}\ncomponents: {headers: {A: {schema: {required: a}}}}', 'schema-keyword: "required" must be an array, not a string.'],
    ['3.1.0', 'paths: {}\ncomponents: {schemas: {A: {discriminator: kind}}}', 'schema-keyword: "discriminator" must be an object, not a string.'],
    ['3.2.0', 'paths: {}\ncomponents: {schemas: {A: {discriminator: {mapping: {}}}}}', 'schema-keyword: "discriminator" is missing the member "propertyName".'],
    ['3.1.0', 'paths: {}\ncomponents: {schemas: {A: {xml: {name: 5}}}}', 'schema-keyword: "name" must be a string, not a number.'],
    ['3.2.0', 'paths: {}\ncomponents: {schemas: {A: {xml: {nodeType: element, attribute: true}}}}', 'schema-keyword: "nodeType" replaces "attribute", which must not stand beside it.'],
    ['3.1.0', 'paths: {}\ncomponents: {schemas: {A: {externalDocs: {}}}}', 'schema-keyword: "externalDocs" is missing the member "url".'],
    ['3.1.0', 'paths: {}\ncomponents: {schemas: {A: {allOf: [{exclusiveMinimum: true}]}}}', 'schema-keyword: "exclusiveMinimum" must be a number, not true.'],
    ['3.1.0', 'paths: {}\ncomponents: {schemas: {A: {type: string, nullable: true}}}', 'schema-keyword: OpenAPI 3.1 has no "nullable"'],
    ['3.1.0', 'paths: {}\ncomponents: {schemas: {A: {pattern: "("}}}', 'schema-pattern: The pattern is not a valid regular expression.'],
    ['3.1.0', 'paths: {}\nsecurity: [{none: []}]', 'security-undefined: No security scheme has the name "none".'],
    ['3.1.0', 'paths: {"/a/{b}": {}, "/a/{c}": {}}', 'paths-identical: The paths "/a/{b}" and "/a/{c}" match the same URLs.'],
  ])('is a warning, and refuses nothing: %s %s', async (version, body, expected) => {
    const { artifact, report } = await run({ 'a.yaml': head(version) + body.replaceAll('/a/{id}:', '"/a/{id}":') });
    expect(artifact === null).toBe(false);
    expect(report.problems.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([expect.stringContaining(expected)]);
    expect(report.counts).toEqual({ error: 0, warning: 1, info: 0 });
  }); // prettier-ignore

  it('is not what a document may do: shared parameters, references, composition, OpenAPI 3.1', async () => {
    const { lines } = await run({
      'a.yaml': `${head('3.1.0')}paths:
  /a/{id}:
    parameters: [{$ref: "#/components/parameters/id"}]
    get: {operationId: a, security: [{key: []}], responses: {default: {description: ok}}}
  /b/{id}: {$ref: "#/components/pathItems/b"}
components:
  securitySchemes: {key: {type: http, scheme: basic}}
  parameters: {id: {name: id, in: path, required: true, schema: {type: array}}}
  pathItems: {b: {get: {parameters: [{$ref: "#/components/parameters/id"}], responses: {default: {description: ok}}}}}
  schemas:
    A: {allOf: [{required: [x], properties: {y: {}}}], properties: {x: {}}}
    B: {required: [x], properties: {y: {}}, additionalProperties: {type: string}}
    C: {properties: {required: {type: string}, items: {type: string}}, example: {type: array, required: [a], properties: {}}}
    D: {$schema: "http://json-schema.org/draft-04/schema#", exclusiveMinimum: true}
    E: {properties: {schema: {type: [string, "null"]}, type: {}, enum: false}, default: {schema: {type: x}}, x-a: {schema: {type: x}}}
    F: {properties: {toString: {}, constructor: {type: string}, __proto__: {}}, required: [toString]}
`,
    });
    expect(lines).toEqual([]);
  });

  it('is reported at its place in the file that it comes from', async () => {
    const { lines } = await run({
      'a.yaml': `${head('3.0.3')}paths:\n  /a: {$ref: b.yaml}\n`,
      'b.yaml': `get:\n  parameters:\n    - {name: id, in: path, required: true, schema: {type: array}}\n  responses: {default: {description: ok}}\n`,
    });
    expect(lines).toEqual([
      'b.yaml:3:7 warning path-parameter-unused: The path "/a" has no {id}.',
      'b.yaml:3:44 warning array-items: An array needs "items". Add "items: {}" to allow anything.',
    ]);
  });
});

it('what stands beside the reference of a path is advised on, too', async () => {
  const { lines } = await run({
    'a.yaml': `${head('3.1.0')}paths:\n  /a/{id}: {$ref: "#/components/pathItems/a", ${get('operationId: a')}}\ncomponents:\n  pathItems: {a: {parameters: [{name: other, in: path, required: true, schema: {}}], post: {operationId: a, responses: {default: {description: ok}}}}}\n`,
  });
  expect(lines.map((line) => line.split(' ')[2])).toEqual([
    'path-parameter-missing:',
    'path-parameter-unused:',
    'path-parameter-missing:',
    'operation-id-twice:',
  ]);
});

it('nothing in a list of security requirements is taken for a schema', () => {
  const requirement = new Proxy({}, { ownKeys: () => expect.unreachable('It was looked at.') });
  const notes: string[] = [];
  const operation = { security: [requirement], parameters: [{ schema: { required: ['a'], properties: {} } }] };
  adviseSchemas({ security: [requirement], paths: { '/a': { get: operation } } }, '3.1', (rule) => notes.push(rule));
  adviseSchemas({ components: { schemas: { security: { required: ['a'], properties: {} } } } }, '3.1', (rule) =>
    notes.push(rule),
  );
  expect(notes).toEqual(['required-undeclared', 'required-undeclared']);
});

it.each(['3.0.3', '3.1.0', '3.2.0'])('a type that does not exist is refused, whatever the ruleset: %s', async (version) => {
  const of = async (type: string, changes = {}) => {
    const { artifact, lines } = await run({ 'a.yaml': `${head(version)}paths: {}\ncomponents:\n  schemas: {A: {properties: {a: {type: ${type}}}}}\n` }, changes);
    return [artifact !== null, ...lines.map((line) => line.split(' ').slice(0, 3).join(' '))];
  };
  expect(await of('interger')).toEqual([false, `a.yaml:5:40 error schema:`]);
  expect(await of('interger', { validation: 'lenient' })).toEqual([true, `a.yaml:5:40 warning schema:`]);
  const ruleset = { digest: `sha256:${'0'.repeat(64)}`, name: 'r', json: '{"rules":{}}' };
  expect(await of('interger', { ruleset })).toEqual([false, `a.yaml:5:40 error schema:`]);
  expect(await of('integer', { ruleset })).toEqual([true]);
}); // prettier-ignore
