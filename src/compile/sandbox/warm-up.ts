import { digestOf } from '../../model/digest.ts';
import type { CompileInput } from '../compile.ts';
import { runCompile } from '../run.ts';

const limits: CompileInput['limits'] = {
  fileBytes: 10_000,
  bundleBytes: 10_000,
  files: 10,
  depth: 100,
  aliases: 10,
  nodes: 1000,
  seconds: 10,
  memoryMegabytes: 1000,
};

const rules = '{"extends":["recommended"]}';
const ruleset = { digest: digestOf(rules), name: 'rules', json: rules };
const versions = ['swagger: "2.0"', 'openapi: 3.0.4', 'openapi: 3.1.2', 'openapi: 3.2.0'];

/** One valid and one invalid document of each version of OpenAPI, a JSON Schema and a ruleset. */
const documents = [
  ...versions.map((version) => `${version}\ninfo: {title: Pets, version: "1"}\npaths: {}\n`),
  ...versions.map((version) => `${version}\ninfo: {title: 1}\npaths: {/pets: {get: {responses: 1}}}\n`),
  '$schema: https://json-schema.org/draft/2020-12/schema\ntype: object\n',
  'extends: [recommended]\n',
];

/**
 * Compiles small documents and forgets the results. A snapshot of the process then holds what the
 * libraries prepare for the first document of a kind, such as compiled schemas.
 */
export async function warmUp(): Promise<void> {
  for (const document of documents) {
    const bytes = Buffer.from(document);
    const load = (paths: string[]) => Promise.resolve(paths.map((path) => ({ path, bytes })));
    const input = { type: null, entry: 'document.yaml', validation: 'strict', limits } as const;
    for (const given of [null, ruleset]) await runCompile({ ...input, ruleset: given }, load);
  }
}
