import { expect, test } from 'vitest';
import { RegistryError } from '../../src/model/errors.ts';
import { faultsIn, typedFrom } from '../../src/console/fields.ts';
import { bodyFrom, type Field } from '../../src/server/v1/described-field.ts';

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

test('what is wrong in a form is said in words of people, not of schemas', () => {
  const fields: Field[] = [
    { name: '/person', label: 'Person', kind: 'text', placeholder: 'https://login.example#ann' },
    { name: '/scopes', label: 'They may', kind: 'checks' },
  ];
  const errors = [
    { pointer: '/person', detail: 'must match pattern "^https?://[^#]+#.+$"' },
    { pointer: '/scopes', detail: 'must NOT have fewer than 1 items' },
  ];
  expect([...faultsIn(new RegistryError('malformed', 'No.', { extra: { errors } }), fields).values()]).toEqual([
    'Person is not written as it must be, such as https://login.example#ann.',
    'They may: choose at least one.',
  ]);
});
