import { isObject, type JsonObject } from '../../model/json.ts';
import { objectOf } from '../../render/json-value.ts';
import { isUrlPath } from '../../model/address.ts';
import { bundleDocument, getTypes, type detectSpec } from '@redocly/openapi-core';
import type { Problem } from '../../model/problem.ts';
import type { CompileLimits } from '../compile.ts';
import { isParsed, maxFindings, problemAt, type KindInput } from '../kind.ts';
import { findLongChain } from '../reference-chains.ts';
import { bundleExtensions } from './openapi-extensions.ts';
import {
  findReferenceLoop,
  isOwnUri,
  judgeReference,
  referenceAt,
  severityOf,
  isMappingReference,
} from './openapi-references.ts';
import {
  createFreeName,
  eachNode,
  followPointer,
  fromFragment,
  joinPointer,
  isPlainFragment,
  pointerOf,
} from '../../model/pointer.ts';
import { resolveReference } from '../reference.ts';
import type { ParsedFile } from '../text/parse.ts';
import { createTree, noRules, treePath, type Tree } from './redocly.ts';

/** The version that redocly reads a newer version of OpenAPI as. */
const newestVersion = '3.2.0';

export interface Bundled {
  /** Null if bundling failed. */
  bundle: unknown;
  problems: Problem[];
  tree: Tree;
}

/**
 * Bundles the entry and everything that it references into one document. Unresolved references stay
 * and are reported as errors; those within one file as warnings if validation is lenient. A
 * document that references no other file is its own bundle. `isNewer`: the document states a newer
 * version of OpenAPI than any that is known.
 */
export async function bundleOpenapi(
  given: KindInput,
  version: ReturnType<typeof detectSpec>,
  isNewer = false,
): Promise<Bundled> {
  const { entry, files, input } = given;
  const tree = createTree(given, 'exact');
  if (standsAlone(given)) return { bundle: entry.value, problems: [], tree };
  const chain = findLongChain(files);
  if (chain !== null) return { bundle: null, problems: [chain], tree };
  const missing = input.validation === 'strict' ? findManyMissing(given) : null;
  if (missing !== null) return { bundle: null, problems: missing, tree };
  const document = tree.documentOf(entry.path);
  const root = objectOf(document.parsed);
  // Redocly throws at a newer version than it knows.
  const stated = root['openapi'];
  if (isNewer) root['openapi'] = newestVersion;
  let result;
  try {
    result = await bundleDocument({
      document,
      config: noRules(),
      types: typesOf(version),
      externalRefResolver: tree.resolver,
    });
  } catch (error) {
    // Redocly throws this message for references that only point to each other.
    if (!(error instanceof Error) || error.message !== 'Self-referencing circular pointer') throw error;
    return { bundle: null, problems: [loopProblem(given, tree)], tree };
  }
  if (isNewer) root['openapi'] = stated;
  tree.uncover();

  const problems: Problem[] = [];
  for (const { location } of result.problems) {
    const place = location[0];
    if (problems.length >= maxFindings) break;
    if (place?.pointer === undefined) continue;
    const file = files.get(treePath(place.source.absoluteRef));
    const pointer = fromFragment(place.pointer);
    if (!isParsed(file)) continue;
    const reference = referenceAt(followPointer(file.value, pointer));
    if (reference !== null) problems.push(...judge(file, pointer, reference));
  }
  for (const file of [...tree.used].map((path) => files.get(path))) {
    if (!isParsed(file) || !prototypeName.test(file.text)) continue;
    eachNode(file.value, ({ $ref: text }, way) => {
      if (typeof text === 'string' && prototypeName.test(text))
        problems.push(...judge(file, pointerOf(way), { text, member: '/$ref' }));
    });
  }

  function judge(file: ParsedFile, pointer: string, { text, member }: { text: string; member: string }): Problem[] {
    if (member === '/externalValue') return judgeExample(file, pointer, text);
    if (file.path === entry.path && isOwnUri(entry, text)) return [];
    const { rule, message } = judgeReference(file.path, text, files);
    const severity = severityOf(pointer, text);
    if (rule === null || severity === null) return [];
    // A bundle must not depend on another file, so only references within the file are tolerated.
    const isSoft = input.validation === 'lenient' && severity === 'error' && text.startsWith('#');
    return [problemAt(file, pointer + member, rule, message, { severity: isSoft ? 'warning' : severity })];
  }

  /** An example is no reference: it may be at any URL, and a file that is not there is only worth a warning. */
  function judgeExample(file: ParsedFile, pointer: string, text: string): Problem[] {
    const target = resolveReference(file.path, text);
    if (!target.ok || isUrlPath(target.path)) return [];
    const verdict = judgeReference(file.path, text, files);
    if (verdict.rule === null) return [];
    const shown = JSON.stringify(text.slice(0, 200));
    const message =
      verdict.rule === 'file-missing'
        ? `The example ${shown} is not there: ${target.path} does not exist. Add the file, or write a full URL.`
        : `The example ${shown} is not included. ${verdict.message}`;
    return [problemAt(file, `${pointer}/externalValue`, verdict.rule, message, { severity: 'warning' })];
  }

  problems.push(...bundleExtensions(given, tree, document.parsed));
  if (tree.served() === 1) return { bundle: entry.value, problems, tree };
  if (isObject(document.parsed)) mendNames(document.parsed, entry.value);
  const overLimit = measure(document.parsed, input.limits, entry);
  if (overLimit !== null) return { bundle: null, problems: [...problems, overLimit], tree };
  return { bundle: document.parsed, problems, tree };
}

