import fc from 'fast-check';
import { isSlug } from '../../src/model/address.ts';
import { isLabel } from '../../src/model/label.ts';

/** Slugs of every length, the shortest and the longest among them. */
export const slugs: fc.Arbitrary<string> = fc
  .oneof(
    fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
    fc.constantFrom('a', '0', 'a'.repeat(63), 'constructor', 'apis', 'latest', 'versions', 'json'),
  )
  .filter(isSlug);

/** Labels: semantic versions, dates, words, and whatever else the grammar allows. */
export const labels: fc.Arbitrary<string> = fc
  .oneof(
    fc.stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,126}[A-Za-z0-9])?$/),
    fc.stringMatching(/^[0-9]\.[0-9]\.[0-9](?:-[a-z0-9.]{1,6})?(?:\+[a-z0-9]{1,7})?$/),
    fc.constantFrom('1', 'v1', '2026-01-01', 'a'.repeat(128), '1.0.0-json', 'constructor', 'yaml', 'x.jsonx'),
  )
  .filter(isLabel);

/** Ranges of every form. */
export const ranges: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('', '^', '~'), fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }))
  .map(([sign, parts]) => sign + parts.slice(0, sign === '' ? 2 : 3).join('.'));

/** Texts that want to be something else. */
export const hostileTexts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '..',
    '../..',
    '.',
    '/',
    '\\',
    '%2f',
    '%2e%2e%2f',
    '%00',
    '\0',
    '%',
    '%4',
    '%zz',
    '\ud800',
    '‮gpj',
    'ﬀ',
    'K',
    'ı',
    'ß'.repeat(70),
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'A'.repeat(100_000),
    '.'.repeat(100_000),
    '-'.repeat(100_000),
    'a-'.repeat(50_000),
    '1.'.repeat(50_000),
    '%40'.repeat(30_000),
  ),
  fc.stringMatching(/^[@/.a%20-]{0,30}$/),
);
