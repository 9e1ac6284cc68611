import type { Format, ResourceType } from './address.ts';

const json = ['application/json'];
const yaml = ['application/yaml', 'text/yaml', 'application/x-yaml'];

/** What the documents of each resource type can be asked for as; the first of a format is what those get who name none (design §8). */
export const mediaTypes: Readonly<Record<ResourceType, Readonly<Record<Format, readonly string[]>>>> = {
  apis: {
    json: [...json, 'application/openapi+json', 'application/vnd.oai.openapi+json'],
    yaml: [...yaml, 'application/openapi+yaml', 'application/vnd.oai.openapi'],
  },
  schemas: { json: [...json, 'application/schema+json'], yaml },
  rulesets: { json, yaml },
};
