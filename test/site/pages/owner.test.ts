import { expect, test } from 'vitest';
import { labelsOf } from '../../../src/site/pages/listings.ts';

const links = { path: (path: string) => path } as Parameters<typeof labelsOf>[0]['links'];

test.each([
  ['Ana <ana@acme.example>', 'Ana', 'mailto:ana@acme.example'],
  ['Payments https://chat.example/pay', 'Payments', 'https://chat.example/pay'],
  ['ana@acme.example', 'ana@acme.example', 'mailto:ana@acme.example'],
  ['Team <Pay>', 'Team <Pay>', null],
  ['javascript:alert(1)', 'javascript:alert(1)', null],
])('the owner %j is asked at its address', (owner, name, href) => {
  expect(labelsOf({ links }, { owner })).toMatchObject({ owner: { name, href } });
});
