import type { Draw } from './draw.ts';
import { day, type Life, type SmallResource, type Verbs } from './life.ts';

/**
 * quotas.md: an organization that may have little. What it deletes or withdraws makes room; what is refused leaves nothing.
 * The versions of a deleted resource count.
 */
export const smallQuotas = { resources: 2, versions: 4 };
const slugs = ['one', 'two', 'three'];

/** How much there is. */
function usage({ small }: Life): { resources: number; versions: number } {
  const all = [...small.resources.values()];
  const versions = all.flatMap((each) => [...each.versions.values()].filter((isThere) => isThere));
  return { resources: all.filter(({ deletedAt }) => deletedAt === null).length, versions: versions.length };
}

const hasRoom = (life: Life, name: keyof typeof smallQuotas, more = 1) => usage(life)[name] + more <= smallQuotas[name];

function aResource({ small }: Life, draw: Draw, isDeleted: boolean): [string, SmallResource] | undefined {
  return draw.of([...small.resources].filter(([, { deletedAt }]) => (deletedAt !== null) === isDeleted));
}

const documentOf = (version: string) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'Small', version }, paths: {} });

export const quotaVerbs: Verbs = {
  'publish under a quota': {
    weight: 5,
    asks: ['publishApi'],
    plan(life, draw) {
      const slug = draw.of(slugs);
      const there = life.small.resources.get(slug);
      if (there && there.deletedAt !== null) return null;
      // Of two at once one may be too many.
      const labels = Array.from({ length: draw.of([1, 1, 2]) }, (_, at) => `1.${life.step}.${at}`);
      const isNew = there === undefined;
      if (isNew && labels.length > 1) return null;
      const room = isNew && !hasRoom(life, 'resources') ? 0 : smallQuotas.versions - usage(life).versions;
      const made = Math.max(0, Math.min(labels.length, room));
      const resource = there ?? { deletedAt: null, versions: new Map<string, boolean>() };
      if (made > 0) life.small.resources.set(slug, resource);
      return {
        says: `publish ${labels.join(' and ')} of ${slug} where ${smallQuotas.versions} versions may be`,
        async ask() {
          const publish = async (label: string) => {
            const body = { ...(isNew && { create: {} }), document: documentOf(label) };
            const { status } = await life.world.call('POST', `/v1/apis/${slug}/spec`, { key: life.small.key, body });
            if (status === 201) resource.versions.set(label, true);
            return status;
          };
          return (await Promise.all(labels.map(publish))).sort();
        },
        expected: labels.map((_, at) => (at < made ? 201 : 403)),
      };
    },
  },
  'withdraw under a quota': {
    weight: 3,
    asks: ['updateApiVersion'],
    plan(life, draw) {
      const [slug, resource] = aResource(life, draw, false) ?? [];
      const label = draw.of([...(resource?.versions ?? [])].flatMap(([each, isThere]) => (isThere ? [each] : [])));
      if (label === undefined) return null;
      resource!.versions.set(label, false);
      return {
        says: `withdraw ${slug}@${label}`,
        async ask() {
          const body = { status: { state: 'withdrawn', reason: 'It needs room.' } };
          const path = `/v1/apis/${slug}/versions/${label}`;
          return (await life.world.call('PATCH', path, { key: life.small.key, body })).status;
        },
        expected: 200,
      };
    },
  },
  'delete or undelete under a quota': {
    weight: 4,
    asks: ['deleteApi', 'undeleteApi'],
    plan(life, draw) {
      const isBack = draw.chance(0.5);
      const [slug, resource] = aResource(life, draw, isBack) ?? [];
      if (resource === undefined) return null;
      const isLate = isBack && life.world.now() - resource.deletedAt! > 30 * day;
      const expected = !isBack ? 204 : isLate ? 409 : hasRoom(life, 'resources') ? 200 : 403;
      if (expected < 300) resource.deletedAt = isBack ? null : life.world.now() + 1000;
      const [method, path] = isBack ? ['POST', `/v1/apis/${slug}/undelete`] : ['DELETE', `/v1/apis/${slug}`];
      return {
        says: `${isBack ? 'undelete' : 'delete'} ${slug} where ${smallQuotas.resources} may be`,
        ask: async () => (await life.world.call(method, path, { key: life.small.key })).status,
        expected,
      };
    },
  },
  'look at the quota': {
    weight: 3,
    plan(life) {
      return {
        says: 'look at the quota',
        async ask() {
          const { json } = await life.world.call('GET', '/v1/limits', { key: life.small.key });
          const { resources, versions } = json['usage'] as Record<string, number>;
          return { resources, versions };
        },
        expected: usage(life),
      };
    },
  },
};
