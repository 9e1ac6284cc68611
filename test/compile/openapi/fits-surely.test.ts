import { expect, test } from 'vitest';
import { createFitsSurely } from '../../../src/compile/openapi/fits-surely.ts';
import { components } from './fits-surely-world.ts';

/** What is passed over must be what Redocly's own rule accepts: its findings are compared. */

test('a value that fits is recognized, also through references and parts', () => {
  const follow = ({ $ref }: { $ref: string }) => ({
    schema: components[$ref.slice('#/components/schemas/'.length)],
    file: '/tree/a',
  });
  const reader = createFitsSurely({ isOpen: false, context: 'request', follow });
  const fits = (schema: unknown, value: unknown) => reader.fits({ schema, file: '/tree/a' }, value);
  const pet = { $ref: '#/components/schemas/Pet' };
  expect(fits(pet, { name: 'a', friend: { name: 'b' } })).toBe(true);
  expect(fits(pet, { name: 'a', friend: { name: 'b', odd: 1 } })).toBe(false);
  const whole = { allOf: [pet, { type: 'object', properties: { id: { type: 'integer' } } }] };
  expect(fits(whole, { name: 'a', id: 1 })).toBe(true);
  expect(fits({ oneOf: [{ type: 'string' }, pet] }, 'a')).toBe(true);
  expect(fits({ oneOf: [{ type: 'string' }, { enum: ['a'] }] }, 'a')).toBe(false);
  expect(fits({ type: 'string', pattern: '(' }, 'a')).toBe(false);
  expect(reader.refuses({ schema: { items: { nullable: true } }, file: '/tree/a' })).toBe(true);
});

test('a hostile schema is left to ajv, and costs no more than a walk', () => {
  const wide: Record<string, unknown> = {};
  const follow = ({ $ref }: { $ref: string }) => ({ schema: wide[$ref.slice(2)], file: '/tree/a' });
  for (let index = 0; index < 60; index++) {
    const next = { $ref: `#/S${index + 1}` };
    wide[`S${index}`] = { allOf: [next, next] };
  }
  wide['S60'] = { type: 'object' };
  const reader = createFitsSurely({ isOpen: true, context: 'request', follow });
  const from = process.cpuUsage().user;
  expect(reader.fits({ schema: { $ref: '#/S0' }, file: '/tree/a' }, {})).toBe(false);
  expect(process.cpuUsage().user - from).toBeLessThan(2_000_000);
});
