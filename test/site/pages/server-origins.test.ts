import { describe, expect, test } from 'vitest';
import { serverOrigins } from '../../../src/site/pages/reference-pages.ts';

describe('the origins of a server', () => {
  test.for<[string, string[]]>([
    ['https://api.example.com/v1', ['https://api.example.com']],
    ['HTTPS://API.example.com', ['https://api.example.com']],
    ['http://localhost:8080/', ['http://localhost:8080']],
    ['https://{region}.api.example.com/{version}', ['https://*.api.example.com']],
    ['https://{tenant}-{region}.example.co.uk', ['https://*.example.co.uk']],
    ['{scheme}://api.example.com', ['https://api.example.com', 'http://api.example.com']],
    ['https://example.com:{port}/', ['https://example.com:*']],
    ['https://{name}', []],
    ['https://{name}.com', []],
    ['https://api.{name}.com', []],
    ['https://*', []],
    ['https://*.example.com', []],
    ['https://a.example; script-src *', []],
    ["https://a.example 'unsafe-inline'", []],
    ['https://user@evil.example', []],
    ['https://good.example:443@evil.example', []],
    ['https://good.example\\@evil.example', []],
    ['https://a,b.example', []],
    ['//cdn.example', []],
    ['/v1', []],
    ['ftp://files.example', []],
    ['javascript:alert(1)', []],
    ['', []],
  ])('%j → %j', ([url, origins]) => {
    expect(serverOrigins(url)).toEqual(origins);
  });
});
