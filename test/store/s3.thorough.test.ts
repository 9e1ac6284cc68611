import { afterEach, describe, expect, test } from 'vitest';
import type { Bucket } from '../../src/store/bucket.ts';
import { usualPatience } from '../../src/store/s3-objects.ts';
import { createS3Bucket, openObjects, openS3Bucket, type S3Settings } from '../../src/store/s3.ts';
import { bucketContract, bytesOf } from '../contract/bucket.ts';
import { startFaultProxy, type FaultProxy, type HttpFault } from '../servers/fault-proxy.ts';
import { lyingFakes } from '../servers/lying-fakes.ts';
import { startS3, type Enforcement, type S3StandIn } from '../servers/s3.ts';

/** A busy machine may take seconds for an answer. */
const patience = { ...usualPatience, timeout: 30_000, pause: 1, total: 120_000 };
/** Where the server is silent: each attempt lasts this long. */
const shortPatience = { ...patience, timeout: 2000 };

function settingsOf(endpoint: string, changes: Partial<S3Settings> = {}): S3Settings {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'testsecret' };
  return { bucket: 'contracts', prefix: 'stele', endpoint, region: null, pathStyle: true, credentials, ...changes };
}

bucketContract('S3 (stand-in)', async () => {
  const server = await startS3('contracts');
  const bucket = createS3Bucket(await openObjects(settingsOf(server.endpoint)));
  return { bucket, close: async () => server[Symbol.asyncDispose]() };
});

describe('a store that does not keep the promises of S3 is refused with what was seen', () => {
  const cases: [Enforcement, RegExp][] = [
    ['ignored', /of 32 writers of one new key, 32 were told that they created it/],
    ['looks first', /of 32 writers of one new key, \d+ were told that they created it/],
    ['keeps the last', /the bytes of another writer than the winner were stored/],
    ['without metadata', /it does not keep the metadata of an object/],
    ['lists late', /a list does not have the key that was just written/],
    ['refuses all', /not writable/],
    ['not implemented', /it does not support a needed feature of S3/],
  ];
  test.each(cases)('If-None-Match: %s', async (enforcement, message) => {
    await using server = await startS3('contracts', enforcement);
    const opening = openS3Bucket(settingsOf(server.endpoint), patience);
    await expect(opening).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(message) });
  });

  test('a store that cannot be written can be read, and is written once it was probed', async () => {
    await using server = await startS3('contracts');
    await (await openS3Bucket(settingsOf(server.endpoint), patience)).putIfAbsent('format', Buffer.from('{}'));
    server.enforce('refuses all');
    const bucket = await openS3Bucket(settingsOf(server.endpoint), patience);
    expect((await bucket.get('format'))?.toString()).toBe('{}');
    const refused = { code: 'unavailable', message: expect.stringContaining('not writable') as string };
    await expect(bucket.putIfAbsent('other', Buffer.from('x'))).rejects.toMatchObject(refused);
    await expect(bucket.check()).rejects.toMatchObject(refused);
    server.enforce('ignored');
    const lying = { code: 'unavailable', message: expect.stringContaining('cannot be used') as string };
    await expect(bucket.check()).rejects.toMatchObject(lying);
    await expect(bucket.putIfAbsent('other', Buffer.from('x'))).rejects.toMatchObject(lying);
    server.enforce('holds');
    expect(await bucket.putIfAbsent('other', Buffer.from('x'))).toBe('created');
    await bucket.check();
  });

  test.each(lyingFakes)('%s, a fake from npm that overlooks If-None-Match', async (_, start) => {
    await using fake = await start('contracts');
    const opening = openS3Bucket(settingsOf(fake.endpoint, { credentials: fake.credentials }), patience);
    const seen = 'of 32 writers of one new key, 32 were told that they created it';
    await expect(opening).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(seen) });
  });

  test('one that stops enforcing If-None-Match is noticed while it serves, within a minute', async () => {
    await using server = await startS3('contracts');
    await using proxy = await startFaultProxy(server.port);
    let time = 0;
    const bucket = createS3Bucket(await openObjects(settingsOf(proxy.endpoint), patience), () => time);
    await bucket.check();
    const first = { ...proxy.seen };
    expect(first).toEqual({ PUT: 2, HEAD: 1, GET: 1, DELETE: 1 });
    server.enforce('ignored');
    time += 59_999;
    await bucket.check();
    // Most checks write once, as they cost money.
    expect(proxy.seen).toEqual({ PUT: 3, HEAD: 1, GET: 2, DELETE: 2 });
    time += 1;
    for (let round = 0; round < 2; round++)
      await expect(bucket.check()).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('it wrote a key that was there already'),
      });
    expect([...server.objects.keys()]).toEqual([]);
    server.enforce('holds');
    await bucket.check();
  });

  test('a bucket that is not there', async () => {
    await using server = await startS3('others');
    const opening = openS3Bucket(settingsOf(server.endpoint), patience);
    await expect(opening).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The store is not writable: its bucket does not exist; nothing was written.',
    });
  });

  test('a server that is not there', async () => {
    const server = await startS3('contracts');
    await server[Symbol.asyncDispose]();
    await expect(openS3Bucket(settingsOf(server.endpoint), patience)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The store is not writable: it does not answer; nothing was written.',
    });
  });
});

