import { dataKeywords } from '../../model/openapi-shape.ts';
import { toDoubles } from '../../model/exact-numbers.ts';
import { isObject } from '../../model/json.ts';
import { objectOf } from '../../render/json-value.ts';
import type { Problem } from '../../model/problem.ts';
import { kinds } from '../../model/kinds.ts';
import {
  beginsWith,
  collectProblems,
  firstText,
  isParsed,
  maxFindings,
  problemAt,
  type CompileKind,
  type DocumentKind,
  type KindInput,
  type KindResult,
} from '../kind.ts';
import { type ParsedFile, numberAt } from '../text/parse.ts';
import { findLongChain } from '../reference-chains.ts';
import { bundleSchema } from './schema-bundle.ts';
import { assumedDialect, checkCompiles, createCheckBy, checkSchemas, schemaProblems } from './schema-check.ts';
import { dialectOf, dialects, type Dialect } from './schema-dialect.ts';
import { linkSchema } from './schema-link.ts';
import { metaUrlOf, schemaAddresses, schemaReferencePaths } from './schema-index.ts';

const supported = Object.keys(dialects).join(', ');

/**
 * Compiles a JSON Schema of draft-04, 06, 07, 2019-09 or 2020-12. It is valid if the official
 * meta-schema accepts it and every file that it references, every reference resolves inside them,
 * every pattern is a regular expression, and ajv compiles the bundle.
 */
export const compileJsonSchema: CompileKind = async (given) => {
  const { entry, input } = given;
  const root = objectOf(entry.value);
  const stated = root['$schema'];
  const meta = findMeta(given);
  if (meta !== null && 'problem' in meta) return result(given, null, [meta.problem], null);
  const named = typeof stated === 'string' ? dialectOf(stated) : stated === undefined ? assumedDialect : null;
  const dialect = meta?.dialect ?? named;
  if (dialect === null || (!isObject(entry.value) && typeof entry.value !== 'boolean'))
    return result(given, dialect, [unreadable(entry, stated)], null);
  const { problems, note } = collectProblems(entry);
  if (stated === undefined) {
    const message = `The schema has no "$schema"; ${dialect.name} is assumed. Add "$schema" to choose a dialect.`;
    note('schema-dialect-assumed', '', message, { severity: 'info' });
  }
  for (const member of ['version', 'x-version']) {
    const written = numberAt(entry, `/${member}`);
    if (written === null) continue;
    const message = `"${member}" is the number ${String(root[member])} and is not read as a version. Put it in quotes: ${JSON.stringify(written)}.`;
    note('version-number', `/${member}`, message, { severity: 'warning' });
  }
  // Must run before anything follows references: the cost of a chain is out of proportion to its text.
  const chain = findLongChain(given.files, (key, child) => dataKeywords.has(key) || hasOwnBase(dialect, child));
  if (chain !== null) return result(given, dialect, [...problems, chain], null);
  const linked = linkSchema(given, dialect);
  const others = [...linked.reached.keys()].filter((file) => meta === null || file !== entry);
  const mixed = findMixed(dialect, others);
  const blocking = [...linked.problems, ...mixed];
  // A schema with that many errors is rejected without further checks.
  const findings = blocking.length < maxFindings ? checkSchemas(entry, dialect, linked) : [];
  if (meta !== null && findings.length === 0) findings.push(...checkByMeta(entry, meta));
  const ease = (found: Problem[]) => (input.validation === 'strict' ? found : found.map(asWarning));
  problems.push(...blocking, ...ease(findings));
  const used = new Set([...linked.reached.keys()].map(({ path }) => path));
  if (blocking.length > 0) return { ...result(given, dialect, problems, null), used };
  const { bundle: linkedBundle, problems: bundling } = bundleSchema(entry, dialect, linked);
  // Readers know the drafts of JSON Schema, and not what somebody added to them.
  const bundle = meta !== null && isObject(linkedBundle) ? { ...linkedBundle, $schema: dialect.uri } : linkedBundle;
  problems.push(...bundling);
  if (findings.length === 0 && bundling.length === 0)
    problems.push(...ease(checkBundle(entry, dialect, toDoubles(bundle))));
  return { ...result(given, dialect, problems, bundling.length > 0 ? null : bundle), used };
};

