import { readFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from './in-process.ts';
import { makeData, schema } from './public-log-world.ts';

// What is damaged in a backup after it was written, which the next backup does not read.

let folder: string;
let copy: string;
let common: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-backup-'));
  copy = join(folder, 'copy');
  const config = { url: 'https://registry.test', organizations: { acme: {} } };
  await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
  common = await makeData(folder, 'data', { '@acme/schemas/money': schema('1.0.0', 'object') });
  await writeFile(join(folder, 'large.json'), JSON.stringify({ ...JSON.parse(schema('1.1.0', 'object')), description: `${Math.random()} `.repeat(60_000) })); // prettier-ignore
  await runHere(['publish', join(folder, 'large.json'), '@acme/schemas/money', ...common]);
  await runHere(['build', '--out', join(folder, 'site'), ...common]);
  await runHere(['backup', copy, ...common]);
});
afterAll(() => rm(folder, { recursive: true }));

test.each(['objects/', 'packs/', 'log/@acme/', 'log/registry/', 'tree/batches/', 'work/heads/'])(
  'backup --verify finds what is damaged under %s of the backup, and a repair puts it right',
  async (prefix) => {
    const files = await readdir(join(copy, prefix), { recursive: true, withFileTypes: true });
    const { parentPath, name } = files.find((each) => each.isFile())!;
    const file = join(parentPath, name);
    const sound = await readFile(file);
    await writeFile(file, sound.subarray(0, sound.byteLength >> 1));
    const backup = (...more: string[]) => runHere(['backup', copy, ...more, ...common]);
    const found = await backup('--verify');
    expect(found.code).not.toBe(0);
    expect(found.stderr).toContain(file.slice(copy.length + 1));
    // The entries of a log are compared each time: onto another log nothing is copied.
    if (!prefix.startsWith('log/')) {
      const json = JSON.parse((await backup('--verify', '--json')).stdout) as { damages: { key: string }[] };
      expect(json.damages.map(({ key }) => key)).toContain(file.slice(copy.length + 1));
    }
    const repair = await runHere(['fsck', '--repair', '--data', copy, '--from', common.at(-1)!, ...common.slice(0, 2)]);
    expect(repair).toMatchObject({ code: 0 });
    expect(await backup('--verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('was checked: 2 versions, nothing is damaged') }); // prettier-ignore
  },
);
