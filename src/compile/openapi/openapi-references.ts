import { isObject } from '../../model/json.ts';
import { holdsOf } from '../../model/openapi-shape.ts';
import { isUrlPath, parseDocumentUrl } from '../../model/address.ts';
import type { Severity } from '../../model/problem.ts';
import { isParsed, type Files } from '../kind.ts';
import { createFollow, followChain, keyOf } from '../reference-chains.ts';
import { eachNode, followPointer, parsePointer, pointerOf, type Way } from '../../model/pointer.ts';
import type { ParsedFile } from '../text/parse.ts';
import { isAbsolute, referenceSubject, resolveReference } from '../reference.ts';
import { decodePercent } from '../../model/escape.ts';
import { siblingPaths } from '../schema/schema-index.ts';

/** Why a reference does not resolve. `rule` is null if it does. */
export interface Verdict {
  rule: string | null;
  message: string;
}

const resolves: Verdict = { rule: null, message: '' };

/** Checks one reference as written: its form, its file, and its fragment. */
export function judgeReference(from: string, reference: string, files: Files): Verdict {
  const refuse = (rule: string, says: string): Verdict => ({ rule, message: `${referenceSubject(reference)} ${says}` });
  const target = resolveReference(from, reference);
  if (!target.ok) return target;
  const { path } = target;
  const file = files.get(path);
  const fragment = target.fragment ?? '';
  if (file === undefined)
    return isUrlPath(path)
      ? refuse('ref-remote', 'points to a URL that is not read here.')
      : refuse('ref-unresolved', `points to ${path}, which was not read.`);
  if (!isParsed(file)) {
    const { problem, example } = file;
    if (problem?.rule === 'file-missing') return refuse(problem.rule, `points to ${path}, which does not exist.`);
    if (problem !== null)
      return isUrlPath(path)
        ? refuse(problem.rule, `does not resolve. ${problem.message}`)
        : refuse(problem.rule, `points to an invalid file: ${problem.message}`);
    return fragment === '' || (example && followPointer(example.value, fragment) !== undefined)
      ? resolves
      : refuse('ref-unresolved', `points into ${path}, which is neither JSON nor YAML.`);
  }
  if (fragment !== '' && !fragment.startsWith('/'))
    return path === from
      ? refuse('ref-unresolved', 'does not resolve: this file has no such anchor.')
      : refuse('ref-anchor', 'uses an anchor in another file. Use a JSON Pointer ("#/…").');
  if (followPointer(file.value, fragment) !== undefined) return resolves;
  return refuse('ref-unresolved', `does not resolve: ${path === from ? 'this file' : path} has no ${fragment}.`);
}

/**
 * Whether a reference points into the entry by a URI that the entry declares: `$self` (OpenAPI 3.2
 * §4.1.1) or the `$id` of a schema in it (JSON Schema 2020-12 §8.2.1). It resolves in the bundle
 * too.
 */
export function isOwnUri(entry: ParsedFile, reference: string): boolean {
  const [uri = '', fragment = ''] = reference.split('#');
  const pointer = decodePercent(fragment) ?? fragment;
  const self = isObject(entry.value) ? entry.value['$self'] : undefined;
  if (typeof self === 'string' && uri !== '' && (uri === self || URL.parse(uri, self)?.href === self))
    return followPointer(entry.value, pointer) !== undefined;
  if (!isAbsolute(uri)) return false;
  const named = identifiedIn(entry).get(uri);
  return named !== undefined && (!fragment.startsWith('/') || followPointer(named, pointer) !== undefined);
}

const identified = new WeakMap<ParsedFile, ReadonlyMap<string, object>>();

function identifiedIn(entry: ParsedFile): ReadonlyMap<string, object> {
  return identified.getOrInsertComputed(entry, () => {
    const objects = new Map<string, object>();
    eachNode(entry.value, (node) => {
      if (typeof node['$id'] === 'string') objects.getOrInsert(node['$id'], node);
    });
    return objects;
  });
}

/**
 * The reference at a node: its `$ref`, the `externalValue` of an example, or the node itself in a
 * discriminator mapping. Null if it has none.
 */
export function referenceAt(node: unknown): { text: string; member: '' | '/$ref' | '/externalValue' } | null {
  if (typeof node === 'string') return { text: node, member: '' };
  if (typeof node !== 'object' || node === null) return null;
  const { $ref, externalValue } = node as { $ref?: unknown; externalValue?: unknown };
  if (typeof $ref === 'string') return { text: $ref, member: '/$ref' };
  return typeof externalValue === 'string' ? { text: externalValue, member: '/externalValue' } : null;
}

/**
 * The severity of an unresolved reference at a pointer. Example data and extensions may only look
 * like references and the values of a discriminator mapping may be names, so these are warnings.
 * Null: not a reference.
 */
