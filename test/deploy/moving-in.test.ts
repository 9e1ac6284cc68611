import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDocs } from '../../src/site/docs/docs.ts';
import { runHere } from '../cli/in-process.ts';

/** The commands of the page "Moving in", in a folder as the page says, with what it shows. */

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readDocs().find(({ name }) => name === 'moving-in')!.markdown;
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text: text! }));
const scripts = blocks.filter(({ language, text }) => language === 'sh' && text.includes('versions-to-git'));
const shown = blocks.filter(({ language }) => language === 'text').map(({ text }) => text);

let folder: string;

function write(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const api = (version: string) => `openapi: 3.1.0\ninfo: {title: Payments, version: ${version}}\npaths: {}\n`;
const shell = (text: string) => execFileSync('bash', ['-euc', text], { cwd: folder, encoding: 'utf8' });
const historyOf = (name: string) =>
  shell(`git -C ${name} log --reverse --format='%as %D' | sed 's/HEAD -> main, //; s/tag: //'`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stele-moving-'));
  mkdirSync(join(folder, 'node_modules/@stele-registry'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules/@stele-registry/stele'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a folder of versions is published from its history, with its dates', async () => {
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) write({ [`old/payments/${version}.yaml`]: api(version) });
  const [, listed, synced] = shown;
  write({
    'old/dates.tsv': listed!
      .split('\n')
      .filter((line) => line.includes('\t'))
      .join('\n'),
  });
  expect(shell(blocks.find(({ text }) => text.startsWith('find old'))!.text)).toContain(listed!.trimEnd());
  expect(shell(scripts[0]!.text)).toBe(shown[0]);
  expect(historyOf('contracts')).toBe(
    '2023-05-01 payments-v1.0.0\n2024-02-11 payments-v1.1.0\n2025-03-20 payments-v2.0.0\n',
  );
  write({ 'registry.config.json': blocks.find(({ language }) => language === 'json')!.text });
  const sync = await runHere(['sync'], { cwd: folder });
  expect(sync).toMatchObject({ code: 0, stdout: synced });
});

test('an export of Apicurio Registry', () => {
  const version = (id: number, label: string, createdOn: number, more = {}) => ({
    [`export/groups/default/artifacts/Payments.API/versions/${label}.ArtifactVersion.json`]: JSON.stringify({
      groupId: 'default',
      artifactId: 'Payments.API',
      version: label,
      globalId: id,
      contentId: id,
      createdOn,
      state: 'ENABLED',
      ...more,
    }),
    [`export/content/${id}.Content.json`]: JSON.stringify({ contentId: id, artifactType: 'OPENAPI' }),
    [`export/content/${id}.Content.data`]: api(label),
  });
  write({
    'export/manifest-2025.Manifest.json': '{"systemVersion":"3.0.6"}',
    ...version(7, '1.0.0', Date.UTC(2024, 0, 5)),
    ...version(9, '1.1.0', Date.UTC(2024, 5, 5)),
    ...version(11, '1.2.0', Date.UTC(2024, 6, 5), { state: 'DISABLED' }),
  });
  rmSync(join(folder, 'contracts'), { recursive: true, force: true });
  expect(shell(scripts[1]!.text)).toBe('contracts: 1 document, 2 versions\n');
  expect(historyOf('contracts')).toBe('2024-01-05 payments-api-v1.0.0\n2024-06-05 payments-api-v1.1.0\n');
});

test('a catalogue of Backstage, and what has no definition in it', () => {
  const definition = api('3.1.0').replaceAll('\n', '\n    ').trimEnd();
  write({
    'catalog/pay/catalog-info.yaml': [
      'kind: Component\nmetadata: {name: pay}\n',
      `kind: API\nmetadata: {name: pay-api}\nspec:\n  type: openapi\n  definition: |\n    ${definition}\n`,
      'kind: API\nmetadata: {name: elsewhere}\nspec:\n  definition: {$text: ./openapi.yaml}\n',
    ].join('---\n'),
  });
  rmSync(join(folder, 'contracts'), { recursive: true, force: true });
  expect(shell(scripts[2]!.text)).toBe('contracts: 1 document, 1 version\n');
  expect(shell('git -C contracts tag')).toBe('pay-api-v3.1.0\n');
});

test('a folder that exists, and a date that is none, are refused', () => {
  const refused = (text: string) => {
    try {
      return shell(`${text} 2>&1`);
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };
  expect(refused(scripts[0]!.text.trim())).toContain('contracts exists already');
  write({ 'bad/pay/1.0.0.yaml': api('1.0.0'), 'bad/dates.tsv': 'pay/1.0.0.yaml\tsoon\n' });
  expect(refused(scripts[0]!.text.trim().replace('old contracts', 'bad other'))).toContain('soon is not a date');
});
