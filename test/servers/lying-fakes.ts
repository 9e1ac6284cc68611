import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Settings } from '../../src/store/s3.ts';

/** A fake of S3 with one bucket. */
interface FakeS3 extends AsyncDisposable {
  endpoint: string;
  credentials: S3Settings['credentials'];
}

/** Fakes from npm that answer a PUT with `If-None-Match: *` as any other: the last write stays. Loaded when they are started. */
export const lyingFakes: [string, (bucket: string) => Promise<FakeS3>][] = [
  ['s3rver', startS3rver],
  ['fauxqs', startFauxqs],
];

/** The fork that is maintained. It has no types. */
interface S3rver {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

async function startS3rver(bucket: string): Promise<FakeS3> {
  const require = createRequire(import.meta.url);
  const S3rver = require('@20minutes/s3rver') as new (options: object) => S3rver;
  const directory = await mkdtemp(join(tmpdir(), 's3rver-'));
  const options = { address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: bucket }] };
  const server = new S3rver(options);
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    async [Symbol.asyncDispose]() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function startFauxqs(bucket: string): Promise<FakeS3> {
  const fauxqs = await import('fauxqs');
  const server = await fauxqs.startFauxqs({ host: '127.0.0.1', port: 0, logger: false });
  server.createBucket(bucket);
  return {
    endpoint: `http://127.0.0.1:${server.port}`,
    credentials: { accessKeyId: 'test', secretAccessKey: 'testsecret' },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
