import { expect, test } from 'vitest';
import { outlineDocument, renderDocument } from '../../src/render/render.ts';
import { compare } from '../diff/given.ts';
import { published } from '../render/published.ts';
import { run } from './run.ts';

/** What is named `constructor` is treated as what is named anything else: of the same shape, so that it is sorted alike. */
const names = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'isPrototypeOf',
];
const plain = (name: string) => name.replace(/[a-z](?=_*$)/, 'z');

/** A document that has the name wherever one is taken, and lacks it where it could be inherited. `isLess`: without some of it. */
function documentOf(name: string, isLess: boolean): string {
  const some = (text: string) => (isLess ? '' : text);
  return `{
  "openapi": "3.1.0", "info": {"title": "T", "version": "1.0.0"},
  "servers": [{"url": "https://${name}.test/{${name}}", "variables": {"${name}": {"default": "a"}}}, {"url": "https://b.test/{${name}}"}],
  "tags": [{"name": "${name}", "description": "D"}],
  "security": [{"${name}": ["${name}"]}],
  "paths": {
    "/${name}/{${name}}": {
      "parameters": [{"name": "${name}", "in": "path", "required": true, "schema": {"type": "string"}}],
      "post": {
        "operationId": "${name}", "tags": ["${name}"],
        "parameters": [${some(`{"name": "${name}", "in": "query", "schema": {"type": "string"}},`)} {"name": "${name}", "in": "header", "schema": {"$ref": "#/components/schemas/Needs"}}],
        "requestBody": {"content": {
          "multipart/form-data": {"schema": {"type": "object", "properties": {"${name}": {"type": "string"}, "zz": {"type": "string"}}}, "encoding": {"zz": {"contentType": "text/plain"}}},
          "application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {"${name}": {"type": "array", "items": {"type": "string"}}}}, "encoding": {}},
          "application/json": {"schema": {"$ref": "#/components/schemas/${name}"}, "examples": {"${name}": {"value": {}}}}
        }},
        "responses": {"200": {"description": "D", "headers": {"${name}": {"schema": {"type": "string"}}},
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Needs"}, "example": {}}},
          "links": {"${name}": {"operationId": "${name}"}}}},
        "callbacks": {"${name}": {"{$request.body#/${name}}": {"post": {"responses": {"200": {"description": "D"}}}}}}
      }
    }
  },
  "webhooks": {"${name}": {"post": {"responses": {"200": {"description": "D"}}}}},
  "components": {
    "schemas": {
      "${name}": {"type": "object", "required": ["${name}"], "properties": {${some(`"${name}": {"type": "string", "enum": ["${name}"]}, `)} "zz": {"$ref": "#/components/schemas/Union"}}, "dependentRequired": {"${name}": ["zz"]}},
      "Needs": {"type": "object", "required": ["${name}"], "additionalProperties": {"type": "integer"}},
      "Union": {"oneOf": [{"$ref": "#/components/schemas/${name}"}, {"$ref": "#/components/schemas/Needs"}], "discriminator": {"propertyName": "${name}", "mapping": {"${name}": "#/components/schemas/${name}"}}}
    },
    "securitySchemes": {"zz": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.test", "scopes": {"${name}": "D"}}}}}
  }
}`;
}

/** As text, with the name in place of the plain one of the same shape. */
function told(value: unknown, name: string, used: string): string {
  const text = JSON.stringify(value, null, 1);
  return text
    .replace(/sha256:[0-9a-f]{64}/g, '')
    .replaceAll(used, name)
    .replaceAll(used.toLowerCase(), name.toLowerCase());
}

test.each(names)('%s in a document: problems, page, changes', async (name) => {
  const outcomes = await Promise.all(
    [name, plain(name)].map(async (used) => {
      const [before, after] = [documentOf(used, false), documentOf(used, true)];
      const values = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>) as [object, object];
      const { report } = await run({ 'api.json': before }, { type: 'apis', validation: 'lenient' });
      const said = (value: unknown) => told(value, name, used);
      return {
        problems: said(report.problems),
        page: said(renderDocument(published(values[0]))),
        outline: said(outlineDocument(published(values[0]))),
        changes: said(compare(values[0] as never, values[1] as never).changes),
        back: said(compare(values[1] as never, values[0] as never).changes),
      };
    }),
  );
  for (const part of ['problems', 'page', 'outline', 'changes', 'back'] as const)
    expect(outcomes[0]![part], part).toBe(outcomes[1]![part]);
});