/**
 * Redocly's node types, except that a map of media types has another name. Redocly would move one
 * from another file to `components.mediaTypes`, which OpenAPI 3.0 and 3.1 do not have, and which
 * holds single media types in 3.2. By another name it is copied to its place.
 */
function typesOf(version: ReturnType<typeof detectSpec>): ReturnType<typeof getTypes> {
  const types = getTypes(version);
  const map = types['MediaTypesMap'];
  if (map === undefined) return types;
  const renamed = Object.entries(types).map(([name, type]) => [
    name,
    type.properties['content'] === 'MediaTypesMap'
      ? { ...type, properties: { ...type.properties, content: 'ContentMap' } }
      : type,
  ]);
  return { ...(Object.fromEntries(renamed) as typeof types), ContentMap: map };
}

function loopProblem({ entry, files }: KindInput, { used }: Tree): Problem {
  const loop = findReferenceLoop(files, used);
  const message =
    loop === null
      ? 'The references form a cycle that never reaches a value. Point one of them to a definition.'
      : `The reference ${JSON.stringify(loop.text)} only points back to itself. Point it to a definition.`;
  return problemAt(loop?.file ?? entry, loop?.pointer ?? '', 'ref-circular', message);
}

/** Names that every object inherits, through which redocly wrongly resolves references. They are rare. */
const prototypeName =
  /\/(?:__proto__|constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf|__\w+__)(?=["'/\s]|$)/m;

/**
 * Checks the size of a bundle as it will be written. A part that is used several times is visited
 * once and counted each time. A part inside itself cannot be written.
 */
function measure(bundle: unknown, limits: CompileLimits, entry: ParsedFile): Problem | null {
  const sizes = new Map<object, { nodes: number; depth: number; bytes: number }>();
  const open = new Set<object>();
  let circular = false;

  function visit(node: unknown): { nodes: number; depth: number; bytes: number } {
    if (typeof node === 'string') return { nodes: 1, depth: 0, bytes: node.length };
    if (typeof node !== 'object' || node === null || circular) return { nodes: 1, depth: 0, bytes: 4 };
    const seen = sizes.get(node);
    if (seen) return seen;
    if (open.has(node)) {
      circular = true;
      return { nodes: 1, depth: 0, bytes: 0 };
    }
    open.add(node);
    const total = { nodes: 1, depth: 0, bytes: 2 };
    for (const [key, child] of Object.entries(node)) {
      const { nodes, depth, bytes } = visit(child);
      total.nodes += nodes;
      total.depth = Math.max(total.depth, depth);
      total.bytes += bytes + key.length + 2;
    }
    total.depth++;
    open.delete(node);
    sizes.set(node, total);
    return total;
  }

  const size = visit(bundle);
  const fault = (rule: string, message: string) => problemAt(entry, '', rule, message);
  if (circular)
    return fault(
      'ref-circular',
      'Another file contains a part that references itself and has no name, so it cannot be bundled. Move that part under components.',
    );
  const what = 'The bundled document is';
  if (size.nodes > limits.nodes)
    return fault('limit-nodes', `The bundled document has ${size.nodes} nodes; the limit is ${limits.nodes}.`);
  if (size.bytes > limits.bundleBytes)
    return fault('limit-bundle-bytes', `${what} larger than ${limits.bundleBytes} bytes. Split the document.`);
  if (size.depth > limits.depth)
    return fault('limit-depth', `${what} nested ${size.depth} levels deep; the limit is ${limits.depth}.`);
  return null;
}

/** Levels, through references too: far less than what overflows the stack, here or in redocly. */
const deepest = 2500;

/**
 * Whether the entry is certainly its own bundle: it references nothing but nodes of its own, each
 * directly and by a plain pointer. Then redocly has nothing to bundle and no problem to find, and
 * having it visit every node is most of what a large document costs. A document with anything out
 * of the ordinary is left to redocly.
 */
export function standsAlone({ entry, files }: KindInput): boolean {
  const identifiers = new Set<string>();
  const seen = new Set<unknown>();

  function visit(node: unknown, depth: number): boolean {
    if (isLeaf(node) || seen.has(node)) return true;
    seen.add(node);
    if (depth === deepest) return false;
    if (Array.isArray(node)) {
      for (const child of node) if (!isLeaf(child) && !visit(child, depth + 1)) return false;
      return true;
    }
    for (const key in node) {
      const child = (node as JsonObject)[key];
      if (key === '$ref' && typeof child === 'string' && !leads(child, depth)) return false;
      if (key === 'defaultMapping' && !maps(child, depth)) return false;
      if (isLeaf(child)) continue;
      if (key === 'mapping' && !Object.values(child).every((name) => maps(name, depth))) return false;
      if (!visit(child, depth + 1)) return false;
    }
    return true;
  }

  function maps(name: unknown, depth: number): boolean {
    return typeof name !== 'string' || !isMappingReference(name) || leads(name, depth);
  }

  function leads(reference: string, depth: number): boolean {
    if (identifiers.has(reference)) return true;
    identifiers.add(reference);
    const target = isPlainFragment(reference) ? followPointer(entry.value, reference.slice(1)) : undefined;
    if (target === undefined) return false;
    const { $ref } = Object(target) as { $ref?: unknown };
    return typeof $ref !== 'string' && visit(target, depth + 1);
  }

  return files.size === 1 && visit(entry.value, 0);
}

function isLeaf(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== 'object' || value === null;
}

/** A text with so few characters has no room for so many references. */
const shortest = maxFindings * 10;

/**
 * Returns the first references of the entry that lead nowhere, to nodes of its own or to other
 * files, if there are `maxFindings` of them, else null. A bundle of such a document has no use, and
 * redocly takes as long for each of its references as for hundreds of nodes.
 */
function findManyMissing({ entry, files }: KindInput): Problem[] | null {
  if (entry.text.length < shortest) return null;
  const problems: Problem[] = [];
  const checked = new Map<string, boolean>();

  function isMissing(reference: string): boolean {
    return checked.getOrInsertComputed(reference, () =>
      isPlainFragment(reference)
        ? followPointer(entry.value, reference.slice(1)) === undefined
        : !reference.startsWith('#') && judgeReference(entry.path, reference, files).rule === 'file-missing',
    );
  }

  function add(pointer: string, reference: string): void {
    if (problems.length >= maxFindings) return;
    const { rule, message } = judgeReference(entry.path, reference, files);
    const severity = severityOf(pointer, reference);
    const counts = severity === 'error' || pointer.includes('/discriminator/mapping/');
    if (rule !== null && severity !== null && counts)
      problems.push(problemAt(entry, pointer, rule, message, { severity }));
  }

  eachNode(entry.value, ({ $ref, discriminator }, way) => {
    if (typeof $ref === 'string' && isMissing($ref)) add(`${pointerOf(way)}/$ref`, $ref);
    const mapping = objectOf(objectOf(discriminator)['mapping']);
    for (const [name, text] of Object.entries(mapping))
      if (typeof text === 'string' && isMissing(text))
        add(joinPointer(pointerOf(way), 'discriminator', 'mapping', name), text);
    return problems.length < maxFindings ? undefined : 'end';
  });
  if (problems.length < maxFindings) return null;
  if (problems.some(({ severity }) => severity === 'error')) return problems;
  const message = `At least ${maxFindings} references of discriminators lead nowhere. Remove them, or add what they point to.`;
  return [problemAt(entry, '', 'limit-references', message), ...problems];
}

/**
 * Fixes the component names that redocly derives from file and member names. A name that OpenAPI
 * does not allow, or that its reference does not resolve to, is rewritten in allowed characters,
 * together with its references. Changes the bundle in place.
 */
function mendNames(bundle: JsonObject, authored: unknown): void {
  const references = new Map<string, string>();
  const isSwagger = 'swagger' in bundle;
  const holderIn = (document: JsonObject) => (isSwagger ? document : objectOf(document['components']));
  const [holder, written] = [holderIn(bundle), holderIn(objectOf(authored))];
  for (const group of isSwagger ? ['definitions', 'parameters', 'responses'] : Object.keys(holder)) {
    const members = objectOf(holder[group]);
    const authoredNames = objectOf(written[group]);
    const broken = Object.keys(members).filter(
      (name) => !Object.hasOwn(authoredNames, name) && !/^[A-Za-z0-9._-]+$/.test(name),
    );
    if (broken.length === 0) continue;
    const freeName = createFreeName(new Set(Object.keys(members)), 'part');
    const plain = (name: string) =>
      name
        .replace(/~[01]/g, '-')
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/^-+|-+$/g, '');
    const renamed = new Map(broken.map((name) => [name, freeName(plain(name))]));
    const mended = Object.entries(members).map(([name, member]) => [renamed.get(name) ?? name, member]);
    holder[group] = Object.fromEntries(mended) as JsonObject;
    const base = isSwagger ? `#/${group}` : `#/components/${group}`;
    for (const [name, free] of renamed) references.set(`${base}/${name}`, `#${joinPointer(base.slice(1), free)}`);
  }
  if (references.size > 0) rewrite(bundle, references);
}

function rewrite(bundle: unknown, references: ReadonlyMap<string, string>): void {
  const seen = new Set<object>();
  eachNode(bundle, (node) => {
    const isNew = seen.size < seen.add(node).size;
    for (const [key, value] of isNew ? Object.entries(node) : []) {
      const mended = typeof value === 'string' ? references.get(value) : undefined;
      if (mended !== undefined) node[key] = mended;
    }
    return isNew ? undefined : 'pass';
  });
}
