import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveReturnTo } from '../../../src/server/login/same-site.ts';
import { timesAsMany } from '../../sample.ts';

const url = 'https://registry.test';

describe('where somebody is sent back to', () => {
  test.each([
    ['/', '/'],
    ['/@acme/apis/pay', '/@acme/apis/pay'],
    ['/@acme/apis/pay@1.4.0?format=json', '/@acme/apis/pay@1.4.0?format=json'],
    ['/search?q=https://a.test//b%2f%5c', '/search?q=https://a.test//b%2f%5c'],
    ['/a/../b', '/b'],
    ['/a#fragment', '/a'],
    ['/@acme/apis/caf%C3%A9', '/@acme/apis/caf%C3%A9'],
  ])('%s is %s of this registry', (text, path) => {
    expect(resolveReturnTo(text, url)).toBe(url + path);
  });

  test.each([
    '',
    'a',
    'https://evil.test',
    'HTTPS:evil.test',
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.test',
    '///evil.test',
    '/\\evil.test',
    '\\/evil.test',
    '/a\\evil.test',
    '/\t/evil.test',
    '/\n/evil.test',
    '\u0000/a',
    '/a\r\nSet-Cookie: x=y',
    ' /a',
    '/a b',
    '/%2f/evil.test',
    '/%2Fevil.test',
    '/%5cevil.test',
    '/%252fevil.test',
    '/%00',
    '/%0d%0aSet-Cookie:x',
    '/%7f',
    '/..//evil.test',
    '/%2e%2e//evil.test',
    '/./%2e//evil.test',
    '/é',
    '/login',
    '/login/callback?code=x',
    '/a/../login',
    '/logout',
    `/${'a'.repeat(2048)}`,
    '@evil.test',
    '.evil.test',
    ':443@evil.test',
  ])('%j is refused', (text) => {
    expect(resolveReturnTo(text, url)).toBeNull();
  });

  test('whatever the text, nobody leaves', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '//',
      '..',
      '%2e',
      '%2f',
      '%5c',
      ':',
      '@',
      '?',
      '#',
      'evil.test',
      'https:',
      '\t',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((pieces) => `/${pieces.join('')}`),
        ),
        (text) => {
          const target = resolveReturnTo(text, url);
          if (target === null) return;
          expect(target.startsWith(`${url}/`)).toBe(true);
          expect(new URL(target, 'https://other.test').origin).toBe(url);
          expect(new URL(target).pathname.startsWith('//')).toBe(false);
        },
      ),
      { numRuns: 500 * timesAsMany },
    );
  });
});
