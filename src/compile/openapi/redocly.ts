import {
  BaseResolver,
  Config,
  createConfig,
  Oas3_2Types,
  ResolveError,
  Source,
  type Document,
} from '@redocly/openapi-core';
import { isParsed, type KindInput } from '../kind.ts';
import { joinPointer } from '../text/pointer.ts';
import { resolveReference } from '../reference.ts';
import { setMember } from '../text/text.ts';

// Redocly throws on every OpenAPI 3.2 document with a device flow: it declares the scopes' type by a name that does not exist.
const deviceFlow = Oas3_2Types['DeviceAuthorization'];
if (deviceFlow?.properties)
  deviceFlow.properties['scopes'] = { type: 'object', additionalProperties: { type: 'string' } };

/** A node of a file as its author wrote it, by its way up to the file's root. */
export interface Origin {
  file: string;
  parent: Origin | null;
  key: string;
}

/** The origin's JSON Pointer. */
export function pointerOf(origin: Origin): string {
  return origin.parent === null ? '' : joinPointer(pointerOf(origin.parent), origin.key);
}

/** Redocly's view of the collected files: copies that it may change, and where each of their nodes comes from. */
export interface Tree {
  resolver: BaseResolver;
  /** The file's document as redocly takes it; the same one each time. */
  documentOf(path: string): Document;
  /** Where a node of these documents was written; undefined for nodes that redocly made. */
  origins: ReadonlyMap<object, Origin>;
  /** Paths of the files that were asked for, absent and broken ones too. */
  used: ReadonlySet<string>;
  /** How many of them could be given. */
  served(): number;
}

const root = '/tree/';

/** The file's path in the tree, from the name by which redocly knows it. */
export function treePath(absoluteRef: string): string {
  return absoluteRef.startsWith(root) ? absoluteRef.slice(root.length) : absoluteRef;
}

/** Serves redocly the collected files from memory, already parsed. It reads no file, fetches nothing and parses no text. */
export function createTree({ files }: Pick<KindInput, 'files'>): Tree {
  const origins = new Map<object, Origin>();
  const documents = new Map<string, Document>();
  const used = new Set<string>();

  /** Recursion is as deep as the parser let the document be. */
  function copy(value: unknown, origin: Origin): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const made: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
    for (const [key, item] of Object.entries(value))
      setMember(made as Record<string, unknown>, key, copy(item, { file: origin.file, parent: origin, key }));
    origins.set(made, origin);
    return made;
  }

  /** Where there is one file only, every node of it is where it was. */
  function copyOf(value: unknown, file: string): unknown {
    return files.size === 1 ? structuredClone(value) : copy(value, { file, parent: null, key: '' });
  }

  function documentOf(path: string): Document {
    const known = documents.get(path);
    if (known) return known;
    const file = files.get(path);
    used.add(path);
    if (file === undefined) throw new ResolveError(new Error('refused'));
    const text = file.text;
    if (text === null) throw new ResolveError(new Error('unreadable'));
    const document = {
      source: new Source(root + path, text),
      parsed: isParsed(file) ? copyOf(file.value, path) : text,
    };
    documents.set(path, document);
    return document;
  }

  class TreeResolver extends BaseResolver {
    override resolveExternalRef(base: string | null, ref: string): string {
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

  return { resolver: new TreeResolver(), documentOf, origins, used, served: () => documents.size };
}

let plugins: Promise<Config['plugins']> | null = null;

/** Redocly's configuration from rules that we name; it holds nothing that a user wrote, and no plugin but redocly's own. */
export async function createRules(rules: Record<string, 'error' | 'warn'>): Promise<Config> {
  plugins ??= createConfig({}).then((config) => config.plugins);
  return new Config({ rules } as Config['resolvedConfig'], { plugins: await plugins });
}

/** A configuration without any rule. */
export function noRules(): Config {
  return new Config({ rules: {} } as Config['resolvedConfig'], { plugins: [] });
}
