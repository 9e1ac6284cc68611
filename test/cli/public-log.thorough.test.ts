import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from './in-process.ts';
import { openConsumer, serveFiles } from './lock-world.ts';
import { makeData, schema } from './public-log-world.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-log-'));
  const config = { url: 'https://contracts.test', organizations: { acme: { defaults: { visibility: 'public' } } } };
  await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a static build has all that a consumer needs', async () => {
  const common = await makeData(folder, 'data', {
    '@acme/schemas/money': schema('1.0.0', 'string'),
    '@acme/schemas/rate': schema('1.0.0', 'number'),
  });
  const one = await openConsumer(folder);
  const built = await runHere(['build', '--precompressed', 'none', '--out', join(folder, 'site'), ...common]);
  expect(built).toMatchObject({ code: 0 });
  await using host = await serveFiles(join(folder, 'site'));
  const added = await one.run(`add @acme/schemas/money --as money.json --registry ${host.url}`);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect(await one.run(`verify --log ${host.url}`)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('2 versions as the log says') as string,
  });
  await rm(join(folder, 'site/@acme/schemas/rate@1.0.0/manifest.json'));
  const refused = await one.run(`add @acme/schemas/rate --as rate.json --registry ${host.url}`);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('sent no manifest of @acme/schemas/rate@1.0.0') as string,
  });
});