describe('what goes wrong on the way', () => {
  let server: S3StandIn;
  let proxy: FaultProxy;
  let bucket: Bucket;

  /** Opens a bucket behind the proxy. The first requests of the method go wrong in turn. */
  async function open(method: string, ...faults: (HttpFault | null)[]): Promise<void> {
    server = await startS3('contracts');
    proxy = await startFaultProxy(server.port);
    proxy.choose = (request) => (request.method === method ? (faults.shift() ?? null) : null);
    const isSilent = faults.some((fault) => fault?.kind === 'silent' || fault?.kind === 'later');
    bucket = createS3Bucket(await openObjects(settingsOf(proxy.endpoint), isSilent ? shortPatience : patience));
  }
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const status = (code: number, name: string): HttpFault => ({ kind: 'status', status: code, code: name });
  const harmless: [string, HttpFault][] = [
    ['500', status(500, 'InternalError')],
    ['503', status(503, 'SlowDown')],
    ['409', status(409, 'ConditionalRequestConflict')],
    ['a reset', { kind: 'reset' }],
    ['a lost answer', { kind: 'lost' }],
    ['no answer', { kind: 'silent' }],
    ['a request that a proxy sends twice', { kind: 'twice' }],
    ['latency', { kind: 'slow', milliseconds: 50 }],
  ];

  test.each(harmless)('a write survives %s: its writer gets `created`, the next one `exists`', async (_, fault) => {
    await open('PUT', fault);
    expect(await bucket.putIfAbsent('a', bytesOf('same'))).toBe('created');
    expect(await bucket.putIfAbsent('a', bytesOf('same'))).toBe('exists');
    expect(server.objects.get('stele/a')?.bytes.toString()).toBe('same');
  });

  test('of two writers of the same bytes with lost answers, one gets `created`', async () => {
    await open('PUT', { kind: 'lost' }, { kind: 'lost' }, { kind: 'lost' }, { kind: 'lost' });
    const answers = await Promise.all([1, 2].map(() => bucket.putIfAbsent('a', bytesOf('same'))));
    expect(answers.sort()).toEqual(['created', 'exists']);
  });

  test.each([...harmless.slice(0, 6), ['half a body', { kind: 'cut' }] as [string, HttpFault]])(
    'a read survives %s',
    async (_, fault) => {
      await open('GET', fault.kind === 'status' && fault.status === 409 ? null : fault, fault);
      await bucket.putIfAbsent('a', bytesOf('all of the bytes'));
      expect(Buffer.from((await bucket.get('a'))!).toString()).toBe('all of the bytes');
      expect(await bucket.list('')).toEqual(['a']);
    },
  );

  test('a write whose outcome cannot be read back is unknown, and never a guess', async () => {
    await open('PUT', ...Array.from({ length: 5 }, (): HttpFault => ({ kind: 'lost' })));
    const choose = proxy.choose;
    proxy.choose = (request) => (request.method === 'HEAD' ? status(500, 'x') : choose(request));
    await expect(bucket.putIfAbsent('a', bytesOf('x'))).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  test('a write that may still arrive is unknown, though nothing is there yet', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await open('PUT', { kind: 'later', passOn: promise }, status(403, 'AccessDenied'));
    await expect(bucket.putIfAbsent('a', bytesOf('x'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await bucket.get('a')).toBeNull();
    resolve();
    await proxy.settled();
    expect(await bucket.get('a')).not.toBeNull();
  });

  test('a write that arrives after its retry changes nothing', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await open('PUT', { kind: 'later', passOn: promise });
    expect(await bucket.putIfAbsent('a', bytesOf('x'))).toBe('created');
    resolve();
    await proxy.settled();
    expect(await bucket.putIfAbsent('a', bytesOf('y'))).toBe('exists');
  });

  test.each([
    [403, 'AccessDenied', 'permission denied'],
    [403, 'QuotaExceeded', 'its quota is used up'],
    [507, 'XMinioStorageFull', 'no space is left'],
    [404, 'NoSuchBucket', 'its bucket does not exist'],
    [301, 'PermanentRedirect', 'its bucket is in another region'],
    [503, 'SlowDown', 'it is overloaded'],
  ])('%i %s: nothing was written, and the message names nothing internal', async (code, name, reason) => {
    await open('PUT', ...Array.from({ length: 10 }, () => status(code, name)));
    const message = `The store is not writable: ${reason}; nothing was written.`;
    await expect(bucket.putIfAbsent('a', bytesOf('x'))).rejects.toMatchObject({
      code: 'unavailable',
      message,
      retryAfter: 5,
    });
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable', message });
  });

  test.each([
    [403, 'AccessDenied', 'permission denied'],
    [500, 'InternalError', 'it answers with the status 500'],
    [404, '', 'it answers with the status 404'],
    [404, 'NoSuchBucket', 'its bucket does not exist'],
  ])('reads answered with %i %s do not say that a key is absent', async (code, name, reason) => {
    await open('GET', ...Array.from({ length: 10 }, () => status(code, name)));
    const error = { code: 'unavailable', message: `The store cannot be read: ${reason}.`, retryAfter: 5 };
    await expect(bucket.get('a')).rejects.toMatchObject(error);
    await expect(bucket.list('')).rejects.toMatchObject(error);
  });

  test('a server that never answers is given up in time', async () => {
    await open('GET', ...Array.from({ length: 10 }, (): HttpFault => ({ kind: 'silent' })));
    bucket = createS3Bucket(await openObjects(settingsOf(proxy.endpoint), { ...patience, timeout: 20 }));
    await expect(bucket.get('a')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The store cannot be read: it does not answer.',
    });
  });

  test('while one request in five goes wrong, each key has one writer', async () => {
    await open('PUT');
    const kinds = harmless.map(([, fault]) => fault).filter(({ kind }) => kind !== 'silent');
    let count = 0;
    proxy.choose = () => (++count % 5 === 0 ? kinds[(count / 5) % kinds.length]! : null);
    const keys = Array.from({ length: 25 }, (_, index) => `races/${index}`);
    for (const key of keys) {
      const answers = await Promise.all([1, 2, 3, 4].map(() => bucket.putIfAbsent(key, bytesOf(key))));
      expect(answers.sort(), key).toEqual(['created', 'exists', 'exists', 'exists']);
    }
    expect(await bucket.list('races/')).toEqual(keys.sort());
  });
});
