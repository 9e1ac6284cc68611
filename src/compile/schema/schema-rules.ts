import { isObject } from '../../model/json.ts';
import type { ErrorObject } from 'ajv';
import type { Problem } from '../../model/problem.ts';
import { maxFindings, problemAt } from '../kind.ts';
import { adviseQuotes } from '../text/advise-quotes.ts';
import type { ParsedFile } from '../text/parse.ts';
import { followPointer, joinPointer } from '../text/pointer.ts';
import { createCheckMeta, readPattern } from './schema-check.ts';
import type { Dialect } from './schema-dialect.ts';
import { explainErrors } from './schema-findings.ts';
import type { Linked, Link } from './schema-link.ts';
import { chainProblem, longestChain } from '../reference-chains.ts';

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

interface Step {
  to: string;
  /** The reference that was followed. Null for a step into `allOf`. */
  link: Link | null;
}

/**
 * Finds references that go through too many others, and cycles of only `$ref` and `allOf`, which
 * never descend into the instance, so that validation never ends (JSON Schema 2020-12 §9.4.1).
 */
function findEndlessReferences(dialect: Dialect, { links, reached }: Linked): Problem[] {
  const steps = new Map<string, Step[]>();
  const add = (from: string, step: Step) => {
    const next = steps.get(from);
    if (next) next.push(step);
    else steps.set(from, [step]);
  };
  for (const link of links)
    if (link.target !== null && link.keyword === '$ref')
      add(keyOf(link.file, link.pointer), { to: keyOf(link.target.file, link.target.pointer), link });
  for (const [file, schemas] of reached) {
    for (const [pointer, schema] of schemas) {
      if (!isObject(schema) || !Array.isArray(schema['allOf'])) continue;
      if (dialect.refStandsAlone && typeof schema['$ref'] === 'string') continue;
      for (const at of schema['allOf'].keys())
        add(keyOf(file, pointer), { to: keyOf(file, joinPointer(pointer, 'allOf', at)), link: null });
    }
  }

  const problems: Problem[] = [];
  /** The number of references on the longest path from each schema. */
  const done = new Map<string, number>();
  let isLong = false;
  for (const start of steps.keys()) {
    // Depth first without recursion: a chain may be as long as the document has schemas.
    const way: { key: string; left: Step[]; references: Link[] }[] = [];
    const onWay = new Set<string>();
    const enter = (key: string, references: Link[]) => {
      way.push({ key, left: [...(steps.get(key) ?? [])], references });
      onWay.add(key);
    };
    if (!done.has(start)) enter(start, []);
    for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
      const step = last.left.pop();
      if (step === undefined) {
        onWay.delete(last.key);
        way.pop();
        let longest = 0;
        for (const { to, link } of steps.get(last.key) ?? []) {
          const length = (done.get(to) ?? 0) + (link === null ? 0 : 1);
          if (length > longestChain && link !== null && !isLong) problems.push(tooLong(link));
          isLong ||= length > longestChain;
          longest = Math.max(longest, length);
        }
        done.set(last.key, longest);
      } else if (onWay.has(step.to)) problems.push(...endless(step.link));
      else if (steps.has(step.to) && !done.has(step.to)) {
        const references = step.link === null ? last.references : [...last.references, step.link];
        // One chain that is too long is enough: the rest is not followed.
        if (references.length > longestChain) return [...problems, tooLong(references[0]!)];
        enter(step.to, references);
      }
    }
  }
  return problems;
}

function keyOf(file: ParsedFile, pointer: string): string {
  return `${file.path}#${pointer}`;
}

function tooLong(link: Link): Problem {
  return chainProblem(link.file, joinPointer(link.pointer, link.keyword), link.text);
}

function endless(link: Link | null): Problem[] {
  if (link === null) return [];
  const message = `The reference ${JSON.stringify(link.text.slice(0, 200))} points back to itself, so validation would never end. Remove the cycle.`;
  return [problemAt(link.file, joinPointer(link.pointer, link.keyword), 'ref-circular', message)];
}
