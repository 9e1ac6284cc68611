import { describe, expect, test } from 'vitest';
import { noProxies, proxyFor } from '../../../src/model/proxy.ts';

const given = {
  http: 'http://plain.proxy:3128',
  https: 'http://proxy:3128',
  except: ['corp.test', '.inner.test', 'odd.test:8443', '*.star.test', '10.1.2.3', '[2001:db8::1]'],
};

describe('the proxy of a URL', () => {
  test.each([
    ['https://github.com/acme/x', given.https],
    ['http://github.com/acme/x', given.http],
    ['https://notcorp.test/', given.https],
    ['https://odd.test/', given.https],
    ['https://10.1.2.4/', given.https],
  ])('%s: %s', (url, proxy) => expect(proxyFor(url, given)).toBe(proxy));

  test.each([
    'https://corp.test/',
    'https://git.CORP.test/',
    'https://a.inner.test/',
    'https://odd.test:8443/',
    'https://a.star.test/',
    'https://10.1.2.3/',
    'https://[2001:db8::1]/',
    'http://localhost:7700/',
    'https://a.localhost/',
    'http://127.0.0.1/',
    'http://[::1]:1/',
  ])('%s: none', (url) => expect(proxyFor(url, given)).toBeNull());

  test('is none where none is named, and where all are excepted', () => {
    expect(proxyFor('https://github.com/', noProxies)).toBeNull();
    expect(proxyFor('https://github.com/', { ...given, except: ['*'] })).toBeNull();
  });
});
