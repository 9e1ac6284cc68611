import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dereference } from '../../src/render/json-value.ts';
import { readApi } from '../../src/render/openapi/api-view.ts';
import { viewOperation } from '../../src/render/openapi/operation-view.ts';
import { renderDocument } from '../../src/render/render.ts';
import { sampleOf } from '../sample.ts';
import { published } from './published.ts';

type Json = Record<string, unknown>;

const folder = '../shared/corpus/openapi';
const isThere = existsSync(folder);

/** The twelve largest documents of the corpus; two, or all where everything is tested. */
function largest(): [name: string, document: Json][] {
  const texts = ['company', 'huge', 'apis-guru'].flatMap((group) =>
    filesIn(group).map((file): [string, string] => {
      const bytes = readFileSync(join(folder, group, file));
      return [file, (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()];
    }),
  );
  const sorted = texts.toSorted(([, one], [, other]) => other.length - one.length).slice(0, 12);
  return sampleOf(sorted, 6, 4).map(([file, text]) => [
    file,
    (/\.json(\.gz)?$/.test(file) ? JSON.parse(text) : parse(text, { maxAliasCount: -1 })) as Json,
  ]);
}

function filesIn(group: string): string[] {
  return readdirSync(join(folder, group)).filter((file) => /\.(?:json|ya?ml)(?:\.gz)?$/.test(file));
}

describe.skipIf(!isThere)(isThere ? 'no field is lost' : 'skipped: the corpus is not there', () => {
  it.each(isThere ? largest() : [])(
    '%s: the fields of bodies and first answers are there, or a click away',
    (_, document) => {
      expect(lostIn(document)).toEqual([]);
    },
  );
});

/** The operations with a field of their body or of their first success that neither they nor one of their folds has. */
function lostIn(document: Json): string[] {
  const { html } = renderDocument(published(document))!;
  const sections = new Map(
    [...html.matchAll(/<section class="(?:operation|schema)" id="([^"]*)">.*?<\/section>/gs)].map(([text, id]) => [
      id!,
      text,
    ]),
  );
  const api = readApi(document);
  const lost: string[] = [];
  for (const { operation, anchor } of api.sections.flatMap(({ operations }) => operations)) {
    const view = viewOperation(document, operation);
    const success = view.responses.find(({ status }) => status.startsWith('2'));
    const text = sections.get(anchor) ?? '';
    const folds = [...text.matchAll(/<details class="later"><summary>[^<]*<\/summary><a href="#([^"]*)">/g)].map(
      ([, id]) => id!,
    );
    for (const [name, media, hidden] of [
      ['body', view.body?.media[0], 'readOnly'],
      ['answer', success?.media[0], 'writeOnly'],
    ] as const) {
      if (media === undefined) continue;
      const fields = fieldsOf(document, media.schema, hidden, new Set());
      const missing = fields.filter((field) => !hasField(text, field));
      const gone = missing.filter((field) => !folds.some((id) => hasField(sections.get(id) ?? '', field)));
      if (gone.length > 0) lost.push(`${operation.method} ${operation.path} ${name}: ${gone.join(' ')}`);
    }
  }
  return lost;
}

function hasField(html: string, name: string): boolean {
  const escaped = name.replace(/[&<>]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[one]!);
  return html.includes(`<code>${escaped}</code>`);
}

/** The names of the fields of a schema: of all parts of `allOf`, of what is in an array, and of the only one beside null. */
function fieldsOf(document: Json, schema: unknown, hidden: string, seen: Set<unknown>): string[] {
  const found = dereference(document, schema);
  if (found === null || seen.has(found)) return [];
  seen.add(found);
  const own = Object.entries((found['properties'] ?? {}) as Json)
    .filter(([, one]) => (one as Json | null)?.[hidden] !== true)
    .map(([name]) => name);
  const rest = ['oneOf', 'anyOf'].flatMap((key) =>
    ((found[key] ?? []) as Json[]).filter((one) => one['type'] !== 'null'),
  );
  const inside = [...((found['allOf'] ?? []) as unknown[]), ...(rest.length === 1 ? rest : [])];
  if (own.length + inside.length === 0) {
    const { items, additionalProperties } = found;
    if (typeof items === 'object' && items !== null) inside.push(items);
    else if (typeof additionalProperties === 'object' && additionalProperties !== null)
      inside.push(additionalProperties);
  }
  return [...new Set([...own, ...inside.flatMap((one) => fieldsOf(document, one, hidden, seen))])];
}
