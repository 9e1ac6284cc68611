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
  /** Digest of the operation as written, with its path's parameters. Shows whether it changed. */
  digest: Digest;
}

/** A named schema of an API's components or a schema's definitions. `''` names the schema document itself. */
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

/** A summary of a published document, which the sandbox makes of its JSON; texts are plain and truncated. */
export interface Outline {
  title: string;
  /** First paragraph of the description, without its Markdown. */
  description: string;
  operations: OutlineOperation[];
  schemas: OutlineSchema[];
  tags: { name: string; description: string }[];
  rules: OutlineRule[];
  /** URLs of an API's servers, and where they let tokens be fetched. */
  servers: string[];
  /** Whether a list was cut at its limit of 20,000 items, or names of parameters and tags were left out. */
  truncated: boolean;
}

/** The operation's name in lists: `GET /pets/{id}`. */
export function operationName({ method, path }: Pick<OutlineOperation, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/**
 * Names the parts of one document's page: the text after `#` in a deep link. Call it once for each
 * part, in document order. The names are then always the same, so the page and the links to it
 * agree. A name depends only on its part, except that a second part with the same name gets `-2`. They
 * consist of `[A-Za-z0-9._/-]`, so HTML, Markdown and URLs need no escaping.
 */
export function createAnchors() {
  const next = new Map<string, number>();

  function unique(wanted: string): string {
    if (!next.has(wanted)) {
      next.set(wanted, 2);
      return wanted;
    }
    for (let number = next.get(wanted)!; ; number++) {
      const anchor = `${wanted}-${number}`;
      if (next.has(anchor)) continue;
      next.set(wanted, number + 1).set(anchor, 2);
      return anchor;
    }
  }

  return {
    /** `operation/listPets`; without an operationId `operation/get-pets-petId`. */
    operation: ({ method, path, id }: Pick<OutlineOperation, 'method' | 'path' | 'id'>) =>
      unique(`operation/${nameFor(id || `${method.toLowerCase()} ${path}`)}`),
    /** `schema/Pet`; the schema document itself is `schema`. */
    schema: (name: string) => unique(name === '' ? 'schema' : `schema/${nameFor(name)}`),
    rule: (name: string) => unique(`rule/${nameFor(name)}`),
    tag: (name: string) => unique(`tag/${nameFor(name)}`),
    /** `section/Getting-started`: a heading of the description. */
    section: (title: string) => unique(`section/${nameFor(title)}`),
  };
}

function nameFor(text: string): string {
  const name = text
    .slice(0, 200)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 100)
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'x' : name;
}

/** A long reference as several pages. */
export interface Pages {
  /** HTML like that of the whole, with a line for each operation and schema. */
  overview: string;
  /** In order. They follow each other without gaps. */
  parts: PagePart[];
}

/** A page of a long reference: a tag with its operations, or schemas. */
export interface PagePart {
  /** For its URL: a slug. */
  name: string;
  title: string;
  /** Where it starts and ends in the HTML of the whole, in characters. */
  from: number;
  to: number;
  /** The anchors in it to which others link. */
  anchors: string[];
}
