import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSettings } from '../compile/read-settings.ts';
import { createPathGlob } from '../../src/model/glob.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import { missing } from '../../src/source/lookup.ts';
import { limits } from '../compile/limits.ts';
import { createWorld } from '../registry/world.ts';

/** What content/docs/stele-yaml.md says is held against the code. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('content/docs/stele-yaml.md');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)^ *\`\`\`$`, 'gms'))].map(([, indent, text]) =>
    text!.replaceAll(new RegExp(`^${indent!}`, 'gm'), ''),
  );
const section = (title: string) => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`))!;
const rows = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
    );

test('every example is one that Stele takes', () => {
  const examples = blocks('yaml');
  expect(examples).toHaveLength(5);
  for (const example of examples) {
    const { settings, report } = readSettings({ path: 'stele.yaml', bytes: Buffer.from(example) }, limits);
    expect(report.problems, example).toEqual([]);
    expect(settings).not.toBeNull();
  }
});

test('every key is documented, and no other', () => {
  const schema = JSON.parse(read('content/schemas/repository.json')) as {
    properties: { resources: { items: { properties: object } }; defaults: { properties: object } };
  };
  const entries = Object.keys(schema.properties.resources.items.properties);
  const told = rows(section('Keys'));
  expect(told.map(([key]) => key).sort()).toEqual([...Object.keys(schema.properties), ...entries].sort());
  const inDefaults = told.filter((cells) => cells.length === 4 && cells[3] !== '').map(([key]) => key!);
  expect(inDefaults.sort()).toEqual(Object.keys(schema.properties.defaults.properties).sort());
});

test('patterns take what the page says', () => {
  const told = rows(section('Patterns'));
  expect(told).toHaveLength(5);
  for (const [pattern, path, ...taken] of told) {
    const found = createPathGlob(pattern!)(path!);
    expect([...found!, ''].slice(0, 2), pattern).toEqual(taken);
  }
});

test('every source of versions is one that Stele takes', () => {
  const [, ...told] = rows(section('Versions'));
  expect(told).toHaveLength(5);
  for (const [source] of told) {
    const text = `resources: [{path: a.yaml, version: ${source!}}]`;
    expect(readSettings({ path: 'stele.yaml', bytes: Buffer.from(text) }, limits).report.problems).toEqual([]);
  }
});

test('what is said of mistakes is what Stele says', async () => {
  const said = await Promise.all(
    [
      'resources:\n  - path: a.yaml\n    slug: a\n    visiblity: public\n',
      'resources:\n  - path: apis/paymets.yaml\n',
      'resources:\n  - path: a.yaml\n    ruleset: "@acme/rulesets/style"\n',
    ].map(async (text) => {
      const { registry, source } = createWorld();
      const url = 'https://git.test/acme/a.git';
      const given = { url, branch: null, credential: null, visibility: 'private', validation: 'strict' } as const;
      const id = await follow(registry, 'acme', { ...given, discover: '' });
      source.push(url, { 'stele.yaml': text, 'a.yaml': 'openapi: 3.1.0\n' });
      const { snapshot } = source;
      source.snapshot = async (...args) => {
        const made = await snapshot(...args);
        const files = async (paths: readonly string[]) =>
          (await made.read(paths)).map((file) => (file.found ? file : missing(file.path, null)));
        return { ...made, read: files };
      };
      const run = await (await createSyncQueue(registry, createPulls).request('acme', id, 'manual')).done;
      return `${run.documents[0]!.detail}\n`;
    }),
  );
  expect(said).toEqual(blocks('text'));
});
