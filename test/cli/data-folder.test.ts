import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { runHere } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'stele-data-folder-'));
const file = join(folder, 'registry.config.mjs');
writeFileSync(file, 'export default {};\n');

afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const foldersOf = async (data: string | null) => {
  const { store, cacheFolder } = await loadConfig(file, data);
  return ['path' in store && store.path, cacheFolder];
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

test('a server that cannot read its store at the start ends, and leaves no port open', async () => {
  const cwd = join(folder, 'unreadable');
  mkdirSync(join(cwd, 'data/log'), { recursive: true });
  writeFileSync(join(cwd, 'data/format'), '{"format":2}');
  symlinkSync('registry', join(cwd, 'data/log/registry'));
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => probe.once('listening', listening));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  writeFileSync(join(cwd, 'registry.config.json'), JSON.stringify({ drain: 0, log: { level: 'silent' } }));
  const { code } = await runHere(['serve', '--port', `${port}`, '--data', 'data'], { cwd });
  expect(code).not.toBe(0);
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

test('a folder that cannot be read is no folder without a backup', async () => {
  const loop = join(folder, 'loop');
  symlinkSync(loop, loop);
  const unreadable = { code: 3, stderr: expect.stringContaining('ELOOP') };
  const common = ['--config', file, '--data', join(folder, 'data')];
  expect(await runHere(['restore', loop, ...common])).toMatchObject(unreadable);
  mkdirSync(join(folder, 'data'), { recursive: true });
  writeFileSync(join(folder, 'data/format'), '{"format":2}');
  expect(await runHere(['fsck', '--repair', '--from', loop, ...common])).toMatchObject(unreadable);
});
