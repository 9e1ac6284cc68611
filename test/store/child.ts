/**
 * Another process on the same folder, or on the S3 bucket whose settings it gets as JSON. Started with `fork`, it does what it is told over the channel and answers each message:
 * `put` writes text under a key, `flood` writes large values one after the other until it is killed, `increment` appends to a ref.
 */
import { randomUUID } from 'node:crypto';
import { openFsBucket } from '../../src/store/fs.ts';
import { createRefs } from '../../src/store/refs.ts';
import { openS3Bucket, type S3Settings } from '../../src/store/s3.ts';

export type Order =
  | { do: 'put'; key: string; text: string }
  | { do: 'fill'; key: string; bytes: number }
  | { do: 'flood'; bytes: number }
  | { do: 'increment'; name: string; times: number };

const where = process.argv[2]!;
const bucket = where.startsWith('{') ? await openS3Bucket(JSON.parse(where) as S3Settings) : await openFsBucket(where);
const refs = createRefs(bucket, { now: () => new Date(), monotonic: () => performance.now(), uniqueId: randomUUID });

async function obey(order: Order): Promise<unknown> {
  if (order.do === 'put') return bucket.putIfAbsent(order.key, Buffer.from(order.text));
  if (order.do === 'fill') {
    return bucket
      .putIfAbsent(order.key, Buffer.alloc(order.bytes, 1))
      .catch((error: NodeJS.ErrnoException) => error.code);
  }
  if (order.do === 'increment') {
    for (let index = 0; index < order.times; index++) {
      await refs.update<number>(order.name, (current) => ({
        value: (current?.value ?? 0) + 1,
        change: { actor: String(process.pid), origin: null, action: 'increment' },
      }));
    }
    return 'done';
  }
  for (let index = 0; ; index++) {
    const key = `flood/${process.pid}-${index}`;
    await bucket.putIfAbsent(key, Buffer.alloc(order.bytes, index));
    process.send!({ written: key });
  }
}

process.on('message', (order: Order) => {
  void obey(order).then((answer) => process.send!({ answer }));
});
process.on('disconnect', () => process.exit());
process.send!({ ready: true });
