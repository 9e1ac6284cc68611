import type { Digest } from './digest.ts';

/** One operation of an API, as lists, search and comparison need it. */
export interface OutlineOperation {
  /** `GET`, …; of a webhook `WEBHOOK POST`. */
  method: string;
  /** Path template, or the webhook's name. */
  path: string;
  /** `operationId`, or null. */
  id: string | null;
  summary: string;
  tags: string[];
  deprecated: boolean;
  /** Over the operation as the document writes it, the parameters of its path included: says whether it changed. */
  digest: Digest;
}

/** One named schema: of an API's components, of a schema's definitions, or (named `''`) the schema document itself. */
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

/** What is in a published document, in short. Made in the sandbox, from the published JSON; texts are plain and cut at sane lengths. */
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
  /** Whether there was more than is listed (each list ends at 20,000). */
  truncated: boolean;
}

/** The names that one side has and the other has not, and those that both have with another content. In the order of the documents. */
export interface NameChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

/** What differs between two documents. Whether it breaks anybody is not judged. */
export interface Changes {
  /** `GET /pets` */
  operations: NameChanges;
  schemas: NameChanges;
  rules: NameChanges;
}

/** How an operation is named in lists: `GET /pets/{id}`. */
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

/** How many names differ. */
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
