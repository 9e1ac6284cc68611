import { afterAll, beforeAll } from 'vitest';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
import type { Sandboxes } from '../../../src/compile/sandboxes.ts';

/** A small document without a finding. */
export const valid = 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\n';
/** Takes a second of CPU time or more, and many megabytes: very many references, as a large document may have. */
export const slow = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'x', version: '1' },
  paths: {},
  components: {
    schemas: {
      a: {
        properties: Object.fromEntries(
          Array.from({ length: 60_000 }, (_, at) => [`p${at}`, { $ref: '#/components/schemas/b' }]),
        ),
      },
      b: { type: 'string' },
      // A reference through another one: so redocly visits all of them.
      c: { $ref: '#/components/schemas/b' },
      d: { $ref: '#/components/schemas/c' },
    },
  },
});

/** A compiler with sandboxes of its own, for all tests of the file that calls it. */
export function openCompilerHere(): Pick<Sandboxes, 'compile'> {
  let compiler: Sandboxes;
  beforeAll(() => {
    compiler = openCompiler({ children: 2 });
  });
  afterAll(() => compiler.close());
  return { compile: (...given) => compiler.compile(...given) };
}
