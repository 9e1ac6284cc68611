import { isObject } from '../../model/json.ts';
import { isUrlPath } from '../../model/address.ts';
import type { Problem } from '../../model/problem.ts';
import { isParsed, maxFindings, problemAt, type KindInput } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { followPointer, joinPointer } from '../../model/pointer.ts';
import { isAbsolute, referenceSubject, resolveReference } from '../reference.ts';
import { dialectOf, referencesOf, subschemas, type Dialect, type ReferenceKeyword } from './schema-dialect.ts';
import {
  absolute,
  createSchemaIndex,
  splitFragment,
  type Resource,
  type Scope,
  type SchemaIndex,
  candidatePaths,
  documentUrl,
  siblingPaths,
} from './schema-index.ts';

/** The schema that a reference resolves to. */
export interface Target {
  resource: Resource;
  file: ParsedFile;
  pointer: string;
}

/** A reference that is reachable from the entry. `target` is null for an official meta-schema. */
export interface Link {
  file: ParsedFile;
  /** The schema that contains the reference. */
  pointer: string;
  keyword: ReferenceKeyword;
  text: string;
  scope: Scope;
  target: Target | null;
}

export interface Linked {
  links: Link[];
  problems: Problem[];
  index: SchemaIndex;
  /** Every reachable schema, by file and pointer. */
  reached: Map<ParsedFile, Map<string, unknown>>;
}

/** The most retries of unresolved references in total. Each round retries all of them. */
const maxTries = 100_000;

type Pending = Omit<Link, 'target'>;

/** `schema`: what the target holds. */
type Outcome = { target: Target; schema: unknown } | { target: null } | { refused: { rule: string; message: string } };

/**
 * Resolves every reference from the entry through the collected files. Unresolved ones become
 * problems.
 */
