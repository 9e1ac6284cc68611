import { expect, test } from 'vitest';
import { createLinks } from '../../../src/site/links.ts';

const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;

test('links keep the path of the public base URL', () => {
  const links = createLinks('https://acme.test/registry');
  expect(links.to(pay, { label: '1.0.0+abc', format: 'yaml' })).toBe('/registry/@acme/apis/pay@1.0.0+abc.yaml');
  expect(links.path('/@acme')).toBe('/registry/@acme');
  expect(links.whole(links.to(pay, { view: 'versions' }))).toBe('https://acme.test/registry/@acme/apis/pay/versions');
});

test('links of a host alone begin at its root', () => {
  const links = createLinks('http://127.0.0.1:7700');
  expect(links.to(pay)).toBe('/@acme/apis/pay');
  expect(links.whole(links.to(pay))).toBe('http://127.0.0.1:7700/@acme/apis/pay');
});
