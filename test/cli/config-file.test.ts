import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { runStele } from '../e2e/stele.ts';

describe('a configuration', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-config-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function load(name: string, text: string) {
    await writeFile(join(folder, name), text);
    return loadConfig(join(folder, name), null);
  }

  test.each([
    ['registry.config.json', '{ "$schema": "config.json", "url": "https://a.example" }'],
    ['registry.config.yaml', 'url: https://a.example # a comment\n'],
    ['registry.config.json', '\ufeff{ "url": "https://a.example" }'],
    ['registry.config.yaml', '\ufeffurl: https://a.example\n'],
  ])('is %s', async (name, text) => {
    expect(await load(name, text)).toMatchObject({ url: 'https://a.example' });
  });

  test.each([
    ['registry.config.json', '[]', 'is not an object with keys such as "url"'],
    ['registry.config.yml', '', 'is not an object with keys such as "url"'],
    ['registry.config.json', '{ "url": }', 'cannot be loaded: Unexpected token'],
    ['registry.config.yaml', 'url: a\nurl: b\n', /cannot be loaded: Map keys must be unique at line 2, column 1\.$/],
    ['registry.config.ts', 'export const url = 1;\n', 'has no default export'],
    ['registry.config.yaml', 'urls: a\n', 'urls is not expected here'],
  ])('in %s is refused: %j', async (name, text, message) => {
    await expect(load(name, text)).rejects.toThrow(message);
  });

  // As `npm init` of npm 11 writes it.
  test.each(['ts', 'js'])('in registry.config.%s of a package of the type commonjs is loaded', async (ending) => {
    await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }');
    await writeFile(join(folder, `registry.config.${ending}`), "export default { urls: 'a' };\n");
    const { code, stderr } = await runStele(['doctor'], { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining('urls is not expected here')]);
  });

  // Vitest would look for the package itself. Nothing is installed in the folder: the program gives its own `defineConfig`.
  test.each([
    ['ts', '@stele-registry/stele'],
    ['mjs', 'stele'],
  ])('in registry.config.%s takes defineConfig of %s', async (ending, name) => {
    await writeFile(
      join(folder, `registry.config.${ending}`),
      `import { defineConfig } from '${name}';\nexport default defineConfig({ urls: 'a' });\n`,
    );
    const ended = await runStele(['keys', 'list', '--org', 'acme'], { cwd: folder });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('urls is not expected here') as string });
  });

  test('is the one of the folder, and there is only one', async () => {
    await writeFile(join(folder, 'registry.config.yaml'), 'urls: a\n');
    const options = { cwd: folder };
    const one = await runStele(['keys', 'list', '--org', 'acme'], options);
    expect(one).toMatchObject({ code: 2, stderr: expect.stringContaining('urls is not expected here') as string });
    await writeFile(join(folder, 'registry.config.json'), '{}');
    const two = await runStele(['keys', 'list', '--org', 'acme'], options);
    expect(two).toMatchObject({
      code: 2,
      stderr:
        'There are two configurations, registry.config.json and registry.config.yaml. Delete one, or choose with --config.\n',
    });
  });
});
