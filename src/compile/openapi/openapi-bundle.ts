import { bundleDocument, getTypes, type detectSpec } from '@redocly/openapi-core';
import type { Problem } from '../../model/problem.ts';
import type { CompileLimits } from '../compile.ts';
import { isParsed, problemAt, type KindInput } from '../kind.ts';
import { findLongChain, longestChain } from './openapi-chains.ts';
import { bundleExtensions } from './openapi-extensions.ts';
import { mendNames } from './openapi-names.ts';
import { findReferenceLoop, isOwnUri, judgeReference, referenceAt, severityOf } from './openapi-references.ts';
import { followPointer, joinPointer } from '../text/pointer.ts';
import { isObject } from '../schema/schema-dialect.ts';
import { resolveReference } from '../reference.ts';
import { createTree, noRules, treePath, type Tree } from './redocly.ts';

export interface Bundled {
  /** Null: no bundle can be made. */
  bundle: unknown;
  problems: Problem[];
  tree: Tree;
}

/**
 * Brings everything that the entry refers to into one document. References that lead nowhere stay as they are and are reported as errors; those
 * within one file as warnings where validation is lenient. A document that refers to no other file is its own bundle.
 */
export async function bundleOpenapi(given: KindInput, version: ReturnType<typeof detectSpec>): Promise<Bundled> {
  const { entry, files, input } = given;
  const tree = createTree(given);
  const chain = chainProblem(given);
  if (chain !== null) return { bundle: null, problems: [chain], tree };
  const document = tree.documentOf(entry.path);
  let result;
  try {
    result = await bundleDocument({
      document,
      config: noRules(),
      types: getTypes(version),
      externalRefResolver: tree.resolver,
    });
  } catch (error) {
    // Redocly's own words for references that only lead to each other; it stops there.
    if (!(error instanceof Error) || error.message !== 'Self-referencing circular pointer') throw error;
    return { bundle: null, problems: [loopProblem(given, tree)], tree };
  }

  const problems: Problem[] = [];
  for (const { location } of result.problems) {
    const place = location[0];
    if (place?.pointer === undefined) continue;
    const file = files.get(treePath(place.source.absoluteRef));
    const pointer = place.pointer.replace(/^#\/?/, '').replace(/^(?=.)/, '/');
    const node = file !== undefined && isParsed(file) ? followPointer(file.value, pointer) : null;
    const reference = node?.found ? referenceAt(node.value) : null;
    if (file === undefined || !isParsed(file) || reference === null) continue;
    problems.push(...judge(file.path, pointer, reference));
  }
  for (const reference of prototypeReferences(given, tree))
    problems.push(...judge(reference.file, reference.pointer, reference));

  function judge(path: string, pointer: string, { text, member }: { text: string; member: string }): Problem[] {
    // An example's `externalValue` is a link for people, wherever it leads (OpenAPI 3.1 §4.8.19).
    if (member === '/externalValue' && !resolveReference(path, text).ok) return [];
    const file = files.get(path);
    if (path === entry.path && isOwnUri(entry, text)) return [];
    const { rule, message } = judgeReference(path, text, files);
    const severity = severityOf(pointer, text);
    if (rule === null || severity === null || file === undefined || !isParsed(file)) return [];
    // Only what stays within the file can be let through: a bundle that needs another file is none.
    const isSoft = input.validation === 'lenient' && severity === 'error' && text.startsWith('#');
    return [problemAt(file, pointer + member, rule, message, { severity: isSoft ? 'warning' : severity })];
  }

  problems.push(...bundleExtensions(given, tree, document.parsed));
  if (tree.served() === 1) return { bundle: entry.value, problems, tree };
  if (isObject(document.parsed)) mendNames(document.parsed, entry.value);
  const wall = measure(document.parsed, input.limits);
  if (wall !== null)
    return { bundle: null, problems: [...problems, problemAt(entry, '', wall.rule, wall.message)], tree };
  return { bundle: document.parsed, problems, tree };
}

function chainProblem({ files }: KindInput): Problem | null {
  const chain = findLongChain(files);
  const file = chain === null ? undefined : files.get(chain.path);
  if (chain === null || file === undefined || !isParsed(file)) return null;
  const message = `The reference ${JSON.stringify(chain.text)} leads through more than ${longestChain} other references. Refer to what is meant directly.`;
  return problemAt(file, `${chain.pointer}/$ref`, 'limit-references', message);
}

function loopProblem({ entry, files }: KindInput, { used }: Tree): Problem {
  const loop = findReferenceLoop(files, used);
  const file = loop === null ? undefined : files.get(loop.file);
  if (loop === null || file === undefined || !isParsed(file))
    return problemAt(entry, '', 'ref-circular', 'A reference leads only to itself, through other references.');
  return problemAt(
    file,
    loop.pointer,
    'ref-circular',
    `The reference ${JSON.stringify(loop.text)} leads only to itself.`,
  );
}

const prototypeName =
  /\/(?:__proto__|constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf|__\w+__)(?=["'/\s]|$)/m;

/** References through names that every object answers to: redocly takes them for resolved. They are rare, so only a text that has one is searched. */
function prototypeReferences(
  { files }: KindInput,
  { used }: Tree,
): { file: string; pointer: string; text: string; member: '/$ref' }[] {
  const found: { file: string; pointer: string; text: string; member: '/$ref' }[] = [];
  for (const path of used) {
    const file = files.get(path);
    if (file === undefined || !isParsed(file) || !prototypeName.test(file.text)) continue;
    const visit = (node: unknown, pointer: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { $ref } = node as { $ref?: unknown };
      if (typeof $ref === 'string' && prototypeName.test($ref))
        found.push({ file: path, pointer, text: $ref, member: '/$ref' });
      for (const [key, child] of Object.entries(node)) visit(child, joinPointer(pointer, key));
    };
    visit(file.value, '');
  }
  return found;
}

/** Counts a bundle as it will be written. Parts that stand in it many times are counted each time and looked at once; one inside itself cannot be written. */
function measure(bundle: unknown, limits: CompileLimits): { rule: string; message: string } | null {
  const known = new Map<object, { nodes: number; depth: number; bytes: number }>();
  const open = new Set<object>();
  let circular = false;

  function visit(node: unknown): { nodes: number; depth: number; bytes: number } {
    if (typeof node === 'string') return { nodes: 1, depth: 0, bytes: node.length };
    if (typeof node !== 'object' || node === null || circular) return { nodes: 1, depth: 0, bytes: 4 };
    const seen = known.get(node);
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
    known.set(node, total);
    return total;
  }

  const { nodes, depth, bytes } = visit(bundle);
  if (circular)
    return {
      rule: 'ref-circular',
      message:
        'A part of another file refers back to itself where it has no name of its own, so it cannot be bundled; put it under components.',
    };
  if (nodes > limits.nodes)
    return {
      rule: 'limit-nodes',
      message: `The document has ${nodes} nodes once it is bundled; the limit is ${limits.nodes}.`,
    };
  if (bytes > limits.bundleBytes)
    return {
      rule: 'limit-bundle-bytes',
      message: `The document has more than ${limits.bundleBytes} bytes once it is bundled.`,
    };
  if (depth > limits.depth)
    return {
      rule: 'limit-depth',
      message: `The document is nested ${depth} levels deep once it is bundled; the limit is ${limits.depth}.`,
    };
  return null;
}
