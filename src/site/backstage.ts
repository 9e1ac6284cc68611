import { stringify } from 'yaml';
import type { Config } from '../config.ts';
import { teamsOf } from '../config/organization-config.ts';
import { linksOf, teamOf, type Team } from '../model/ownership.ts';
import { slugFrom, type Coordinate } from '../model/address.ts';
import { aboutOf, nameOf, selectVersion, type Resource } from '../model/resource.ts';
import type { PinningConsumer } from '../registry/graph/dependants.ts';
import type { Site } from './site.ts';

/** An entity of Backstage's catalog (backstage.io/docs/features/software-catalog/descriptor-format). */
interface Entity {
  apiVersion: 'backstage.io/v1alpha1';
  kind: 'System' | 'Group' | 'API' | 'Resource' | 'Component';
  metadata: { name: string; namespace: string; [more: string]: unknown };
  spec: Record<string, unknown>;
}

/**
 * An organization as entities of Backstage, one YAML document each: the
 * organization and each system in it is a System, a team that owns something a Group, an API an API, a schema a Resource, and a
 * consumer a Component. The
 * relations are those of the graph, between entities that the reader may read: `resources` and
 * `consumers` are all of those.
 */
export function backstageEntities(
  place: Pick<Site, 'links'> & { config: Pick<Config, 'organizations'> },
  org: string,
  resources: readonly Resource[],
  consumers: readonly PinningConsumer[],
): string {
  const published = resources.filter(({ type, latest }) => type !== 'rulesets' && latest !== null);
  const ours = published.filter((resource) => resource.org === org);
  const teams = teamsOf(place.config, org);
  const systems = new Set([org, ...ours.flatMap(({ system }) => system ?? [])]);
  const owners = Object.entries(teams).filter(([, team]) => ours.some(({ owner }) => teamOf(teams, owner) === team));
  const entities = [
    ...[...systems].map((name) => entity('System', { name, namespace: org }, { owner: ownerRef(null, org) })),
    ...owners.map(([name, team]) => groupOf(org, name, team)),
    ...ours.map((one) => entityOf(place, one, published, teams)),
    ...componentsOf(org, consumers, new Map(published.map((resource) => [nameOf(resource), resource]))),
  ];
  return entities.map((one) => `---\n${stringify(one, { lineWidth: 0 })}`).join('');
}

function entity(kind: Entity['kind'], metadata: Entity['metadata'], spec: Entity['spec']): Entity {
  return { apiVersion: 'backstage.io/v1alpha1', kind, metadata, spec };
}

function groupOf(org: string, name: string, { title, mail, chat, onCall }: Team): Entity {
  const links = [
    ...(chat ? [{ url: chat, title: 'Chat' }] : []),
    ...(onCall ? [{ url: onCall, title: 'On call' }] : []),
  ];
  const profile = { ...(title && { displayName: title }), ...(mail && { email: mail }) };
  return entity('Group', { name, namespace: org, links }, { type: 'team', profile, children: [] });
}

function entityOf(
  { links }: Pick<Site, 'links'>,
  resource: Resource,
  all: readonly Resource[],
  teams: Readonly<Record<string, Team>>,
): Entity {
  const { org, slug, name, topics = [], owner = null, lifecycle, system } = resource;
  const page = links.url(resource, { view: 'page' });
  const metadata = {
    name: slug,
    namespace: org,
    title: name,
    ...(aboutOf(resource) !== '' && { description: aboutOf(resource) }),
    annotations: { 'backstage.io/view-url': page },
    tags: topics,
    links: [{ url: page, title: nameOf(resource) }, ...linksOf(resource)],
  };
  const common = { lifecycle: lifecycle ?? 'production', owner: ownerRef(owner, org, teams), system: system ?? org };
  if (resource.type === 'apis')
    return entity('API', metadata, {
      type: 'openapi',
      ...common,
      definition: { $text: links.url(resource, { format: 'yaml' }) },
    });
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

/** The reference to an owner: its team, else as written if it is one, else the group of this name, else that of the organization. */
function ownerRef(owner: string | null, org: string, teams: Readonly<Record<string, Team>> = {}): string {
  const team = teamOf(teams, owner);
  const [named] = Object.entries(teams).find(([, each]) => each === team) ?? [];
  if (named !== undefined) return `group:${org}/${named}`;
  if (owner !== null && /^(?:group|user):(?:[\w.-]{1,63}\/)?[\w.-]{1,63}$/i.test(owner)) return owner;
  return `group:default/${slugFrom(owner ?? '') ?? org}`;
}
