import { isObject } from '../../model/json.ts';
import type { ErrorObject } from 'ajv';
import type { Problem } from '../../model/problem.ts';
import { maxFindings, problemAt } from '../kind.ts';

import { adviseQuotes } from '../text/advise-quotes.ts';
import type { ParsedFile } from '../text/parse.ts';
import { followPointer, joinPointer } from '../text/pointer.ts';
import { createCheckMeta, readPattern } from './schema-check.ts';
import { findEndlessReferences } from './schema-cycles.ts';
import { type Dialect } from './schema-dialect.ts';
import { explainErrors } from './schema-findings.ts';
import type { Linked } from './schema-link.ts';

const checkMeta = createCheckMeta();

/** Checks the entry and everything that it references against the meta-schema and ECMA-262. */
export function checkSchemas(entry: ParsedFile, dialect: Dialect, linked: Linked): Problem[] {
  const { links, reached } = linked;
  const roots = new Map<ParsedFile, Set<string>>([[entry, new Set([''])]]);
  for (const { target } of links) {
    if (target === null) continue;
    const pointers = roots.get(target.file) ?? new Set<string>();
    roots.set(target.file, pointers.add(target.pointer));
  }
  const problems = findEndlessReferences(dialect, linked);
  // A document over this limit is rejected anyway. The rest costs as much as the document is large.
  if (problems.some(({ rule }) => rule === 'limit-references')) return problems;
  for (const [file, pointers] of roots) {
    for (const pointer of pointers) {
      if (hasAncestor(pointer, pointers)) continue;
      const located = followPointer(file.value, pointer);
      if (located.found)
        problems.push(...schemaProblems(file, pointer, located.value, checkMeta(dialect, located.value)));
    }
  }
  const wrong: Problem[] = [];
  for (const [file, schemas] of reached) {
    for (const [pointer, schema] of schemas) {
      if (wrong.length < maxFindings) wrong.push(...checkPatterns(file, pointer, schema));
    }
  }
  return [...problems, ...wrong];
}

function hasAncestor(pointer: string, pointers: ReadonlySet<string>): boolean {
  for (let at = pointer.lastIndexOf('/'); at >= 0; at = pointer.lastIndexOf('/', at - 1)) {
    if (pointers.has(pointer.slice(0, at))) return true;
    if (at === 0) break;
  }
  return false;
}

/**
 * Turns validation errors into problems, one per position. `pointer`: the validated value in the
 * file.
 */
export function schemaProblems(
  file: ParsedFile,
  pointer: string,
  value: unknown,
  errors: readonly ErrorObject[],
): Problem[] {
  return explainErrors(errors, value).map((finding) =>
    problemAt(
      file,
      pointer + finding.pointer,
      'schema',
      adviseQuotes(file, pointer + finding.pointer, finding.message),
      { on: finding.on },
    ),
  );
}

function checkPatterns(file: ParsedFile, pointer: string, schema: unknown): Problem[] {
  if (!isObject(schema)) return [];
  const problems: Problem[] = [];
  const check = (pattern: string, at: string, on: 'key' | 'value') => {
    try {
      readPattern(pattern);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problems.push(
        problemAt(
          file,
          at,
          'schema-pattern',
          `This pattern is not a valid ECMA-262 regular expression: ${error.message}.`,
          {
            on,
          },
        ),
      );
    }
  };
  if (typeof schema['pattern'] === 'string') check(schema['pattern'], joinPointer(pointer, 'pattern'), 'value');
  if (isObject(schema['patternProperties']))
    for (const pattern of Object.keys(schema['patternProperties']))
      check(pattern, joinPointer(pointer, 'patternProperties', pattern), 'key');
  return problems;
}
