import type { Digest } from './digest.ts';

/** One operation of an API, for lists, search and comparison. */
export interface OutlineOperation {
  /** `GET`, …; for a webhook `WEBHOOK POST`. */
  method: string;
  /** Path template, or the webhook's name. */
  path: string;
  /** `operationId`, or null. */
  id: string | null;
  summary: string;
  tags: string[];
  /** Names of its parameters, those of its path included. */
  parameters: string[];
  deprecated: boolean;
  /**
   * Digest of the operation as written in the document, with its path's parameters. Shows whether
   * it changed.
   */
  digest: Digest;
}

/**
 * A named schema from an API's components or a schema's definitions. `''` names the schema document
 * itself.
 */
export interface OutlineSchema {
  name: string;
  /** Names of its own properties. */
  properties: string[];
  digest: Digest;
}

/** One rule of a ruleset. */
export interface OutlineRule {
  name: string;
  /** `error`, `warn`, `info`, `hint`, `off`. */
  severity: string;
  description: string;
  digest: Digest;
}

/**
 * A summary of a published document. The sandbox makes it from the published JSON; texts are plain
 * and truncated.
 */
export interface Outline {
  title: string;
  /** First paragraph of the description, without its Markdown. */
  description: string;
  operations: OutlineOperation[];
  schemas: OutlineSchema[];
  tags: { name: string; description: string }[];
  rules: OutlineRule[];
  /** URLs of an API's servers. */
  servers: string[];
  /** Whether a list was cut at its limit of 20,000 items. */
  truncated: boolean;
}

/** Names that were added or removed, and names whose content changed. In document order. */
export interface NameChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

/** The differences between two documents. Does not judge whether a change is breaking. */
export interface Changes {
  /** `GET /pets` */
  operations: NameChanges;
  schemas: NameChanges;
  rules: NameChanges;
}

/** The operation's name in lists: `GET /pets/{id}`. */
export function operationName({ method, path }: Pick<OutlineOperation, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** Compares two documents by their outlines. */
export function compareOutlines(before: Outline, after: Outline): Changes {
  return {
    operations: compareNames(named(before.operations, operationName), named(after.operations, operationName)),
    schemas: compareNames(named(before.schemas, nameOf), named(after.schemas, nameOf)),
    rules: compareNames(named(before.rules, nameOf), named(after.rules, nameOf)),
  };
}

/** The number of names that differ. */
export function countChanges({ operations, schemas, rules }: Changes): number {
  return [operations, schemas, rules].reduce(
    (sum, { added, removed, changed }) => sum + added.length + removed.length + changed.length,
    0,
  );
}

function nameOf({ name }: { name: string }): string {
  return name;
}

function named<T extends { digest: Digest }>(items: readonly T[], name: (item: T) => string): Map<string, Digest> {
  return new Map(items.map((item) => [name(item), item.digest]));
}

function compareNames(before: ReadonlyMap<string, Digest>, after: ReadonlyMap<string, Digest>): NameChanges {
  const both = [...after.keys()].filter((name) => before.has(name));
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: both.filter((name) => before.get(name) !== after.get(name)),
  };
}
