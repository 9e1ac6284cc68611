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
  /** Its `x-sunset`. Absent: none is stated. */
  sunset?: string;
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

/** The operation's name in lists: `GET /pets/{id}`. */
export function operationName({ method, path }: Pick<OutlineOperation, 'method' | 'path'>): string {
  return `${method} ${path}`;
}
