import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Document } from 'yaml';
import { sampleOf } from '../../sample.ts';
import { read, parses } from './readers-world.ts';

const corpus = '../shared/corpus';
const hasCorpus = existsSync(corpus);
const suite = join(corpus, 'invalid/json-test-suite');

/** What the `yaml` package reads although this reader refuses it, and why it is refused. */
const refusedHere: Record<string, RegExp> = {
  'invalid/swagger-parser/issue-1105/swagger-api.yaml': /^yaml-syntax: This line must be indented more/,
  'invalid/swagger-parser/oas.yaml': /^yaml-syntax: This line must be indented more/,
};

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => ending.test(path));
}

/** The value that the `yaml` package reads, with keys by their text. Undefined if it refuses the document. */
function readByYaml(text: string): unknown {
  const documents = parseAllDocuments(text, {
    schema: 'core',
    merge: true,
    uniqueKeys: false,
    resolveKnownTags: false,
  });
  if (!Array.isArray(documents) || documents.length !== 1) return undefined;
  const [document] = documents as Document.Parsed[];
  return document!.errors.length > 0 ? undefined : plain(document!.contents, document!);
}

function plain(node: unknown, document: Document.Parsed): unknown {
  if (isAlias(node)) return plain(node.resolve(document), document);
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item) => plain(item, document));
  if (!isMap(node)) return null;
  const own: Record<string, unknown> = {};
  const merged: Record<string, unknown>[] = [];
  for (const { key, value } of node.items) {
    const name = isAlias(key) ? key.resolve(document) : key;
    const text = isScalar(name) ? (typeof name.value === 'string' ? name.value : String(name.source)) : null;
    if (text === '<<' && isScalar(name) && name.type === 'PLAIN')
      merged.push(...([plain(value, document)].flat() as Record<string, unknown>[]));
    else if (text !== null) own[text] = plain(value, document);
  }
  return Object.assign({}, ...merged.reverse(), own);
}

describe.skipIf(!hasCorpus)(hasCorpus ? 'the corpus' : 'skipped: the corpus is not there', () => {
  it('has the same values in YAML as with the yaml package, or a reason', () => {
    let same = 0;
    const files = sampleOf(filesIn(corpus, /\.ya?ml$/).sort(), 4);
    for (const path of files) {
      const bytes = readFileSync(join(corpus, path));
      const parsed = read(path, bytes);
      if (parsed.ok) {
        if (parsed.problems.length > 0) continue;
        expect([path, parsed.file.value]).toEqual([path, readByYaml(parsed.file.text)]);
        same++;
      } else if (!parsed.problems[0]!.rule.startsWith('encoding') && readByYaml(bytes.toString()) !== undefined) {
        const { rule, message } = parsed.problems[0]!;
        if (!/^(?:control-character|yaml-syntax: The file has no content)/.test(`${rule}: ${message}`))
          expect([path, `${rule}: ${message}`]).toEqual([path, expect.stringMatching(refusedHere[path] ?? /^$/)]);
      }
    }
    expect(same).toBeGreaterThan(files.length / 2);
  }, 300_000);

  it('has the same values in JSON as with JSON.parse, and by events alone', () => {
    let same = 0;
    for (const path of filesIn(corpus, /\.json$/)) {
      const bytes = readFileSync(join(corpus, path));
      const parsed = read(path, bytes);
      if (!parsed.ok) {
        if (!/^(?:encoding|limit-)/.test(parsed.problems[0]!.rule))
          expect([path, parses(bytes.toString())]).toEqual([path, false]);
        continue;
      }
      expect([path, parsed.file.value]).toEqual([path, JSON.parse(parsed.file.text)]);
      // A comment makes the same text YAML, which has fewer characters.
      const byEvents = read('a.yaml', `${parsed.file.text}\n# comment`);
      if (bytes.length < 300_000 && byEvents.problems[0]?.rule !== 'control-character') {
        expect([path, byEvents.ok && byEvents.file.value]).toEqual([path, parsed.file.value]);
        expect([path, byEvents.problems.map(({ rule, line, column }) => [rule, line, column])]).toEqual([
          path,
          parsed.problems.map(({ rule, line, column }) => [rule, line, column]),
        ]);
      }
      same++;
    }
    expect(same).toBeGreaterThan(500);
  }, 300_000);

  it('agrees with JSON.parse on the JSON test suite', () => {
    const files = filesIn(suite, /\.json$/);
    expect(files.length).toBeGreaterThan(100);
    for (const name of files) {
      const text = readFileSync(join(suite, name), 'utf8').replace(/^\ufeff/, '');
      const { ok, problems } = read('a.json', text);
      if (ok || !problems[0]!.rule.startsWith('limit-')) expect([name, ok]).toEqual([name, parses(text)]);
    }
  });
});