export function severityOf(pointer: string, text: string): Severity | null {
  const tokens = parsePointer(pointer);
  let within: string | null = null;
  for (const [index, token] of tokens.entries()) {
    const isMapping = token === 'mapping' || token === 'defaultMapping';
    if (tokens[index - 1] === 'discriminator' && isMapping) return isMappingReference(text) ? 'warning' : null;
    // A pointer does not say what is a list.
    const isListed = /^\d+$/.test(tokens[index + 1] ?? '');
    const holds = holdsOf(within, token, token === 'examples' && isListed ? [] : {});
    if (holds === 'data' || holds === 'extension' || (within === null && token === 'externalValue')) return 'warning';
    within = holds === 'map' ? token : null;
  }
  return 'error';
}

/** Finds the first cycle of references that never reaches a value. `pointer`: one of them. */
export function findReferenceLoop(
  files: Files,
  from: Iterable<string>,
): { file: ParsedFile; pointer: string; text: string } | null {
  const next = createFollow(files);
  const ended = new Set<string>();
  let loop: ReturnType<typeof findReferenceLoop> = null;
  for (const path of from) {
    const file = files.get(path);
    if (!isParsed(file)) continue;
    eachNode(file.value, ({ $ref }, way) => {
      if (typeof $ref !== 'string' || !isLoop(path, $ref)) return;
      loop = { file, pointer: `${pointerOf(way)}/$ref`, text: $ref };
      return 'end';
    });
    if (loop !== null) break;
  }
  return loop;

  function isLoop(path: string, reference: string): boolean {
    const way = new Set<string>();
    const end = followChain({ path, text: reference }, next, way, (key) => ended.has(key));
    const isOpen = end !== null && way.has(keyOf(end));
    if (!isOpen) for (const key of way) ended.add(key);
    return isOpen;
  }
}

/**
 * Returns the URLs of a registry's documents that an OpenAPI file references. Text in examples and
 * extensions that only looks like a reference does not count, nor do URLs that the file itself
 * declares.
 */
export function openapiAddresses(file: ParsedFile): Map<string, readonly string[]> {
  const urls = new Map<string, readonly string[]>();
  function add(reference: string, isMapped: boolean, way: Way): void {
    const [url = ''] = reference.split('#');
    if (urls.has(url) || parseDocumentUrl(url) === null || identifiedIn(file).has(url)) return;
    if (isMapped || severityOf(pointerOf(way), reference) === 'error') urls.set(url, []);
  }

  eachNode(file.value, (node, way) => {
    for (const [key, value] of Object.entries(node)) {
      if (typeof value !== 'string') continue;
      const isMapping = way?.key === 'mapping' || key === 'defaultMapping';
      if (key === '$ref' || (isMapping && isMappingReference(value))) add(value, key !== '$ref', way);
    }
  });
  return urls;
}

/** Whether the value of a discriminator mapping is a reference and not a schema name. */
export function isMappingReference(value: string): boolean {
  return value.startsWith('#') || value.includes('/') || /\.(?:ya?ml|json)(?:#|$)/i.test(value);
}

/**
 * Returns the paths in the tree that an OpenAPI file may reference by `$ref` or discriminator
 * mappings. May include extra paths: examples can contain what looks like a reference. A schema of
 * a URL may be in a file beside it that has the URL as its `$id`.
 */
export function openapiReferencePaths(file: ParsedFile): Set<string> {
  const paths = new Set<string>();

  function add(reference: unknown): void {
    if (typeof reference !== 'string' || reference.startsWith('#')) return;
    const target = resolveReference(file.path, reference);
    if (target.ok && !isUrlPath(target.path)) paths.add(target.path);
    else if (target.ok || target.rule === 'ref-remote')
      for (const path of siblingPaths(file.path, reference)) paths.add(path);
  }

  eachNode(file.value, (node) => {
    if (Array.isArray(node)) return;
    const { $ref, defaultMapping, mapping } = node;
    add($ref);
    for (const mapped of [
      defaultMapping,
      ...(typeof mapping === 'object' && mapping !== null ? Object.values(mapping) : []),
    ])
      if (typeof mapped === 'string' && isMappingReference(mapped)) add(mapped);
  });
  paths.delete(file.path);
  return paths;
}

/** Returns the paths in the tree that `externalValue` names. It may be any URL (OpenAPI 3.1 §4.8.19). */
export function openapiExamplePaths(file: ParsedFile): Set<string> {
  const paths = new Set<string>();
  if (!file.text.includes('externalValue')) return paths;

  eachNode(file.value, ({ externalValue }) => {
    const target = typeof externalValue === 'string' ? resolveReference(file.path, externalValue) : null;
    if (target?.ok && target.path !== file.path && !isUrlPath(target.path)) paths.add(target.path);
  });
  return paths;
}
