import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatAddress,
  formatCoordinate,
  isSlug,
  parseAddress,
  parseCoordinate,
  parseSelector,
  resourceTypes,
  slugFrom,
  type Address,
  type Selector,
} from '../../src/model/address.ts';
import { digestOf } from '../../src/model/digest.ts';
import { hostileTexts, labels, ranges, slugs } from './arbitraries.ts';
import { timesAsMany } from '../sample.ts';

const selectors: fc.Arbitrary<Selector> = fc.oneof(
  fc.constant<Selector>({ kind: 'latest' }),
  fc.oneof(labels, ranges).map((version): Selector => ({ kind: 'version', version })),
  fc.string().map((text): Selector => ({ kind: 'digest', digest: digestOf(text) })),
);
const coordinates = fc.record({ org: slugs, type: fc.constantFrom(...resourceTypes), slug: slugs });
const documents = fc.record({
  kind: fc.constant('resource' as const),
  coordinate: coordinates,
  selector: selectors,
  view: fc.constant('document' as const),
  format: fc.constantFrom('json', 'yaml', null),
});
const others = fc.record({
  kind: fc.constant('resource' as const),
  coordinate: coordinates,
  selector: selectors,
  view: fc.constantFrom('report', 'provenance'),
  format: fc.constant(null),
});
const unpinned = fc.record({
  kind: fc.constant('resource' as const),
  coordinate: coordinates,
  selector: fc.constant<Selector>({ kind: 'latest' }),
  view: fc.constantFrom('versions', 'diff'),
  format: fc.constant(null),
});
const addresses: fc.Arbitrary<Address> = fc.oneof(
  documents,
  others,
  unpinned,
  fc.record({ kind: fc.constant('organization' as const), org: slugs }),
  fc.record({ kind: fc.constant('type' as const), org: slugs, type: fc.constantFrom(...resourceTypes) }),
);

