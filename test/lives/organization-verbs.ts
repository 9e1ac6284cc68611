import { keyOf } from './approval-verbs.ts';
import { day, send, type Verbs } from './life.ts';
import { latestOf } from './model.ts';

const organizations = ['globex', 'initech'];
const consumers = ['shop', 'till'];
/** A report expires after so long. */
const reportLife = 90 * day;

/** What counts for a whole organization, whole organizations, and who uses what. */
export const organizationVerbs: Verbs = {
  'default of the organization': {
    weight: 3,
    asks: ['updateOrganization'],
    plan(life, draw) {
      const compatibility = draw.of(['none', 'semver', 'strict'] as const);
      life.defaults.compatibility = compatibility;
      return {
        says: `set the default compatibility of the organization to ${compatibility}`,
        ask: async () => (await send(life, 'PATCH', '/v1/organization', { compatibility })).status,
        expected: 200,
        isRepeatable: true,
      };
    },
  },
  'create organization': {
    weight: 2,
    asks: ['createOrganization'],
    plan(life, draw) {
      const organization = draw.of(organizations);
      const isFounder = draw.chance(0.7);
      const isTaken = life.organizations.has(organization);
      if (isFounder) life.organizations.add(organization);
      return {
        says: `create the organization ${organization}${isFounder ? '' : ', by somebody who may not'}`,
        async ask() {
          const key = isFounder ? await keyOf(life, 'dee', 'admin', ['founders']) : await keyOf(life, 'ann', 'admin');
          const { status } = await life.world.call('POST', '/v1/organizations', { key, body: { organization } });
          const { call } = life.world;
          const administers = await call('GET', '/v1/audit?limit=1', { key, org: organization });
          return [status, administers.status < 300];
        },
        expected: [isFounder ? (isTaken ? 409 : 201) : 403, isFounder],
      };
    },
  },
  'report a consumer': {
    weight: 3,
    asks: ['reportConsumer'],
    plan(life, draw) {
      const name = draw.of(consumers);
      const there = [...life.resources.values()].filter((each) => each.deletedAt === null && latestOf(each) !== null);
      const used = there.filter(() => draw.chance(0.4)).map((each) => ({ ...each, version: latestOf(each)!.label }));
      life.consumers.set(name, {
        uses: new Map(used.map(({ slug, version }) => [slug, version])),
        at: life.world.now() + 1000,
      });
      return {
        says: `${name} uses ${used.map(({ slug, version }) => `${slug}@${version}`).join(', ') || 'nothing'}`,
        async ask() {
          const contracts = await Promise.all(
            used.map(async ({ slug, version }) => {
              const path = `/v1/apis/${slug}/versions/${encodeURIComponent(version)}`;
              const { json } = await life.world.call('GET', path, { key: life.admin });
              return { contract: `@acme/apis/${slug}`, range: version, version, digest: json['digest'] };
            }),
          );
          return (await send(life, 'PUT', `/v1/consumers/${name}`, { contracts })).status;
        },
        expected: 200,
        isRepeatable: true,
      };
    },
  },
  'who uses it': {
    weight: 3,
    plan(life, draw) {
      const resource = draw.of([...life.resources.values()].filter(({ deletedAt }) => deletedAt === null));
      if (resource === undefined) return null;
      const { slug } = resource;
      const now = life.world.now() + 1000;
      const using = [...life.consumers].filter(([, { uses, at }]) => uses.has(slug) && now - at <= reportLife);
      // On its last day it may be gone already.
      if (using.some(([, { at }]) => now - at > reportLife - day)) return null;
      return {
        says: `who uses ${slug}`,
        async ask() {
          const { json } = await life.world.call('GET', `/v1/apis/${slug}/dependants`, { key: life.admin });
          const items = json['items'] as { consumer?: { name: string }; uses: { version: string } }[];
          return items.map(({ consumer, uses }) => `${consumer?.name} uses ${uses.version}`).sort();
        },
        expected: using.map(([name, { uses }]) => `${name} uses ${uses.get(slug)}`).sort(),
      };
    },
  },
};
