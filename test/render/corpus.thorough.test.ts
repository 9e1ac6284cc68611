import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { operationName, createAnchors } from '../../src/model/outline.ts';
import { outlineDocument, renderDocument } from '../../src/render/render.ts';
import { limits } from '../compile/limits.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { published } from './published.ts';
import { sampleOf } from '../sample.ts';
import { checkHtml, checkPage } from './strict-html.ts';

const corpus = '../shared/corpus';
const isThere = existsSync(corpus);

function filesBelow(folder: string): string[] {
  return readdirSync(join(corpus, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:json|ya?ml)(?:\.gz)?$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(corpus.length + 1))
    .sort();
}

function read(file: string): unknown {
  const bytes = readFileSync(join(corpus, file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return /\.json(?:\.gz)?$/.test(file)
    ? JSON.parse(text)
    : parse(text, { maxAliasCount: -1, merge: true, logLevel: 'silent' });
}

function isDocument(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const folders = [
  'openapi/apis-guru',
  'openapi/company',
  'openapi/huge',
  'openapi/oai-examples',
  'openapi/oai-v3.0-pass',
  'openapi/traps',
  'jsonschema/schemastore',
  'rulesets/redocly',
  'rulesets/spectral',
  'rulesets/spectral-fixtures',
];

/**
 * Every twelfth document of each folder; one also in the sandbox. A long one
 * is in the sandbox of `test/e2e/browser/pages.test.ts`.
 */
describe.skipIf(!isThere)(isThere ? 'the corpus of documents' : 'skipped: the corpus is not there', () => {
  it.each(folders)(
    '%s: every page is well-formed, has each id once, and every link on it leads to its place',
    (folder) => {
      let pages = 0;
      for (const file of sampleOf(filesBelow(folder), 12)) {
        const value = readOrNull(file);
        if (!isDocument(value)) continue;
        const document = published(value);
        const rendered = renderDocument(document)!;
        expect([file, checkPage(rendered)]).toEqual([file, []]);
        expect([file, rendered.truncated]).toEqual([file, false]);
        pages++;
        const { ids } = checkHtml(rendered.html);
        expect([file, missingAnchors(document, new Set(ids))]).toEqual([file, []]);
      }
      expect(pages).toBeGreaterThan(0);
    },
  );

  it('a document in the sandbox: the same page', async () => {
    const document = published(read('openapi/company/train-travel-3.1.yaml'));
    const rendered = (await shareCompiler().render(document, limits))!;
    expect(rendered.truncated).toBe(false);
    const own = renderDocument(document)!;
    expect([rendered.html === own.html, rendered.markdown === own.markdown]).toEqual([true, true]);
    expect(rendered.navigation).toBe(own.navigation);
  });

  it('everything that is not a document, or a broken one, has a page too', () => {
    for (const file of sampleOf(filesBelow('invalid'), 4)) {
      const value = readOrNull(file);
      const rendered = renderDocument(published(value));
      expect([file, rendered === null]).toEqual([file, !isDocument(value)]);
      if (rendered !== null) expect([file, checkPage(rendered)]).toEqual([file, []]);
    }
  });
});

/** What search would link to, by the outline alone, and the page does not have. */
function missingAnchors(document: Parameters<typeof outlineDocument>[0], ids: ReadonlySet<string>): string[] {
  const { operations, schemas, rules } = outlineDocument(document)!;
  const anchors = createAnchors();
  return [
    ...operations.map((operation) => [operationName(operation), anchors.operation(operation)]),
    ...schemas.map(({ name }) => [name, anchors.schema(name)]),
    ...rules.map(({ name }) => [name, anchors.rule(name)]),
  ]
    .filter(([, anchor]) => !ids.has(anchor!))
    .map(([name, anchor]) => `${name}: ${anchor}`);
}

function readOrNull(file: string): unknown {
  try {
    return read(file);
  } catch {
    return null;
  }
}
