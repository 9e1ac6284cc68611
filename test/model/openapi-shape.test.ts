import { describe, expect, it } from 'vitest';
import { severityOf } from '../../src/compile/openapi/openapi-references.ts';
import { holdsOf } from '../../src/model/openapi-shape.ts';

describe('what a member of an OpenAPI document holds', () => {
  it.each([
    ['a keyword', null, 'properties', {}, 'map'],
    ['a property that is called like a keyword', 'properties', 'example', {}, 'node'],
    ['a property that is called like an extension', 'properties', 'x-rate', {}, 'node'],
    ['an extension beside paths', 'paths', 'x-owner', {}, 'extension'],
    ['a webhook that is called like an extension', 'webhooks', 'x-order', {}, 'node'],
    ['examples of a media type', null, 'examples', {}, 'map'],
    ['examples of a schema', null, 'examples', [], 'data'],
    ['data of an example in 3.2', null, 'dataValue', {}, 'data'],
    ['webhooks before 3.1', null, 'x-webhooks', {}, 'map'],
    ['what nobody knows', null, 'unknown', {}, 'node'],
  ] as const)('%s', (_name, within, key, value, holds) => {
    expect(holdsOf(within, key, value)).toBe(holds);
  });

  it('is data in examples of 2.0, by media type', () => {
    expect(holdsOf(null, 'examples', {}, true)).toBe('data');
  });

  it.each([
    ['/webhooks/example/post/requestBody', 'error'],
    ['/components/examples/a/dataValue', 'warning'],
    ['/components/schemas/A/examples/0', 'warning'],
    ['/paths/~1a/get/responses/default', 'error'],
    ['/components/responses/x-paged', 'error'],
  ])('decides whether a reference at %s has to resolve: %s', (pointer, severity) => {
    expect(severityOf(pointer, './other.yaml')).toBe(severity);
  });
});
