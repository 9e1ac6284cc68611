import { sampleOf } from '../sample.ts';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anonymous } from '../../src/model/access.ts';
import { findLayer } from '../../src/model/artifact.ts';
import { findVersion, resourceRef, type Resource } from '../../src/model/resource.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { grantRead, grantVersion, openBlob, readManifest } from '../../src/registry/read.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { createWorld } from '../registry/world.ts';

const child = new URL('./kill-child.ts', import.meta.url).pathname;
const coordinate = { org: 'acme', type: 'apis', slug: 'kill' } as const;

/** Runs a publisher until it kills itself; answers what it acknowledged before. */
function runUntilKilled(folder: string, round: number, step: number, moment: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [child, folder, String(round), String(step), moment], (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL') resolve(stdout.split('\n').filter((line) => line !== ''));
      else reject(new Error(`It was not killed: ${stderr}`));
    });
  });
}

// Before each of the first 25 writes, and after the last of them: after any other one is before the next. Every other one.
const deaths = [
  ...Array.from({ length: 25 }, (_, step) => ({ step, moment: 'before' })),
  { step: 24, moment: 'after' },
];
const rounds = sampleOf(deaths, 2, 1).map((each, round) => ({ ...each, round }));

test(`kill -9 between any two writes of a publish, ${rounds.length} times: fsck is clean and every acknowledged version reads back`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-kill-'));
  try {
    const acknowledged: string[] = [];
    for (let start = 0; start < rounds.length; start += 2) {
      // Two at a time: they also race each other.
      const pair = rounds.slice(start, start + 2);
      const lines = await Promise.all(
        pair.map(({ round, step, moment }) => runUntilKilled(folder, round, step, moment)),
      );
      acknowledged.push(...lines.flat());
    }
    expect(acknowledged.length).toBeGreaterThan(rounds.length / 2);
    const { registry } = createWorld(
      { organizations: { acme: { defaults: { visibility: 'public' } } } },
      await openFsBucket(folder),
    );
    expect((await fsck(registry)).damages).toEqual([]);
    const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))!.value;
    const reader = { kind: 'operator', id: 'test' } as const;
    for (const line of acknowledged) {
      const [label, manifest] = line.split(' ');
      expect(findVersion(resource, label!)?.manifest).toBe(manifest);
      const granted = (await grantRead(registry, reader, coordinate))!;
      const version = grantVersion(granted, { kind: 'version', version: label! })!.granted;
      const { digest } = findLayer(await readManifest(registry, version), 'yaml', 'identity')!;
      expect(Buffer.from(await openBlob(registry, version, digest)).toString()).toContain(`version: "${label}"`);
    }
    expect(await grantRead(registry, anonymous, coordinate)).toBeNull();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
