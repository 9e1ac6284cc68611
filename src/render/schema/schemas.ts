import { type JsonObject, isObject } from '../../model/json.ts';
import { entriesOf, objectOf } from '../json-value.ts';
import { pointerKeys } from '../local-reference.ts';
import { createOnce, type Once } from '../once.ts';

/** The named schemas of a document, and the targets of references. */
export interface Schemas {
  /** Name of the referenced schema, or null. */
  nameOf(reference: string): string | null;
  document: JsonObject;
  /**
   * How many more schema members to read. A few large schemas that are referred to from everywhere
   * could take hours. Below zero, schemas are shown as "not shown".
   */
  left: number;
  /** How many more schemas to read for samples of their usual size. */
  samples: number;
  /** Remembers schemas that were read. */
  once: Once;
}

/**
 * How many members of schemas are read for a page: so many, and one more for each 20 bytes of the
 * document. The largest known documents need a quarter of that.
 */
const maxVisits = { atLeast: 250_000, each: 20 };
/** The same for schemas that samples read: one more for each 50 bytes. The known documents need at most 60 % of that. */
const maxSampled = { atLeast: 10_000, each: 50 };

/**
 * Finds the named schemas: those in `components/schemas`, `definitions` and `$defs`, and (as `''`)
 * the root of a JSON Schema. `bytes`: the length of the document.
 */
export function createSchemas(document: JsonObject, kind: 'openapi' | 'json-schema', bytes: number): Schemas {
  const starts =
    kind === 'openapi'
      ? ['#/components/schemas/', '#/definitions/']
      : definitionFolders(document).map((name) => `#/${name}/`);
  const ids = new Map<string, string>();
  if (kind === 'json-schema') {
    for (const [name, one] of [['', document] as const, ...definitionsOf(document)]) {
      const { $id, id, $anchor, $dynamicAnchor } = objectOf(one);
      for (const uri of [$id, id]) if (typeof uri === 'string' && uri !== '') ids.set(uri.replace(/#$/, ''), name);
      for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') ids.set(`#${anchor}`, name);
    }
  }
  const names = new Map<string, string | null>();
  return {
    document,
    left: maxVisits.atLeast + bytes / maxVisits.each,
    samples: maxSampled.atLeast + bytes / maxSampled.each,
    once: createOnce(),
    nameOf: (reference) => names.getOrInsertComputed(reference, nameBehind),
  };

  function nameBehind(reference: string): string | null {
    if (reference === '#' && kind === 'json-schema') return '';
    const folder = starts.find((start) => reference.startsWith(start));
    if (folder === undefined) return ids.get(reference.replace(/#$/, '')) ?? null;
    const keys = pointerKeys(reference);
    const schemas =
      folder === '#/components/schemas/' ? objectOf(document['components'])['schemas'] : document[keys[0]!];
    const name = keys.at(-1)!;
    return keys.length === folder.split('/').length - 1 && Object.hasOwn(objectOf(schemas), name) ? name : null;
  }
}

/** Definitions of a JSON Schema, in any of its members. */
export function definitionsOf(document: JsonObject): [string, unknown][] {
  return definitionFolders(document).flatMap((folder) => [...entriesOf(document[folder])]);
}

const keywords = new Set(
  'properties patternProperties dependentSchemas dependencies items additionalProperties not if then else contains propertyNames default const contentSchema'.split(' '), // prettier-ignore
);

const folders = new WeakMap<JsonObject, string[]>();

/**
 * The members with definitions: those of the specification, and those that the document's own
 * references use (Vega has `defs` and `refs`).
 */
export function definitionFolders(document: JsonObject): string[] {
  const remembered = folders.get(document);
  if (remembered) return remembered;
  const named = ['definitions', '$defs'];
  const others = Object.keys(document).filter(
    (key) => /^\w[\w.-]{0,50}$/.test(key) && !named.includes(key) && !keywords.has(key) && isObject(document[key]),
  );
  const text = others.length === 0 ? '' : writtenOut(document);
  const names = others.filter((key) =>
    entriesOf(document[key])
      .slice(0, 50)
      .some(([name, one]) => isObject(one) && text.includes(JSON.stringify(`#/${key}/${name}`))),
  );
  const all = [...named, ...names.slice(0, 5)];
  folders.set(document, all);
  return all;
}

/** The document as JSON; empty if it is nested too deep. */
function writtenOut(document: JsonObject): string {
  try {
    return JSON.stringify(document);
  } catch {
    return '';
  }
}
