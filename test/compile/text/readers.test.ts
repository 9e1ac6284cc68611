import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinPointer } from '../../../src/model/pointer.ts';
import { read, parses } from './readers-world.ts';
import { timesAsMany } from '../../sample.ts';

describe('JSON', () => {
  it('is read with the place of every node', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4 }),
        fc.constantFrom(undefined, 1, '\t'),
        fc.constantFrom('', '\n# c'),
        (json, space, comment) => {
          const value: unknown = JSON.parse(json);
          const text = JSON.stringify(value, null, space);
          const lines = text.split('\n');
          // With a comment the events place it.
          const parsed = read(comment === '' ? 'a.json' : 'a.yaml', text + comment);
          if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
          const visit = (node: unknown, pointer: string): void => {
            const { line, column } = parsed.file.locate(pointer);
            const rest = lines[line - 1]!.slice(column - 1);
            expect([pointer, rest.startsWith(JSON.stringify(node, null, space).split('\n')[0]!)]).toEqual([
              pointer,
              true,
            ]);
            if (typeof node === 'object' && node !== null)
              for (const [key, child] of Object.entries(node)) visit(child, joinPointer(pointer, key));
          };
          visit(value, '');
        },
      ),
    );
  });

  it('is what JSON.parse accepts', () => {
    const piece = fc.constantFrom(...'{ } [ ] , : " "a" \\ \\u12 1 - .5 e9 true nul 0 //'.split(' '), ' ', '\n', '\0');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect(read('a.json', text).ok).toBe(parses(text));
      }),
      { numRuns: 750 * timesAsMany },
    );
  });

  it.each([
    ['[1, 2, x, 3]', 1, 8, 'Expected a JSON value here.'],
    ['{"a": [1, 2,\n ]}', 2, 2, 'Trailing comma before "]". Remove the comma.'],
    ['{"a" 1}', 1, 6, "Expected ':' after property name."],
    ['[1 2]', 1, 4, "Expected ',' or ']' after array element."],
    ['["\\x"]', 1, 4, 'Invalid escape sequence in a string.'],
    ['["abc', 1, 6, 'Unexpected end of file inside a string.'],
    ['{"a": tru}', 1, 10, 'Expected a JSON value here.'],
    ['{}\n{}', 2, 1, 'Unexpected text after the end of the document.'],
    [`[${'1, '.repeat(1000)}nul, 1]`, 1, 3005, 'Expected a JSON value here.'],
  ])('says where %s stops to be JSON', (text, line, column, message) => {
    expect(read('a.json', text).problems).toEqual([
      expect.objectContaining({ line, column, message, rule: 'json-syntax' }),
    ]);
  });
});
