import { openFsBucket } from '../../src/store/fs.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { publish } from '../../src/registry/publish.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';

/**
 * Publishes versions in a folder, one after the other, telling each on stdout when it is acknowledged, and kills itself with SIGKILL at a
 * write: `kill-child.ts FOLDER ROUND STEP before|after`. STEP counts the writes of this process.
 */
const [folder, round, step, moment] = process.argv.slice(2);
let writes = 0;

function deadly(bucket: Bucket): Bucket {
  return {
    ...bucket,
    async putIfAbsent(key, bytes) {
      const isLast = writes++ === Number(step);
      if (isLast && moment === 'before') process.kill(process.pid, 'SIGKILL');
      const answer = await bucket.putIfAbsent(key, bytes);
      if (isLast) process.kill(process.pid, 'SIGKILL');
      return answer;
    },
  };
}

const { registry } = createWorld(undefined, deadly(await openFsBucket(folder!)));
for (let n = 0; n < 50; n++) {
  const text = `openapi: 3.1.0\ninfo: {title: Kill, version: "${round}.${n}.0"}\nround: ${round}\n`;
  const result = await publish(registry, {
    coordinate: { org: 'acme', type: 'apis', slug: 'kill' },
    snapshot: snapshotOf(null, null, { 'api.yaml': text }),
    entry: 'api.yaml',
    version: null,
    onConflict: 'reject',
    latest: true,
    dryRun: false,
    create: {},
    author: { actor: 'operator:test', origin: null },
  });
  if (result.outcome !== 'published') throw new Error(result.outcome);
  process.stdout.write(`${result.version.label} ${result.version.manifest}\n`);
}
