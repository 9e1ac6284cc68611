import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { checkConfig, defineConfig, type UserConfig } from '../src/config.ts';

/** What the documentation says is held against the code. */

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('the configuration of content/docs/operating.md is one that Stele takes', async () => {
  const [, block] = /```ts\n(.*?)```/s.exec(read('content/docs/operating.md'))!;
  const code = stripTypeScriptTypes(block!)
    .replace(/^import .*$/m, '')
    .replace('export default', 'return');
  const make = new Function('defineConfig', code) as (define: typeof defineConfig) => UserConfig;
  const config = checkConfig(make(defineConfig), { base: '/', data: '.stele' });
  expect(config).toMatchObject({ url: 'https://contracts.example.com', proxies: 1 });
  expect(config.organizations['acme']!.repositories).toHaveLength(2);
});

test('files that the documentation names are there', () => {
  const folders = new Map([
    ['README.md', ''],
    ['src/README.md', 'src/'],
    ...readdirSync(new URL('../docs', import.meta.url)).map((name) => [`docs/${name}`, ''] as const),
  ]);
  const named = [...folders].flatMap(([document, base]) =>
    [...read(document).matchAll(/`((?:src|test|docs|content|scripts|[a-z]+)\/[\w./-]+\.(?:ts|md|json|yaml))`/g)].map(
      ([, path]) => ({ document, path: /^(?:src|test|docs|content|scripts)\//.test(path!) ? path! : `${base}${path}` }),
    ),
  );
  expect(named.length).toBeGreaterThan(15);
  const absent = named.filter(({ path }) => !exists(path));
  expect(absent).toEqual([]);
});

function exists(path: string): boolean {
  try {
    read(path);
    return true;
  } catch {
    return false;
  }
}
