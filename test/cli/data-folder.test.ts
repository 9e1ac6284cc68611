import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'stele-data-folder-'));
const file = join(folder, 'registry.config.mjs');
writeFileSync(file, 'export default {};\n');

afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const foldersOf = async (data: string | null) => {
  const { store, cacheFolder } = await loadConfig(file, data);
  return [store.kind === 'fs' && store.path, cacheFolder];
};

test("a relative data folder starts at the shell's folder, wherever the configuration is", async () => {
  expect(await foldersOf('some/data')).toEqual([resolve('some/data'), resolve('some/data/cache')]);
  vi.stubEnv('STELE_DATA', 'other');
  expect(await foldersOf(null)).toEqual([resolve('other'), resolve('other/cache')]);
  expect(await foldersOf('/absolute')).toEqual(['/absolute', '/absolute/cache']);
});

test('without one, the data is beside the configuration', async () => {
  vi.stubEnv('STELE_DATA', '');
  expect(await foldersOf(null)).toEqual([join(folder, '.stele'), join(folder, '.stele/cache')]);
});