describe('addresses', () => {
  test('what is formatted is read back the same', () => {
    fc.assert(
      fc.property(addresses, (address) => {
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
      { numRuns: 250 * timesAsMany },
    );
  });

  test('a client may percent-encode what the grammar allows beyond letters', () => {
    fc.assert(
      fc.property(addresses, (address) => {
        const path = formatAddress(address);
        const encoded = path.replace(/[@^~+:]/g, (character) => encodeURIComponent(character).replace('~', '%7E'));
        expect(parseAddress(encoded)).toEqual(address);
        expect(parseAddress(encoded.toLowerCase().replace(/%40/g, '@'))).toEqual(parseAddress(path.toLowerCase()));
      }),
    );
  });

  test('a path has one meaning: what is read formats to itself', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.stringMatching(/^\/@[a-b/.@:-]{0,20}$/),
      fc
        .tuple(addresses, fc.nat(), fc.constantFrom('.', '/', '@', '%', '-', 'A', '.json', '/..', ' '), fc.nat(1))
        .map(([address, at, inserted, cut]) => {
          const path = formatAddress(address);
          const index = at % (path.length + 1);
          return path.slice(0, index) + inserted + path.slice(index + cut);
        }),
    );
    fc.assert(
      fc.property(texts, (path) => {
        const address = parseAddress(path);
        fc.pre(address !== null);
        const canonical = formatAddress(address);
        expect(parseAddress(canonical)).toEqual(address);
        const decoded = path.replace(/%(?:40|5e|7e|2b|3a)/gi, decodeURIComponent);
        expect([canonical, canonical.replace(/(\.json|\.yaml|\/[a-z]+)?$/, '@latest$1')]).toContain(decoded);
      }),
      { numRuns: 500 * timesAsMany },
    );
  });

  test.each<[string, Address]>([
    ['/@acme', { kind: 'organization', org: 'acme' }],
    ['/@acme/apis', { kind: 'type', org: 'acme', type: 'apis' }],
    ['/@acme/apis/payments', documentOf({ kind: 'latest' })],
    ['/@acme/apis/payments.json', { ...documentOf({ kind: 'latest' }), format: 'json' }],
    ['/@acme/apis/payments@latest.yaml', { ...documentOf({ kind: 'latest' }), format: 'yaml' }],
    ['/@acme/apis/payments@1.4.0', documentOf({ kind: 'version', version: '1.4.0' })],
    ['/@acme/apis/payments@1.4.0.yaml', { ...documentOf({ kind: 'version', version: '1.4.0' }), format: 'yaml' }],
    ['/%40acme/apis/payments%40%5E1.2', documentOf({ kind: 'version', version: '^1.2' })],
    ['/@acme/apis/payments@1', documentOf({ kind: 'version', version: '1' })],
    ['/@acme/apis/payments@1.4.0/report', { ...documentOf({ kind: 'version', version: '1.4.0' }), view: 'report' }],
    [
      '/@acme/apis/payments@1/part-a-2',
      { ...documentOf({ kind: 'version', version: '1' }), view: 'part', part: 'a-2' },
    ],
    ['/@acme/apis/payments/versions', { ...documentOf({ kind: 'latest' }), view: 'versions' }],
    ['/@acme/apis/payments/diff', { ...documentOf({ kind: 'latest' }), view: 'diff' }],
    ['/@acme/apis/payments/diff.json', { ...documentOf({ kind: 'latest' }), view: 'diff-json' }],
    ['/@acme/apis/payments/diff.md', { ...documentOf({ kind: 'latest' }), view: 'diff-markdown' }],
    ['/@acme/apis/payments@1/diff', { ...documentOf({ kind: 'version', version: '1' }), view: 'diff' }],
    ['/@acme/apis/payments@1/diff.md', { ...documentOf({ kind: 'version', version: '1' }), view: 'diff-markdown' }],
  ])('%s', (path, address) => {
    expect(parseAddress(path)).toEqual(address);
  });

  function documentOf(selector: Selector): Extract<Address, { kind: 'resource' }> {
    const coordinate = { org: 'acme', type: 'apis', slug: 'payments' } as const;
    return { kind: 'resource', coordinate, selector, view: 'document', format: null };
  }

  test.each([
    '',
    '/',
    '@acme',
    '/acme',
    '//@acme',
    '/@',
    '/@acme/',
    '/@acme//',
    '/@acme/apis/',
    '/@acme/apis//payments',
    '/@acme/apis/payments/',
    '/@acme/apis/payments/report/',
    '/@acme/apis/payments/report/x',
    '/@acme/apis/payments/other',
    '/@acme/apis/payments/part-',
    '/@acme/apis/payments/part-A',
    '/@acme/apis/payments/part-a--b',
    '/@acme/apis/payments@',
    '/@acme/apis/payments@@1',
    '/@acme/apis/payments@1@2',
    '/@acme/apis/payments@1.0.0/versions',
    '/@acme/apis/payments@1.0.0/diff/',
    '/@acme/apis/payments@1.0.0.json/diff',
    '/@acme/apis/payments.json/report',
    '/@acme/apis/payments.json@1.0.0',
    '/@acme/apis/payments.JSON',
    '/@acme/apis/payments.yml',
    '/@acme/apis/payments.json.json',
    '/@acme/api/payments',
    '/@acme/APIS/payments',
    '/@Acme/apis/payments',
    '/@acme/apis/Payments',
    '/@acme/apis/pay_ments',
    '/@acme/apis/-payments',
    '/@acme/apis/payments-',
    '/@acme/apis/pay--ments',
    '/@acme/apis/..',
    '/@acme/apis/.',
    '/@../apis/payments',
    '/@acme/../payments',
    '/@acme/apis/payments/../x',
    '/@acme/apis/%2e%2e',
    '/@acme/apis%2fpayments',
    '/@acme/apis/pay%2Fments',
    '/@acme/apis/payments%00',
    '/@acme/apis/payments\0',
    '/@acme/apis/payments@..',
    '/@acme/apis/payments@1..2',
    '/@acme/apis/payments@1%2F..',
    '/@acme/apis/payments@sha256:abc',
    `/@acme/apis/payments@sha256:${'A'.repeat(64)}`,
    `/@acme/apis/payments@sha256:${'a'.repeat(65)}`,
    '/@acme/apis/payments@SHA256-x',
    '/@acme/apis/payments@Latest',
    '/@acme/apis/payments?x',
    '/@acme/apis/payments#x',
    '/@acme/apis/payments ',
    ' /@acme',
    '/@acme/apis/päyments',
    '/@аcme/apis/payments',
    '/@acme/__proto__/payments',
    '/@acme/apis/__proto__',
    '/@acme/constructor/payments',
    '/@acme/toString',
    '/%2540acme',
    '/@acme/apis/payments%2540',
    '/@acme\\apis\\payments',
    `/@${'a'.repeat(64)}`,
    `/@${'a'.repeat(100_000)}`,
    `/@acme/apis/${'a/'.repeat(50_000)}`,
    `/@acme/apis/payments@${'1.'.repeat(50_000)}`,
    `/${'%40'.repeat(50_000)}`,
  ])('%.60j is none', (path) => {
    expect(parseAddress(path)).toBeNull();
  });

  test('words that JavaScript knows are plain slugs', () => {
    for (const word of ['prototype', 'tostring', 'null', 'true', '0']) {
      expect(formatAddress(parseAddress(`/@${word}/apis/${word}`)!)).toBe(`/@${word}/apis/${word}`);
    }
  });

  test('no text makes a parser throw, and what it takes is safe in paths and keys', () => {
    fc.assert(
      fc.property(hostileTexts, hostileTexts, (one, two) => {
        for (const text of [
          one,
          `/@${one}`,
          `/@acme/apis/${one}`,
          `/@acme/apis/x@${one}`,
          `/@acme/apis/${one}@${two}`,
        ]) {
          const address = parseAddress(text);
          if (address !== null) expect(formatAddress(address)).toMatch(/^\/@[A-Za-z0-9@/.:^~+_-]{1,600}$/);
          parseCoordinate(text);
          parseSelector(text);
        }
      }),
      { numRuns: 250 * timesAsMany },
    );
  });
});