const dialectUri = /^https?:\/\/json-schema\.org\/(?:draft-0[0-9]|draft\/20\d\d-\d\d)\/schema#?$/;

/** JSON Schemas whose dialect is one of JSON Schema's own. */
export const jsonSchema: DocumentKind = {
  isRoot: ({ $schema }) => typeof $schema === 'string' && dialectUri.test($schema),
  text: beginsWith(kinds['json-schema'].marks, String.raw`https?:\/\/json-schema\.org\/`),
  titleIn: (root) => firstText(root, 'title'),
  paths: { references: schemaReferencePaths, addresses: schemaAddresses, examples: () => [] },
  compile: compileJsonSchema,
};

function result({ entry }: KindInput, dialect: Dialect | null, problems: Problem[], bundle: unknown): KindResult {
  const root = objectOf(entry.value);
  const text = (key: string) => (typeof root[key] === 'string' ? root[key] : null);
  return {
    problems,
    bundle,
    kind: 'json-schema',
    specification: dialect?.name ?? '',
    title: text('title') ?? '',
    description: text('description') ?? '',
    version: text('version') ?? text('x-version'),
  };
}

function unreadable(entry: ParsedFile, stated: unknown): Problem {
  if (!isObject(entry.value)) return problemAt(entry, '', 'schema', 'A JSON Schema must be an object or a boolean.');
  const named = typeof stated === 'string' ? `The dialect ${JSON.stringify(stated.slice(0, 200))}` : 'This "$schema"';
  const message = `${named} is not supported. Supported are ${supported}; use the official URI, such as "${dialects['2020-12'].uri}".`;
  return problemAt(entry, '/$schema', 'schema-dialect', message);
}

/**
 * Reports files of another dialect: in one bundle, their schemas would be read by the wrong rules.
 */
function findMixed(dialect: Dialect, reached: readonly ParsedFile[]): Problem[] {
  return reached.flatMap((file) => {
    const stated = objectOf(file.value)['$schema'];
    if (typeof stated !== 'string' || dialectOf(stated) === dialect) return [];
    const message = `This file uses the dialect ${JSON.stringify(stated.slice(0, 200))}, but the file that references it uses ${dialect.name}. Use one dialect in all files.`;
    return [problemAt(file, '/$schema', 'schema-dialect', message)];
  });
}

function checkBundle(entry: ParsedFile, dialect: Dialect, bundle: unknown): Problem[] {
  const failure = checkCompiles(dialect, bundle);
  if (failure === null) return [];
  if (!failure.limit) return [problemAt(entry, '', 'schema', `The schema cannot be compiled: ${failure.message}.`)];
  const message = `The schema is valid, but the validator ajv, which many tools use, cannot compile it: ${failure.message}.`;
  return [problemAt(entry, '', 'schema-portability', message, { severity: 'warning' })];
}

/** Errors of a schema may be tolerated; an exceeded limit may not. */
function asWarning(problem: Problem): Problem {
  return problem.rule === 'limit-references' ? problem : { ...problem, severity: 'warning' };
}

/** Whether pointers in references inside the value start there and not at the root. */
function hasOwnBase(dialect: Dialect, value: object): boolean {
  return isObject(value) && typeof value[dialect.idKeyword] === 'string';
}

interface OwnMeta {
  schema: Record<string, unknown>;
  /** The dialect that it is written in, by which its schemas are read. */
  dialect: Dialect;
}

/** The schema of the registry that a document names as its `$schema`, or why it cannot be read. Null: it names none. */
function findMeta({ entry, files }: KindInput): OwnMeta | { problem: Problem } | null {
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

function checkByMeta(entry: ParsedFile, { schema, dialect }: OwnMeta): Problem[] {
  const check = createCheckBy(dialect, schema);
  if (check !== null) return schemaProblems(entry, '', entry.value, check(entry.value));
  const message = 'The schema that "$schema" names cannot be compiled as a meta-schema.';
  return [problemAt(entry, '/$schema', 'schema', message)];
}
