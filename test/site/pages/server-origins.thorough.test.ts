import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serverOrigins } from '../../../src/site/pages/reference-pages.ts';

describe('the origins of a server', () => {
  test('of any text are nothing but sources of one policy directive', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii' }), (host, rest) => {
        for (const origin of serverOrigins(`https://${host}.example.com${rest}`)) {
          expect(origin).toMatch(/^https?:\/\/(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::(?:\d+|\*))?$/);
        }
      }),
    );
  });
});
