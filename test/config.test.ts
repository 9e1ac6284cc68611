import { expect, test } from 'vitest';
import { checkConfig } from '../src/config/load-config.ts';

test('without a configuration the defaults are those of an empty one that was checked', () => {
  const place = { base: '/', data: '/data' };
  // A key makes ajv check it; `log` has only a default.
  expect(checkConfig({}, place)).toEqual(checkConfig({ log: {} }, place));
});
