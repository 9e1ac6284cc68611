import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3Settings } from '../../src/store/s3.ts';
import { freePort } from './ports.ts';

const programs = ['ceph', 'ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'monmaptool'];
const recipe = fileURLToPath(new URL('ceph-rgw.sh', import.meta.url));
const run = promisify(execFile);

/** Whether a Ceph object gateway is installed here (Debian: ceph-mon, ceph-osd, radosgw). */
export const hasCeph: boolean = programs.every((name) => existsSync(`/usr/bin/${name}`));

/** A real object gateway of Ceph, in memory, with an empty bucket. */
export interface Ceph extends AsyncDisposable {
  port: number;
  /** The settings of a bucket under a prefix of its own. */
  settings(prefix: string): S3Settings;
}

/** Starts one in some 13 seconds. */
export async function startCeph(): Promise<Ceph> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryStart();
    } catch (error) {
      // Another test may have taken a port that was free.
      if (attempt === 3) throw error;
    }
  }
}

async function tryStart(): Promise<Ceph> {
  const home = await mkdtemp(join(tmpdir(), 'rgw-'));
  const env = { ...process.env, RGW_HOME: home };
  const port = await freePort();
  const stop = async () => {
    await run(recipe, ['stop'], { env });
    await rm(home, { recursive: true, force: true });
  };
  try {
    await run(recipe, ['start', String(port), String(await freePort())], { env, timeout: 400_000 });
    const endpoint = `http://127.0.0.1:${port}`;
    const credentials = { accessKeyId: 'test', secretAccessKey: 'testsecret' };
    const bucket = 'contracts';
    const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    const settings = { bucket, endpoint, region: null, pathStyle: true, credentials };
    return { port, settings: (prefix) => ({ ...settings, prefix }), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
