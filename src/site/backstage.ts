import { slugFrom, type Coordinate } from '../model/address.ts';
import { aboutOf, coordinateOf, nameOf, selectVersion, type Resource } from '../model/resource.ts';
import type { PinningConsumer } from '../registry/graph/consumers.ts';
import type { Site } from './site.ts';

/** An entity of Backstage's catalog (backstage.io/docs/features/software-catalog/descriptor-format). */
interface Entity {
  apiVersion: 'backstage.io/v1alpha1';
  kind: 'System' | 'API' | 'Resource' | 'Component';
  metadata: { name: string; namespace: string; [more: string]: unknown };
  spec: { owner: string; [more: string]: unknown };
}

/**
 * An organization as entities of Backstage, one YAML document each (of JSON, which is YAML): the
 * organization is a System, an API an API, a schema a Resource, and a consumer a Component. The
 * relations are those of the graph, between entities that the reader may read: `resources` and
 * `consumers` are all of those.
 */
export function backstageEntities(
  place: Pick<Site, 'links'>,
  org: string,
  resources: readonly Resource[],
  consumers: readonly PinningConsumer[],
): string {
  const published = resources.filter(({ type, latest }) => type !== 'rulesets' && latest !== null);
  const system = entity('System', { name: org, namespace: org }, { owner: ownerRef(null, org) });
  const entities = [
    system,
    ...published.filter((resource) => resource.org === org).map((one) => entityOf(place, one, published)),
    ...componentsOf(org, consumers, new Map(published.map((resource) => [nameOf(resource), resource]))),
  ];
  return entities.map((one) => `---\n${JSON.stringify(one, null, 2)}\n`).join('');
}

function entity(kind: Entity['kind'], metadata: Entity['metadata'], spec: Entity['spec']): Entity {
  return { apiVersion: 'backstage.io/v1alpha1', kind, metadata, spec };
}

function entityOf({ links }: Pick<Site, 'links'>, resource: Resource, all: readonly Resource[]): Entity {
  const { org, slug, name, topics = [], owner = null, lifecycle } = resource;
  const to = (options: Parameters<typeof links.to>[1]) => links.whole(links.to(coordinateOf(resource), options));
  const page = to({ view: 'page' });
  const metadata = {
    name: slug,
    namespace: org,
    title: name,
    ...(aboutOf(resource) !== '' && { description: aboutOf(resource) }),
    annotations: { 'backstage.io/view-url': page },
    tags: topics,
    links: [{ url: page, title: nameOf(resource) }],
  };
  const common = { lifecycle: lifecycle ?? 'production', owner: ownerRef(owner, org), system: org };
  if (resource.type === 'apis')
    return entity('API', metadata, { type: 'openapi', ...common, definition: { $text: to({ format: 'yaml' }) } });
  const usedBy = all.filter((other) => usesOf(other).includes(nameOf(resource)));
  const dependsOn = all.filter((other) => usesOf(resource).includes(nameOf(other)));
  return entity('Resource', metadata, {
    type: 'json-schema',
    ...common,
    dependencyOf: usedBy.map(entityRef),
    dependsOn: dependsOn.map(entityRef),
  });
}

/** The names of what the latest version of a resource refers to. */
function usesOf(resource: Resource): string[] {
  const latest = selectVersion(resource, { kind: 'latest' })?.version;
  return (latest?.dependencies ?? []).map(({ coordinate }) => coordinate);
}

/** `published`: by name. What a consumer pinned of others is left out. */
function componentsOf(
  org: string,
  consumers: readonly PinningConsumer[],
  published: ReadonlyMap<string, Resource>,
): Entity[] {
  const components = new Map<string, Entity>();
  for (const { name, contracts } of consumers) {
    const slug = slugFrom(name);
    const uses = [...new Set(contracts.map(({ contract }) => contract))].flatMap((one) => published.get(one) ?? []);
    if (slug === null || uses.length === 0 || components.has(slug)) continue;
    const ofType = (type: Resource['type']) => uses.filter((one) => one.type === type).map(entityRef);
    components.set(
      slug,
      entity(
        'Component',
        { name: slug, namespace: org, title: name },
        {
          type: 'service',
          lifecycle: 'production',
          owner: ownerRef(null, org),
          system: org,
          consumesApis: ofType('apis'),
          dependsOn: ofType('schemas'),
        },
      ),
    );
  }
  return [...components.values()];
}

function entityRef({ org, type, slug }: Coordinate): string {
  return `${type === 'apis' ? 'api' : 'resource'}:${org}/${slug}`;
}

/** The reference to an owner: as written if it is one, else the group of this name, else that of the organization. */
function ownerRef(owner: string | null, org: string): string {
  if (owner !== null && /^(?:group|user):(?:[\w.-]{1,63}\/)?[\w.-]{1,63}$/i.test(owner)) return owner;
  return `group:default/${slugFrom(owner ?? '') ?? org}`;
}
