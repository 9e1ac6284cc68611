import type { Format, ResourceType } from './address.ts';

// What Stele publishes. To add a kind of document, add a row to `kinds`, and rows to the tables of
// kinds in `compile/`, `render/` and `diff/`. TypeScript reports every table that lacks it.

/** A type in operation names of the management API: `createApi`, `listApis`. */
export interface OperationWords {
  one: string;
  many: string;
}

/** Those of documentation sites. */
export const siteWords: OperationWords = { one: 'Site', many: 'Sites' };

/** The id of an operation of a type: `{one}` and `{many}` stand for its words, as in `update{one}`. */
export function operationId(name: string, { one, many }: OperationWords): string {
  return name.replace('{one}', one).replace('{many}', many);
}

interface TypeRow {
  /** Headings: singular and plural. */
  one: string;
  many: string;
  /** Within sentences: `The document is an OpenAPI document`. */
  noun: string;
  operations: OperationWords;
  /** The last segment of the management API's path that publishes a document. */
  upload: string;
  /** The kind of a document whose root does not tell. */
  usual: Kind;
  /** Why such a document is refused. Null: it is not. */
  unmarked: string | null;
  /** `artifactType` of the manifests. */
  artifactType: string;
  /** The media types that a request may ask for. The first of each format is the default (design §8). */
  mediaTypes: Readonly<Record<Format, readonly string[]>>;
}

const json = ['application/json'];
const yaml = ['application/yaml', 'text/yaml', 'application/x-yaml'];

/** The types of resources. */
export const types: Readonly<Record<ResourceType, TypeRow>> = {
  apis: {
    one: 'API',
    many: 'APIs',
    noun: 'an OpenAPI document',
    operations: { one: 'Api', many: 'Apis' },
    upload: 'spec',
    usual: 'openapi',
    unmarked:
      'The document is not an OpenAPI document. Add "openapi" with a version, such as "openapi: 3.1.0", at its root.',
    artifactType: 'application/vnd.stele.api.v1',
    mediaTypes: {
      json: [...json, 'application/openapi+json', 'application/vnd.oai.openapi+json'],
      yaml: [...yaml, 'application/openapi+yaml', 'application/vnd.oai.openapi'],
    },
  },
  schemas: {
    one: 'Schema',
    many: 'Schemas',
    noun: 'a JSON Schema',
    operations: { one: 'Schema', many: 'Schemas' },
    upload: 'document',
    usual: 'json-schema',
    unmarked: null,
    artifactType: 'application/vnd.stele.schema.v1',
    mediaTypes: { json: [...json, 'application/schema+json'], yaml },
  },
  rulesets: {
    one: 'Ruleset',
    many: 'Rulesets',
    noun: 'a ruleset',
    operations: { one: 'Ruleset', many: 'Rulesets' },
    upload: 'document',
    usual: 'redocly-ruleset',
    unmarked: null,
    artifactType: 'application/vnd.stele.ruleset.v1',
    mediaTypes: { json, yaml },
  },
};

interface KindRow {
  type: ResourceType;
  /** For people. */
  title: string;
  /** Whether the title is followed by the specification's version: `OpenAPI 3.1.0`. */
  isVersioned: boolean;
  /** Whether requests to it can be tried in a browser. */
  isTryable: boolean;
  /** Members of the root. A file without any of these words is no such document. */
  marks: readonly string[];
  /** Names of code that is such a document. Only running it tells what it contains. */
  module?: RegExp;
  /** Of a form of ruleset: the severity of a rule that states none, and where its built-in rules are explained. */
  rules?: { severity: 'warn' | 'error'; documentation: string };
  /** The media types of stored representations. The response's type depends on the request. */
  stored: Readonly<Record<Format, string>>;
}

const plain = { json: 'application/json', yaml: 'application/yaml' };

/** The kinds of documents. Each belongs to one type. A root is of the first kind that recognizes it. */
export const kinds = {
  openapi: {
    type: 'apis',
    title: 'OpenAPI',
    isVersioned: true,
    isTryable: true,
    marks: ['openapi', 'swagger'],
    stored: { json: 'application/openapi+json', yaml: 'application/openapi+yaml' },
  },
  'json-schema': {
    type: 'schemas',
    title: 'JSON Schema',
    isVersioned: true,
    isTryable: false,
    marks: ['$schema'],
    stored: { ...plain, json: 'application/schema+json' },
  },
  'spectral-ruleset': {
    type: 'rulesets',
    title: 'Spectral ruleset',
    isVersioned: false,
    isTryable: false,
    marks: ['rules', 'extends'],
    module: /(?:^|\/)\.spectral\.[cm]?js$/i,
    rules: { severity: 'warn', documentation: 'https://docs.stoplight.io/docs/spectral/4dec24461f3af-open-api-rules' },
    stored: plain,
  },
  'redocly-ruleset': {
    type: 'rulesets',
    title: 'Redocly ruleset',
    isVersioned: false,
    isTryable: false,
    marks: ['rules', 'extends'],
    rules: { severity: 'error', documentation: 'https://redocly.com/docs/cli/rules/built-in-rules' },
    stored: plain,
  },
} as const satisfies Record<string, KindRow>;

/** What is stored, within sentences. */
export const storedKinds = 'OpenAPI documents (2.0 to 3.2), JSON Schemas, and rulesets of Redocly and Spectral';

/** How each kind is recognized, in sentences. */
export const signsOfKinds =
  'An OpenAPI document has "openapi" or "swagger" at its root, a JSON Schema has a "$schema" that names a draft, and a ruleset has "rules" or "extends".';

export type Kind = keyof typeof kinds;

/** The kinds of one type. */
export type KindOf<T extends ResourceType> = { [K in Kind]: (typeof kinds)[K]['type'] extends T ? K : never }[Kind];

export type RulesetKind = KindOf<'rulesets'>;

const rows: readonly [Kind, KindRow][] = Object.entries(kinds) as [Kind, KindRow][];

/** All kinds. */
export const allKinds: readonly Kind[] = rows.map(([kind]) => kind);

/** Makes a row for each kind of a type. */
export function rowsOf<T extends ResourceType, Row>(type: T, make: (kind: KindOf<T>) => Row): Record<KindOf<T>, Row> {
  const own = rows.filter(([, row]) => row.type === type).map(([kind]) => [kind, make(kind as KindOf<T>)]);
  return Object.fromEntries(own) as Record<KindOf<T>, Row>;
}

/** Whether the text names a kind. */
export function isKind(text: unknown): text is Kind {
  return typeof text === 'string' && Object.hasOwn(kinds, text);
}

/** The kind of document that a file of code is by its name, or null. */
export function kindOfModule(path: string): Kind | null {
  return rows.find(([, { module }]) => module?.test(path) === true)?.[0] ?? null;
}

// Buffers, not strings: in Node 26, searching for a `utf16le` string never returns if the bytes
// start at an odd memory offset.
const marks = [...new Set(rows.flatMap(([, row]) => row.marks))].flatMap((mark) => [
  Buffer.from(mark),
  Buffer.from(mark, 'utf16le'),
]);

/** Whether a file may be a document, judged by its name and a byte search. Does not parse it. */
export function mayBeDocument(path: string, bytes: Uint8Array): boolean {
  if (kindOfModule(path) !== null) return true;
  if (!/\.(?:json|ya?ml)$/i.test(path)) return false;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return marks.some((mark) => view.includes(mark));
}
