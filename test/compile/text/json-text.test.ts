import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from '../../../src/compile/text/json-text.ts';
import { joinPointer } from '../../../src/compile/text/pointer.ts';

const walls = { depth: 100_000, nodes: 1_000_000 };
const suite = '../shared/corpus/invalid/json-test-suite';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('scanJson', () => {
  it('takes what JSON.parse takes, and finds every node of it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (json, space) => {
        const value: unknown = JSON.parse(json);
        const text = JSON.stringify(value, null, space);
        const scanned = scanJson(text, walls);
        expect(scanned.ok).toBe(true);
        const visit = (node: unknown, pointer: string): void => {
          const { value: offset } = scanned.find(pointer);
          expect(text.slice(offset)).toSatisfy((rest: string) =>
            rest.startsWith(JSON.stringify(node, null, space)[0]!),
          );
          if (typeof node === 'object' && node !== null)
            for (const [key, child] of Object.entries(node)) visit(child, joinPointer(pointer, key));
        };
        visit(value, '');
      }),
    );
  });

  it('refuses and takes the same texts as JSON.parse', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '\\',
      '\\u12',
      '1',
      '-',
      '.5',
      'e9',
      ' ',
      '\n',
      'true',
      'nul',
      '\0',
      '0',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect(scanJson(text, walls).ok).toBe(parses(text));
      }),
      { numRuns: 3000 },
    );
  });

  it.skipIf(!existsSync(suite))(
    existsSync(suite) ? 'agrees with JSON.parse on the JSON test suite' : 'skipped: the corpus is not there',
    () => {
      const files = readdirSync(suite).filter((name) => name.endsWith('.json'));
      expect(files.length).toBeGreaterThan(100);
      for (const name of files) {
        const text = readFileSync(join(suite, name), 'utf8');
        expect([name, scanJson(text, walls).ok]).toEqual([name, parses(text)]);
      }
    },
  );
});
