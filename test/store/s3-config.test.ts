import { expect, test } from 'vitest';
import type { Config, UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';

function storeOf(store: unknown, more: UserConfig = { secretKey: { env: 'KEY' } }): Config['store'] {
  return checkConfig({ store, ...more }, { base: '/base', data: 'data' }).store;
}

test('a bucket on S3: what is not said has a default', () => {
  expect(storeOf({ kind: 's3', bucket: 'contracts' })).toEqual({
    kind: 's3',
    bucket: 'contracts',
    prefix: '',
    endpoint: null,
    region: null,
    pathStyle: false,
    credentials: null,
  });
  expect(storeOf({ kind: 's3', bucket: 'contracts', endpoint: 'http://127.0.0.1:9000' })).toMatchObject({
    pathStyle: true,
  });
});

test('a folder is as before', () => {
  expect(storeOf({ kind: 'fs', path: 'x' }, {})).toEqual({ kind: 'fs', path: '/base/x' });
  expect(storeOf(undefined, {})).toEqual({ kind: 'fs', path: '/base/data' });
});

test('a bucket needs a secretKey that all its machines share', () => {
  expect(() => storeOf({ kind: 's3', bucket: 'contracts' }, {})).toThrow(
    'store.kind is s3, so secretKey is required: every machine that uses the bucket must be able to open the secrets in it.',
  );
});

test.each([
  [{ kind: 'disk' }, 'store.kind must be "fs" or "s3".'],
  [{ path: 'x' }, 'store is missing the member "kind".'],
  [{ kind: 's3' }, 'store is missing the member "bucket".'],
  [{ kind: 's3', bucket: 'contracts', prefx: 'a' }, 'store.prefx is not expected here. Did you mean "prefix"?'],
  [{ kind: 'fs', path: 'x', bucket: 'contracts' }, 'store.bucket is not expected here.'],
  [
    { kind: 's3', bucket: 'contracts', accessKeyId: 'AKIA', secretAccessKey: { env: 'A' } },
    'store.accessKeyId must be an object, not a string.',
  ],
  [{ kind: 's3', bucket: 'contracts', accessKeyId: { env: 'A' } }, 'secretAccessKey'],
])('%j is refused, naming the key', (store, message) => {
  expect(() => storeOf(store)).toThrow(message);
});
