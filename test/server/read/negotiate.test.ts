import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  acceptsJson,
  chooseCoding,
  chooseOffer,
  codings,
  offerFormat,
  offersOf,
  prefersPage,
} from '../../../src/server/read/read-request.ts';

describe('Accept', () => {
  test.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/*', 'text/yaml'],
    ['application/yaml, application/json', 'application/yaml'],
    ['application/json, application/yaml', 'application/json'],
    ['application/yaml;q=0.8, application/json;q=0.9', 'application/json'],
    ['application/yaml, */*;q=0.1', 'application/yaml'],
    ['application/openapi+json, application/json;q=0.9', 'application/openapi+json'],
    ['application/json;q=0, */*', 'application/openapi+json'],
    ['application/json;q=0.001', 'application/json'],
    ['application/json;q=0', null],
    ['application/json; charset=utf-8', 'application/json'],
    ['APPLICATION/JSON', 'application/json'],
    ['application/vnd.oai.openapi;version=3.0', 'application/vnd.oai.openapi'],
    ['application/vnd.oai.openapi+json; version="3.1"; q=0.5, text/plain', 'application/vnd.oai.openapi+json'],
    ['application/json;profile="a, b; q=0", image/png', 'application/json'],
    ['application/json;charset=iso-8859-1', 'application/json'],
    ['application/json;version=3;q=0.1, application/yaml;charset=utf-8;q=0.9', 'application/yaml'],
    ['application/json;q=0.5;ext=1, application/yaml ; q=0.6', 'application/yaml'],
    ['*/*;version=2', 'application/json'],
    ['text/html', null],
    ['text/html, */*;q=0.1', 'application/json'],
    ['image/png, text/plain', null],
    ['', null],
  ])('%s → %s', (accept, mediaType) => {
    expect(chooseOffer('apis', accept)?.mediaType ?? null).toBe(mediaType);
  });

  test('is heard only for media types of the format that the URL names', () => {
    expect(offerFormat('apis', 'yaml', 'application/json').mediaType).toBe('application/yaml');
    expect(offerFormat('apis', 'yaml', 'text/yaml, application/json').mediaType).toBe('text/yaml');
    expect(offerFormat('schemas', 'json', 'application/schema+json').mediaType).toBe('application/schema+json');
    expect(offerFormat('rulesets', 'json', undefined).mediaType).toBe('application/json');
  });

  test('with parameters asks for a page, and for JSON where there is nothing else, as without them', () => {
    expect(prefersPage('text/html;charset=utf-8, */*;q=0.8')).toBe(true);
    expect(prefersPage('text/html;level=1;q=0.2, application/json;charset=utf-8')).toBe(false);
    expect(acceptsJson('application/json;charset=utf-8')).toBe(true);
    expect(acceptsJson('application/json;odata=verbose;q=0')).toBe(false);
  });

  test('of any text at all leads to an offer or to none, the same each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 300 }), (accept) => {
        const offer = chooseOffer('apis', accept);
        expect(chooseOffer('apis', accept)).toBe(offer);
        if (offer !== null) expect(offersOf('apis')).toContain(offer);
      }),
    );
  });
});

describe('Accept-Encoding', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['*', 'br'],
    ['br', 'br'],
    ['BR', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip, zstd', 'zstd'],
    ['gzip;q=1.0, br;q=0.9', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['gzip;q=0.5, identity', 'identity'],
    ['gzip;q=0, br;q=0, zstd;q=0', 'identity'],
    ['*;q=0.5, identity', 'identity'],
    ['*;q=0, identity', 'identity'],
    ['*;q=0', null],
    ['identity;q=0', null],
    ['identity;q=0, *', 'br'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['compress, x-unknown', 'identity'],
  ])('%s → %s', (acceptEncoding, coding) => {
    expect(chooseCoding(acceptEncoding)).toBe(coding);
  });

  test('of any text at all leads to a coding or to none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 300 }), (text) => {
        expect([...codings, null]).toContain(chooseCoding(text));
      }),
    );
  });
});
