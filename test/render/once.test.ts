import { expect, test } from 'vitest';
import { createDescriptions } from '../../src/render/description.ts';
import { createOnce } from '../../src/render/once.ts';
import { operationsOf } from '../../src/render/openapi/list-operations.ts';
import { operationHtml } from '../../src/render/openapi/operation-html.ts';
import type { Page } from '../../src/render/page.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';

test('parameters and responses that operations share are rendered once', () => {
  const list = (count: number) => Array.from({ length: count }, (_, n) => n);
  const headers = Object.fromEntries(list(100).map((n) => [`h${n}`, { schema: { type: 'string' } }]));
  const document = {
    openapi: '3.1.0',
    paths: Object.fromEntries(list(50).map((n) => [`/p${n}`, { $ref: '#/x-item', summary: `${n}` }])),
    'x-item': {
      get: {
        parameters: list(300).map((n) => ({ name: `p${n}`, in: 'query', schema: { type: 'string' } })),
        responses: { '200': { description: 'a', headers } },
      },
    },
  };
  const page: Page = {
    document,
    schemas: createSchemas(document, 'openapi'),
    descriptions: createDescriptions({ anchorOf: () => null, imageOf: () => null }),
    inlineRows: 0,
    once: createOnce(),
    security: [],
    anchors: { schemas: new Map(), security: new Map() },
  };
  const { operations } = operationsOf(document);
  const cost = operations.map((operation, at) => {
    const before = page.schemas.left;
    operationHtml(page, operation, `operation/${at}`);
    return before - page.schemas.left;
  });
  expect(cost).toHaveLength(50);
  expect(cost[0]).toBeGreaterThan(400);
  expect(Math.max(...cost.slice(1))).toBeLessThan(10);
});