export function linkSchema({ entry, files }: KindInput, dialect: Dialect): Linked {
  const index = createSchemaIndex(dialect);
  const reached = new Map<ParsedFile, Map<string, unknown>>();
  const links: Link[] = [];
  const problems: Problem[] = [];
  const queue: Pending[] = [];

  function reach(file: ParsedFile, pointer: string, schema: unknown): void {
    const pointers = reached.getOrInsertComputed(file, () => new Map<string, unknown>());
    if (pointers.has(pointer)) return;
    pointers.set(pointer, schema);
    if (!isObject(schema)) return;
    const scope = index.scopeAt(file, pointer);
    for (const [keyword, text] of referencesOf(dialect, schema)) queue.push({ file, pointer, keyword, text, scope });
    for (const child of subschemas(dialect, schema)) reach(file, pointer + child.path, child.schema);
  }

  function open(path: string): ParsedFile | null {
    const file = files.get(path);
    return isParsed(file) ? file : null;
  }

  function locate(resource: Resource, fragment: string, text: string): Outcome {
    const target = find(resource, fragment);
    if (target !== null) return target;
    const message = `${referenceSubject(text)} does not resolve in ${resource.file.path}.`;
    return { refused: { rule: 'ref-unresolved', message } };
  }

  function find(resource: Resource, fragment: string): { target: Target; schema: unknown } | null {
    if (fragment !== '' && !fragment.startsWith('/')) {
      const pointer = resource.anchors.get(fragment);
      return pointer === undefined ? null : at(resource, pointer);
    }
    // `#/` is the member named '' (RFC 6901 §5), but authors and validators use it for the root.
    return at(resource, resource.pointer + fragment) ?? (fragment === '/' ? at(resource, resource.pointer) : null);
  }

  function at(resource: Resource, pointer: string): { target: Target; schema: unknown } | null {
    const schema = followPointer(resource.file.value, pointer);
    return schema === undefined ? null : { target: { resource, file: resource.file, pointer }, schema };
  }

  function resolve({ file, scope, text }: Pending): Outcome {
    const uri = absolute(text, scope.resource.uri);
    const url = documentUrl(text, scope.resource.stated || isUrlPath(file.path) ? scope.resource.uri : null);
    const published = url === null ? null : open(url);
    if (published && isAbsolute(text)) return locate(index.add(published), splitFragment(text)[1], text);
    if (uri !== null) {
      const [base, fragment] = splitFragment(uri);
      const indexed = index.resource(base);
      // A file without a URI is found by its path only, which must follow the rules for paths.
      const byUri = indexed && (indexed.stated || indexed.pointer !== '' || text.startsWith('#'));
      if (byUri) return locate(indexed, fragment, text);
      if (dialectOf(base) !== null || isMetaVocabulary(base)) return { target: null };
    }
    const root = index.add(file);
    const [bare, fragment] = splitFragment(text);
    for (const path of candidatePaths(file.path, scope.treeBase, root.stated ? root.uri : null, text)) {
      const neighbour = open(path);
      if (!neighbour) continue;
      const resource = index.add(neighbour);
      if (!isAbsolute(text) || resource.uri === bare) return locate(resource, fragment, text);
    }
    for (const path of siblingPaths(file.path, text)) {
      const sibling = open(path);
      const resource = sibling && index.add(sibling);
      if (resource && resource.stated && resource.uri === splitFragment(uri ?? bare)[0])
        return locate(resource, fragment, text);
    }
    if (published) return locate(index.add(published), fragment, text);
    return { refused: refusal(file, url ?? text, text) };
  }

  function refusal(file: ParsedFile, target: string, text: string): { rule: string; message: string } {
    const reference = resolveReference(file.path, files.has(target) ? target : text);
    if (!reference.ok) return reference;
    const parsed = files.get(reference.path);
    if (parsed && !isParsed(parsed) && parsed.problem)
      return {
        rule: parsed.problem.rule,
        message: `${referenceSubject(text)} does not resolve${isUrlPath(reference.path) ? '.' : ':'} ${parsed.problem.message}`,
      };
    if (isUrlPath(reference.path))
      return { rule: 'ref-remote', message: `${referenceSubject(text)} points to a URL that is not read here.` };
    const why = parsed ? 'is not a JSON or YAML document' : 'does not exist';
    return { rule: 'ref-unresolved', message: `${referenceSubject(text)} does not resolve: ${reference.path} ${why}.` };
  }

  function follow(pending: Pending): boolean {
    const outcome = resolve(pending);
    if ('refused' in outcome) return false;
    const { target } = outcome;
    links.push({ ...pending, target });
    if (target === null || reached.get(target.file)?.has(target.pointer)) return true;
    index.addAt(target.file, target.pointer, outcome.schema);
    reach(target.file, target.pointer, outcome.schema);
    return true;
  }

  index.add(entry);
  reach(entry, '', entry.value);
  // A later reference may lead to the file that declares the URI of an earlier one, so unresolved
  // references are retried as long as any resolves.
  const unresolved: Pending[] = [];
  let tries = 0;
  for (let progress = true; progress;) {
    const before = links.length;
    const again = tries < maxTries ? unresolved.splice(0) : [];
    tries += again.length;
    for (const pending of [...again, ...queue.splice(0)]) if (!follow(pending)) unresolved.push(pending);
    progress = links.length > before || queue.length > 0;
  }
  for (const pending of unresolved.slice(0, maxFindings)) {
    const outcome = resolve(pending);
    const { rule, message } = 'refused' in outcome ? outcome.refused : tooManyTries(pending);
    problems.push(problemAt(pending.file, joinPointer(pending.pointer, pending.keyword), rule, message));
  }
  return { links, problems, index, reached };
}

function tooManyTries({ text }: Pending): { rule: string; message: string } {
  const message = `${referenceSubject(text)} cannot be resolved: its target is found only after too many other references. Use a relative path.`;
  return { rule: 'limit-references', message };
}

function isMetaVocabulary(uri: string): boolean {
  return /^https?:\/\/json-schema\.org\/draft\/20(?:19-09|20-12)\/meta\/[a-z-]+$/.test(uri);
}