describe('coordinates', () => {
  test('what is formatted is read back the same', () => {
    fc.assert(
      fc.property(coordinates, selectors, (coordinate, selector) => {
        expect(parseCoordinate(formatCoordinate(coordinate, selector))).toEqual({ coordinate, selector });
      }),
    );
  });

  test.each(['acme/apis/x', '/@acme/apis/x', '@acme', '@acme/apis', '@acme/apis/x.json', '@acme/apis/x/report', ''])(
    '%j is none',
    (text) => {
      expect(parseCoordinate(text)).toBeNull();
    },
  );
});

describe('slugs', () => {
  test.each(['a', '0', 'a-b', 'a'.repeat(63), '1-2-3'])('%s is one', (text) => expect(isSlug(text)).toBe(true));
  test.each([
    '',
    '-',
    'a-',
    '-a',
    'a--b',
    'A',
    'a_b',
    'a.b',
    'a b',
    'ä',
    'a\n',
    'a'.repeat(64),
    '..',
    'a/b',
    '__proto__',
    'constructor',
  ])('%j is none', (text) => expect(isSlug(text)).toBe(false));

  test.each([
    ['Swagger Petstore (v2)', 'swagger-petstore-v2'],
    ['Zahlungs-Übersicht', 'zahlungs-ubersicht'],
    ['  --a__b--  ', 'a-b'],
    ['İstanbul', 'istanbul'],
    [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
    ['支付', null],
    ['', null],
    ['/../', null],
    ['__proto__', 'proto'],
    ['Constructor', 'x-constructor'],
  ])('are made of any text: %j', (text, slug) => {
    expect(slugFrom(text)).toBe(slug);
  });

  test('what is made is a slug, and stays itself', () => {
    fc.assert(
      fc.property(hostileTexts, (text) => {
        const slug = slugFrom(text);
        if (slug === null) expect(text.normalize('NFKD')).not.toMatch(/[a-z0-9]/i);
        else expect([isSlug(slug), slugFrom(slug)]).toEqual([true, slug]);
      }),
      { numRuns: 250 * timesAsMany },
    );
  });
});
