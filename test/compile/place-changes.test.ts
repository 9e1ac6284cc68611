import { expect, test } from 'vitest';
import { placeChanges } from '../../src/compile/place-changes.ts';
import { noCounts, type Change } from '../../src/model/comparison.ts';
import { limits } from './given.ts';

const text = `openapi: 3.0.3
paths:
  /pay:
    get:
      responses: {}
    post:
      requestBody:
        $ref: bodies.yaml#/bodies/pay
      responses:
        '201':
          $ref: ../schemas/pay.yaml
`;

function place(pointer: string, operation: string): string {
  const change: Change = {
    verdict: 'breaking',
    code: 'x',
    message: 'x',
    before: null,
    after: null,
    pointers: { before: null, after: pointer },
    operations: [operation],
    reach: 1,
    direction: null,
  };
  const comparison = { verdict: 'breaking', counts: noCounts(), changes: [change], truncated: false, reason: null } as const; // prettier-ignore
  const source = { path: 'apis/a.yaml', bytes: Buffer.from(text) };
  const placed = placeChanges({ ...comparison, changes: [change] }, { kind: 'openapi', json: source.bytes, source }, limits); // prettier-ignore
  const { line, column } = placed.changes[0]!.place!;
  return `${line}:${column}`;
}

test('a change is placed at its key, and what other files brought at the reference or the operation', () => {
  expect(place('/paths/~1pay/get/responses', 'GET /pay')).toBe('5:7');
  expect(place('/components/requestBodies/pay/content', 'POST /pay')).toBe('8:9');
  expect(place('/components/schemas/amount', 'POST /pay')).toBe('6:5');
  expect(place('/components/schemas/amount', 'GET /none')).toBe('2:1');
});
