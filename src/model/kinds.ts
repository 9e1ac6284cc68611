import type { Format, ResourceType } from './address.ts';

// What Stele publishes. To add a kind of document, add a row to `kinds`, a compile function in
// `compile/run.ts`, and a page and an outline in `render/`. TypeScript reports every table that
// lacks it.

/** A type in operation names of the management API: `createApi`, `listApis`. */
export interface OperationWords {
  one: string;
  many: string;
}

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
  /** `artifactType` of the manifests. */
  artifactType: string;
  /**
   * The media types that representations are stored under. The response's type depends on the
   * request.
   */
  stored: Readonly<Record<Format, string>>;
  /**
   * The media types that a request may ask for. The first of each format is the default (design
   * §8).
   */
  mediaTypes: Readonly<Record<Format, readonly string[]>>;
}

const json = ['application/json'];
const yaml = ['application/yaml', 'text/yaml', 'application/x-yaml'];

/** Spectral's names of a ruleset that is a module. Only running it tells what it contains. */
export const rulesetModule = /(?:^|\/)\.spectral\.[cm]?js$/i;

/** The types of resources. */
export const types: Readonly<Record<ResourceType, TypeRow>> = {
  apis: {
    one: 'API',
    many: 'APIs',
    noun: 'an OpenAPI document',
    operations: { one: 'Api', many: 'Apis' },
    upload: 'spec',
    artifactType: 'application/vnd.stele.api.v1',
    stored: { json: 'application/openapi+json', yaml: 'application/openapi+yaml' },
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
    artifactType: 'application/vnd.stele.schema.v1',
    stored: { json: 'application/schema+json', yaml: 'application/yaml' },
    mediaTypes: { json: [...json, 'application/schema+json'], yaml },
  },
  rulesets: {
    one: 'Ruleset',
    many: 'Rulesets',
    noun: 'a ruleset',
    operations: { one: 'Ruleset', many: 'Rulesets' },
    upload: 'document',
    artifactType: 'application/vnd.stele.ruleset.v1',
    stored: { json: 'application/json', yaml: 'application/yaml' },
    mediaTypes: { json, yaml },
  },
};

interface KindRow {
  type: ResourceType;
  /** For people. */
  title: string;
  /** Whether the title is followed by the specification's version: `OpenAPI 3.1.0`. */
  isVersioned: boolean;
}

/** The kinds of documents. Each belongs to one type. */
export const kinds = {
  openapi: { type: 'apis', title: 'OpenAPI', isVersioned: true },
  'json-schema': { type: 'schemas', title: 'JSON Schema', isVersioned: true },
  'redocly-ruleset': { type: 'rulesets', title: 'Redocly ruleset', isVersioned: false },
  'spectral-ruleset': { type: 'rulesets', title: 'Spectral ruleset', isVersioned: false },
} as const satisfies Record<string, KindRow>;

export type Kind = keyof typeof kinds;

/** Whether the text names a kind. */
export function isKind(text: unknown): text is Kind {
  return typeof text === 'string' && Object.hasOwn(kinds, text);
}
