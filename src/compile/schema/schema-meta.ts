import { isObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { isParsed, problemAt, type KindInput } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { createCheckBy } from './schema-check.ts';
import { dialectOf, type Dialect } from './schema-dialect.ts';
import { metaUrlOf } from './schema-refs.ts';
import { schemaProblems } from './schema-rules.ts';

/** A meta-schema that is a schema of the registry. */
export interface OwnMeta {
  schema: Record<string, unknown>;
  /** The dialect that it is written in, by which its schemas are read. */
  dialect: Dialect;
}

/** The schema of the registry that a document names as its `$schema`, or why it cannot be read. Null: it names none. */
export function findMeta({ entry, files }: KindInput): OwnMeta | { problem: Problem } | null {
  const url = metaUrlOf(entry.value);
  if (url === null) return null;
  const file = files.get(url);
  const fault = (rule: string, why: string) => ({
    problem: problemAt(entry, '/$schema', rule, `The $schema ${JSON.stringify(url.slice(0, 200))} ${why}`),
  });
  if (file === undefined) return fault('ref-remote', 'points to a URL that is not read here.');
  if (!isParsed(file))
    return fault(file.problem?.rule ?? 'ref-unresolved', `does not resolve. ${file.problem?.message}`);
  const stated = isObject(file.value) ? file.value['$schema'] : undefined;
  const dialect = typeof stated === 'string' ? dialectOf(stated) : null;
  if (dialect === null || !isObject(file.value))
    return fault('schema-dialect', 'is not a JSON Schema with a "$schema" that names a draft.');
  return { schema: file.value, dialect };
}

/** Checks a schema against a meta-schema of the registry. */
export function checkByMeta(entry: ParsedFile, { schema, dialect }: OwnMeta): Problem[] {
  const check = createCheckBy(dialect, schema);
  if (check === null)
    return [
      problemAt(entry, '/$schema', 'schema', 'The schema that "$schema" names cannot be compiled as a meta-schema.'),
    ];
  return schemaProblems(entry, '', entry.value, check(entry.value));
}
