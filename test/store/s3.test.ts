import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, test } from 'vitest';
import { usualPatience } from '../../src/store/s3-objects.ts';
import { createS3Bucket, openObjects, openS3Bucket, type S3Settings } from '../../src/store/s3.ts';
import { bucketContract, bytesOf } from '../contract/bucket.ts';
import { startFaultProxy } from '../servers/fault-proxy.ts';
import { startS3 } from '../servers/s3.ts';

/** A busy machine may take seconds for an answer. */
const patience = { ...usualPatience, timeout: 30_000, pause: 1, total: 120_000 };
function settingsOf(endpoint: string, changes: Partial<S3Settings> = {}): S3Settings {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'testsecret' };
  return { bucket: 'contracts', prefix: 'stele', endpoint, region: null, pathStyle: true, credentials, ...changes };
}

bucketContract('S3 (stand-in)', async () => {
  const server = await startS3('contracts');
  const bucket = createS3Bucket(await openObjects(settingsOf(server.endpoint)));
  return { bucket, close: async () => server[Symbol.asyncDispose]() };
});

describe('where an S3 bucket is', () => {
  test.each([
    ['', 'a/b'],
    ['stele', 'stele/a/b'],
    ['team/stele', 'team/stele/a/b'],
  ])('keys stand under the prefix %j, and others of the bucket are left alone', async (prefix, stored) => {
    await using server = await startS3('contracts');
    server.objects.set('zz/other', { bytes: Buffer.from('other'), metadata: {} });
    server.objects.set(`${prefix === '' ? '' : `${prefix}/`}.hidden`, { bytes: Buffer.from('x'), metadata: {} });
    const bucket = await openS3Bucket(settingsOf(server.endpoint, { prefix }));
    await bucket.putIfAbsent('a/b', bytesOf('x'));
    expect(server.objects.has(stored)).toBe(true);
    expect(await bucket.list('')).toEqual(prefix === '' ? ['a/b', 'zz/other'] : ['a/b']);
    await bucket.check();
    expect([...server.objects.keys()].filter((key) => /\.(check|probe)/.test(key))).toEqual([]);
  });

  test('keys that a list skips are not asked for one by one', async () => {
    await using server = await startS3('contracts');
    await using proxy = await startFaultProxy(server.port);
    const bucket = createS3Bucket(await openObjects(settingsOf(proxy.endpoint)));
    for (let n = 100; n < 130; n++) await bucket.putIfAbsent(`log/@acme/${n}`, bytesOf('x'));
    await bucket.putIfAbsent('log/@acme/zzz', bytesOf('x'));
    await bucket.putIfAbsent('log/@beta/1', bytesOf('x'));
    expect(await bucket.list('log/', { after: 'log/@acme/~', limit: 1 })).toEqual(['log/@beta/1']);
    expect(proxy.seen['GET']).toBe(1);
  });

  test('without path style the bucket is the first part of the host', async () => {
    await using server = await startS3('contracts');
    const lookup = dns.lookup;
    const asked: string[] = [];
    dns.lookup = ((name: string, options: object, done: (error: null, found: unknown, family?: number) => void) => {
      asked.push(name);
      if ('all' in options && options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    }) as typeof dns.lookup;
    syncBuiltinESMExports();
    try {
      const endpoint = `http://localhost:${server.port}`;
      const bucket = createS3Bucket(await openObjects(settingsOf(endpoint, { pathStyle: false }), patience));
      expect(await bucket.putIfAbsent('a', bytesOf('x'))).toBe('created');
      expect([...server.objects.keys()]).toEqual(['stele/a']);
      expect(new Set(asked)).toEqual(new Set(['contracts.localhost']));
    } finally {
      dns.lookup = lookup;
      syncBuiltinESMExports();
    }
  });
});
