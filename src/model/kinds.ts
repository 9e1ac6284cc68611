import type { Format, ResourceType } from './address.ts';

// What Stele publishes. A new kind of document is a row of `kinds`, with a compile function in
// `compile/run.ts` and a page and an outline in `render/`; TypeScript names every table that lacks it.

interface TypeRow {
  /** How people call one of them, and many, in headings. */
  one: string;
  many: string;
  /** In sentences: `The document is an OpenAPI document`. */
  noun: string;
  /** In the names of the management API's operations: `createApi`, `listApis`. */
  operations: { one: string; many: string };
  /** The last segment of the management API's path that publishes a document. */
  upload: string;
  /** `artifactType` of its manifests. */
  artifactType: string;
  /** The media types under which its representations are stored. What is sent depends on what was asked for. */
  stored: Readonly<Record<Format, string>>;
  /** What its documents can be asked for as. The first of a format is for readers who name none (design §8). */
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
  /** How people call it. */
  title: string;
  /** Whether the version of its specification belongs to what people call it: `OpenAPI 3.1.0`. */
  isVersioned: boolean;
}

/** The kinds of documents, more exact than the types. */
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
