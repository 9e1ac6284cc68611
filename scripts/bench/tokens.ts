/**
 * How many tokens a language model reads of a large API: the whole document, against one operation as
 * the MCP tool `read_operation` returns it. Prints a table in Markdown. Tokens are those of o200k_base.
 *
 *   node scripts/bench/tokens.ts
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { parse } from 'yaml';
import { operationName } from '../../src/model/outline.ts';
import { excerptOf } from '../../src/render/excerpt.ts';
import { outlineDocument } from '../../src/render/render.ts';

const corpus = join(import.meta.dirname, '../../../shared/corpus/openapi');
const documents = {
  GitHub: 'huge/api.github.com.json.gz',
  Plaid: 'huge/plaid-2020-09-14.yml.gz',
  Zoom: 'huge/zoom-us-oneline.json.gz',
  freee: 'company/freee-accounting-api-schema.json',
  Twilio: 'company/twilio/twilio_api_v2010.yaml',
};
/** Operations of each document that are measured, evenly from the first to the last. */
const sample = 40;

console.log('| API | operations | the whole document | one operation: median | 90 of 100 | largest |');
console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
for (const [name, file] of Object.entries(documents)) {
  const bytes = readFileSync(join(corpus, file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  const json = Buffer.from(JSON.stringify(/ya?ml/.test(file) ? parse(text, { maxAliasCount: -1 }) : JSON.parse(text)));
  const document = { type: 'apis', kind: 'openapi', json } as const;
  const { operations } = outlineDocument(document)!;
  const step = Math.max(1, operations.length / sample);
  const chosen = Array.from(
    { length: Math.min(sample, operations.length) },
    (_, at) => operations[Math.floor(at * step)]!,
  );
  const tokens = chosen
    .map((one) => countTokens(excerptOf(document, { operation: operationName(one), as: 'contract' })!))
    .sort((a, b) => a - b);
  const at = (part: number) => tokens[Math.min(tokens.length - 1, Math.floor(tokens.length * part))]!;
  const figures = [operations.length, countTokens(json.toString()), at(0.5), at(0.9), tokens.at(-1)!];
  console.log(`| ${[name, ...figures.map((figure) => figure.toLocaleString('en'))].join(' | ')} |`);
}
