import { expect, test } from 'vitest';
import { bodyFrom, typedFrom, type Field } from '../../src/console/fields.ts';

test('a form shows what a record has, and asks for the same again', () => {
  const fields: Field[] = [
    { name: '/latest', label: 'Latest', kind: 'check' },
    { name: '/scopes', label: 'Scopes', kind: 'checks', isNullable: true },
    { name: '/expiresAt', label: 'Expires on', kind: 'date', isNullable: true },
  ];
  for (const record of [
    { latest: false, scopes: ['read'], expiresAt: '2026-01-31T00:00:00Z' },
    { latest: true, scopes: null, expiresAt: null },
  ])
    expect(bodyFrom(fields, typedFrom(fields, record))).toEqual(record);
});
