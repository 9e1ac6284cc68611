import { expect, test } from 'vitest';
import { checkConfig } from '../src/config/load-config.ts';

test('without a configuration the defaults are those of an empty one that was checked', () => {
  const place = { base: '/', data: '/data' };
  // A key makes ajv check it; `log` has only a default.
  expect(checkConfig({}, place)).toEqual(checkConfig({ log: {} }, place));
});

test('of a value with alternatives, the error is about the one that is meant', () => {
  const credentials = { app: { githubApp: { appId: 1, privateKeyFile: 'a.pem' }, host: 'git.test' }, token: { env: 'A', usrname: 'a' } }; // prettier-ignore
  expect(() => checkConfig({ credentials }, { base: '/', data: '/data' })).toThrow(
    'The configuration is invalid: credentials.app has no key "host".; credentials.token has no key "usrname". Did you mean "username"?',
  );
});
