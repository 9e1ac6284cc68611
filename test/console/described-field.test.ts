import { expect, test } from 'vitest';
import { consoleForms, formCodes, listCodes } from '../../src/console/console.ts';
import { describedField, describedParameter } from '../../src/server/v1/described-field.ts';
import { description } from '../server/v1/described.ts';

const operation = (id: string) => description.operations.find((each) => each.id === id)!;
const fieldOf = (id: string, name: string, isChange = false) => describedField(operation(id), name, isChange);

test('a field has the label, limit and help of its description', () => {
  expect(fieldOf('createKey', '/name')).toEqual({
    name: '/name',
    label: 'Name',
    kind: 'line',
    hint: 'Who uses it, and where.',
    isRequired: true,
    maxLength: 200,
    placeholder: '',
  });
});

test('values to choose from are those of the description, in words', () => {
  expect(fieldOf('updateApi', '/ratchet')).toMatchObject({
    kind: 'select',
    isNullable: true,
    options: [
      { value: '', text: "the organization's default" },
      { value: 'true', text: 'only new findings reject' },
      { value: 'false', text: 'all findings reject' },
    ],
    values: { true: true, false: false },
  });
  expect(fieldOf('createKey', '/scopes')).toMatchObject({
    kind: 'checks',
    initial: ['publish'],
    options: [
      { value: 'read', text: 'read', hint: 'read what is private' },
      { value: 'publish' },
      { value: 'approve' },
      { value: 'keys' },
      { value: 'admin' },
    ],
  });
  expect(fieldOf('rotateKey', '/overlap')).toMatchObject({ kind: 'select', initial: '86400', values: { 3600: 3600 } });
});

test('a member of one of several alternatives is found, and is required only where it is', () => {
  expect(fieldOf('updateApiVersion', '/status/reason')).toMatchObject({
    kind: 'line',
    isRequired: true,
    maxLength: 1000,
  });
  expect(fieldOf('updateApiVersion', '/status/sunset')).toMatchObject({ kind: 'date', label: 'It may end on' });
  expect(fieldOf('updateApiVersion', '/status/sunset')).not.toHaveProperty('isRequired');
});

test('a text that must not be empty is required where the form starts with what is stored', () => {
  expect(fieldOf('updateWebhook', '/url')).not.toHaveProperty('isRequired');
  expect(fieldOf('updateWebhook', '/url', true)).toMatchObject({ isRequired: true });
});

test('who can read something is members only, unless somebody chooses otherwise', () => {
  const [first] = fieldOf('createSite', '/visibility').options!;
  expect(first).toEqual({ value: 'private', text: 'members only' });
});

test('a query parameter is a field where the operation has it', () => {
  expect(describedParameter(operation('deleteRuleset'), '?force')).toMatchObject({ name: '?force', kind: 'check' });
  expect(describedParameter(operation('deleteApi'), '?force')).toBeNull();
});

test('every field of every form is described, with a label and no Markdown', () => {
  const fields = consoleForms().flatMap((form) =>
    (form.fields ?? []).flatMap((name) => {
      const of = operation(form.operation.replace('{one}', 'Ruleset'));
      return name.startsWith('?') ? (describedParameter(of, name) ?? []) : describedField(of, name, false);
    }),
  );
  expect(fields.length).toBeGreaterThan(45);
  for (const { name, label, hint = '' } of fields) {
    expect(label, name).toMatch(/^[A-Z]/);
    expect(hint, name).not.toMatch(/[`]|\*\*|Null/);
  }
});

test('the code of a form stands by the path of a form, and every form leads somewhere', () => {
  const forms = consoleForms();
  expect(Object.keys(formCodes).filter((path) => !forms.some((form) => form.path === path))).toEqual([]);
  expect(forms.filter(({ after, show }) => after === undefined && !show)).toEqual([]);
});

test('every list of the description has code, and every code of a list is described', () => {
  const listed = description.operations.filter(({ list }) => list !== null);
  expect(listed.map(({ id }) => id).sort()).toEqual(Object.keys(listCodes).sort());
});
