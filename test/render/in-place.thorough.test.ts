import { expect, test } from 'vitest';
import { ref, text, operationOf, fields } from './in-place-world.ts';

test('a named schema without fields has its type and description, also where there is no room for others', () => {
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`part${at}`, ref('Small')]));
  const schemas = { Small: { properties: { id: text } }, Key: { type: 'string', description: 'Of your account.' } };
  const html = operationOf(schemas, { properties: { ...many, key: ref('Key') } }, text, 300);
  expect(html).toContain('<summary>1 field</summary><a href="#schema/Small">');
  expect(html).toMatch(
    /<code>key<\/code> <span class="type">string · <a href="#schema\/Key">Key<\/a>.*?Of your account\./,
  );
});

test('a body and the first answer have their own fields, however many operations there are', () => {
  const wide = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, text]));
  expect(fields(operationOf({ Wide: { properties: wide } }, ref('Wide'), ref('Wide'), 300)).length).toBe(120);
});
