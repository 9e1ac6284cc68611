import { aboutOf, coordinateOf, isOffered, type Resource } from '../model/resource.ts';
import type { Site } from './site.ts';

/**
 * The schemas of an organization for editors, as SchemaStore lists its own: each with the files that
 * follow it (`fileMatch`, empty where it says none) and the URL of each of its versions.
 */
export function schemaCatalog({ links }: Pick<Site, 'links'>, resources: readonly Resource[]): string {
  const schemas = resources
    .filter(({ type, latest }) => type === 'schemas' && latest !== null)
    .map((schema) => {
      const to = (label?: string) =>
        links.whole(links.to(coordinateOf(schema), { format: 'json', ...(label !== undefined && { label }) }));
      const offered = schema.versions.filter(isOffered).map(({ label }) => [label, to(label)] as const);
      return {
        name: schema.name,
        description: aboutOf(schema) || schema.name,
        fileMatch: schema.fileMatch ?? [],
        url: to(),
        versions: Object.fromEntries(offered),
      };
    });
  const catalog = { $schema: 'https://json.schemastore.org/schema-catalog.json', version: 1, schemas };
  return `${JSON.stringify(catalog, null, 2)}\n`;
}
