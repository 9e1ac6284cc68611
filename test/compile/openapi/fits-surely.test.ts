import { expect, test } from 'vitest';
import { cutToMisfits } from '../../../src/compile/openapi/quick-examples.ts';
import { createFitsSurely } from '../../../src/compile/openapi/fits-surely.ts';
import { components } from './fits-surely-world.ts';

/** What is passed over must be what Redocly's own rule accepts: its findings are compared. */

test('a value that fits is recognized, also through references and parts', () => {
  const follow = ({ $ref }: { $ref: string }) => ({
    schema: components[$ref.slice('#/components/schemas/'.length)],
    file: '/tree/a',
  });
  const reader = createFitsSurely({ dialect: '2020', isOpen: false, context: null, follow });
  const fits = (schema: unknown, value: unknown) => reader.fits({ schema, file: '/tree/a' }, value);
  const pet = { $ref: '#/components/schemas/Pet' };
  expect(fits(pet, { name: 'a', friend: { name: 'b' } })).toBe(true);
  expect(fits(pet, { name: 'a', friend: { name: 'b', odd: 1 } })).toBe(null);
  const whole = { allOf: [pet, { type: 'object', properties: { id: { type: 'integer' } } }] };
  expect(fits(whole, { name: 'a', id: 1 })).toBe(true);
  expect(fits({ oneOf: [{ type: 'string' }, pet] }, 'a')).toBe(true);
  expect(reader.understand({ schema: { type: 'string', pattern: '(' }, file: '/tree/a' })).toBe('unknown');
});

test('a schema is cut down to what a value does not fit, without references', () => {
  const follow = ({ $ref }: { $ref: string }) => ({
    schema: components[$ref.slice('#/components/schemas/'.length)],
    file: '/tree/a',
  });
  const reader = createFitsSurely({ dialect: '2020', isOpen: false, context: null, follow });
  const cut = (schema: unknown, ...examples: unknown[]) =>
    cutToMisfits({ schema, file: '/tree/a' }, examples, { ...reader, follow });
  const pet = { $ref: '#/components/schemas/Pet' };
  expect(cut(pet, { name: 'a' })).toBe('fits');
  expect(cut(pet, { name: 'a', friend: { name: 1, friend: { name: 'c' } } })).toEqual({
    type: 'object',
    required: ['name'],
    properties: {
      name: {},
      friend: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, friend: {} } },
    },
  });
  expect(cut({ type: 'array', items: pet }, [{ name: 'a' }, {}])).toMatchObject({ items: { required: ['name'] } });
  expect(cut({ anyOf: [pet, { type: 'string' }] }, 1)).toBe(null);
});

test('a hostile schema is left to ajv, and costs no more than a walk', () => {
  const wide: Record<string, unknown> = {};
  const follow = ({ $ref }: { $ref: string }) => ({ schema: wide[$ref.slice(2)], file: '/tree/a' });
  for (let index = 0; index < 60; index++) {
    const next = { $ref: `#/S${index + 1}` };
    wide[`S${index}`] = { allOf: [next, next] };
  }
  wide['S60'] = { type: 'object' };
  const reader = createFitsSurely({ dialect: '2020', isOpen: true, context: null, follow });
  const from = process.cpuUsage().user;
  expect(cutToMisfits({ schema: { $ref: '#/S0' }, file: '/tree/a' }, [{}], { ...reader, follow })).toBe(null);
  expect(process.cpuUsage().user - from).toBeLessThan(2_000_000);
});
