import { isObject, type JsonObject } from '../../model/json.ts';
import { isUrlPath } from '../../model/address.ts';
import { BaseResolver, Config, Oas3_2Types, ResolveError, Source, type Document } from '@redocly/openapi-core';
import { isParsed, type CollectedDocument } from '../kind.ts';
import type { Way } from '../../model/pointer.ts';
import { resolveReference } from '../reference.ts';
import { setMember } from '../text/text.ts';

// Redocly declares the type of the scopes by a name that does not exist, and so throws on every
// OpenAPI 3.2 document with a device flow.
const deviceFlow = Oas3_2Types['DeviceAuthorization'];
if (deviceFlow?.properties)
  deviceFlow.properties['scopes'] = { type: 'object', additionalProperties: { type: 'string' } };

/** The source of a node. */
interface Origin {
  file: string;
  way: Way;
}

/** See `createTree`. */
export type Tree = ReturnType<typeof createTree>;

const root = '/tree/';

const followed: ReadonlySet<string> = new Set(['$ref', '$id', '$anchor', '$dynamicAnchor', 'externalValue']);

/** Returns the path in the tree for redocly's name of a file. */
export function treePath(absoluteRef: string): string {
  return absoluteRef.startsWith(root) ? absoluteRef.slice(root.length) : absoluteRef;
}

/**
 * Serves the parsed files to redocly from memory, so that it reads, fetches and parses nothing: copies that it may
 * change. Rules read `value`.
 */
export function createTree({ files }: Pick<CollectedDocument, 'files'>, reads: 'value' | 'exact' = 'value') {
  /** The origin of each node in these documents. Nodes that redocly created have none. */
  const origins = new Map<object, Origin>();
  const documents = new Map<string, Document>();
  /** Paths of the requested files, including missing and invalid ones. */
  const used = new Set<string>();

  /** Files by the absolute `$id` of the schema that they are. */
  const identified = new Map<string, string>();
  for (const [path, file] of files) {
    if (isUrlPath(path)) continue;
    const id = isParsed(file) && isObject(file.value) ? file.value['$id'] : undefined;
    if (typeof id === 'string' && /^https?:/i.test(id) && !identified.has(id)) identified.set(id, path);
  }

  /** Recursive: the parser has limited the depth. */
  function copy(value: unknown, file: string, way: Way): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const result: JsonObject | unknown[] = Array.isArray(value) ? [] : {};
    for (const [key, item] of Object.entries(value))
      setMember(result as JsonObject, key, copy(item, file, { parent: way, key }));
    origins.set(result, { file, way });
    return result;
  }

  const covered: { node: JsonObject; members: [string, unknown][] }[] = [];

  /** Copies the data of an example, renaming members that redocly would follow. */
  function cover(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(cover);
    const members = Object.entries(value).map(([key, item]): [string, unknown] => [key, cover(item)]);
    const node = Object.fromEntries(members.map(([key, item]) => [followed.has(key) ? `example:${key}` : key, item]));
    if (members.some(([key]) => followed.has(key))) covered.push({ node, members });
    return node;
  }

  /** Gives the members of examples their names back. */
  function uncover(): void {
    for (const { node, members } of covered) {
      for (const key of Object.keys(node)) delete node[key];
      for (const [key, item] of members) setMember(node, key, item);
    }
  }

  /** Returns a file as a redocly document, always the same one. Throws if the file cannot be used. */
  const documentOf = (path: string): Document => documents.getOrInsertComputed(path, readDocument);

  function readDocument(path: string): Document {
    const file = files.get(path);
    used.add(path);
    if (file === undefined) throw new ResolveError(new Error('refused'));
    const { text } = file;
    if (text === null) throw new ResolveError(new Error('unreadable'));
    // A single file needs no origins: its nodes keep their pointers.
    const copyOf = (value: unknown) => (files.size === 1 ? structuredClone(value) : copy(value, path, null));
    const parsed = isParsed(file) ? copyOf(file[reads]) : file.example ? cover(file.example.value) : text;
    return { source: new Source(root + path, text), parsed };
  }

  class TreeResolver extends BaseResolver {
    override resolveExternalRef(base: string | null, ref: string): string {
      const named = identified.get(ref);
      if (named !== undefined) return root + named;
      const target = resolveReference(treePath(base ?? root), ref);
      return target.ok && (target.fragment ?? '') === '' ? root + target.path : `refused:${ref}`;
    }

    override async loadExternalRef(): Promise<Source> {
      throw new Error('Only collected files are read.');
    }

    override async resolveDocument<T = unknown>(base: string | null, ref: string): Promise<Document<T>> {
      const path = this.resolveExternalRef(base, ref);
      if (!path.startsWith(root)) throw new ResolveError(new Error('refused'));
      return documentOf(treePath(path)) as Document<T>;
    }
  }

  const served = (): number => documents.size;
  const resolver: BaseResolver = new TreeResolver();
  return { resolver, documentOf, origins, used, served, uncover };
}

/** Creates a redocly configuration without rules. */
export function noRules(): Config {
  return new Config({ rules: {} } as Config['resolvedConfig'], { plugins: [] });
}

/** Changes a built-in rule in all versions of OpenAPI. `Rule`: what Redocly calls with the options. */
export function changeRule<Rule>(config: Config, name: string, change: (rule: Rule) => Rule): Config {
  config.plugins = config.plugins.map((plugin) => {
    const sets = Object.entries(plugin.rules ?? {}).map(([version, rules]) => {
      const rule = rules?.[name] as unknown as Rule | undefined;
      return [version, rule === undefined ? rules : { ...rules, [name]: change(rule) }];
    });
    return { ...plugin, rules: Object.fromEntries(sets) } as unknown as typeof plugin;
  });
  return config;
}
