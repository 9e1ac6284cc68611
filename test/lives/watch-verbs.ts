import { openDeliveries } from '../../src/events/deliveries.ts';
import { keyOf, people } from './approval-verbs.ts';
import { day, type Verbs } from './life.ts';

const watched = ['pay', 'orders', 'users'];

/** events.md, Mail to people. */
export const watchVerbs: Verbs = {
  watch: {
    weight: 8,
    asks: ['createMyWatch'],
    plan(life, draw) {
      const [who, slug] = [draw.of(people), draw.of(watched)];
      if (life.watches.some((each) => each.who === who && each.slug === slug)) return null;
      const watch = { id: '', who, slug, begins: life.world.now() + 1000 };
      life.watches.push(watch);
      return {
        says: `${who} watches ${slug}`,
        async ask() {
          const body = {
            organization: 'acme',
            resources: [`apis/${slug}`],
            events: ['version.published'],
            rhythm: 'once',
          };
          const { call } = life.world;
          const { status, json } = await call('POST', '/v1/me/watches', { key: await keyOf(life, who), body });
          watch.id = String(json['id']);
          return status;
        },
        expected: 201,
      };
    },
  },
  'end a watch': {
    weight: 4,
    asks: ['deleteMyWatch'],
    plan(life, draw) {
      const watch = draw.of(life.watches);
      if (watch === undefined) return null;
      life.watches = life.watches.filter((each) => each !== watch);
      return {
        says: `${watch.who} watches ${watch.slug} no more`,
        async ask() {
          const key = await keyOf(life, watch.who);
          return (await life.world.call('DELETE', `/v1/me/watches/${watch.id}`, { key })).status;
        },
        expected: 204,
      };
    },
  },
  'get the mail': {
    weight: 10,
    plan(life) {
      if (life.published.length === 0) return null;
      const now = life.world.now() + 1000;
      const [must, may] = [[] as string[], [] as string[]];
      for (const { who, slug, begins } of life.watches)
        for (const each of life.published.filter((one) => one.slug === slug && one.at >= begins)) {
          const { deletedAt = 0, versions } = life.resources.get(slug)!;
          const isThere = deletedAt === null && versions.some(({ label }) => label === each.label);
          may.push(`${who}: @acme/apis/${slug}@${each.label} was published`);
          // What is too old by then is not sent.
          if (isThere && now - each.at < 4 * day) must.push(may.at(-1)!);
        }
      life.published = [];
      return {
        says: `get the mail: ${must.join(', ') || 'none'}`,
        async ask() {
          const { mails, nodes, turn } = life.world;
          for (const who of people) await keyOf(life, who);
          mails.splice(0);
          const deliveries = openDeliveries(nodes[turn]!.registry, 'https://registry.test', { interval: 1e9 });
          await deliveries.poke();
          await deliveries.close();
          const got = mails.map(({ to, headers }) => `${to[0]!.split('@')[0]}: ${headers.get('subject')}`);
          return {
            missing: must.filter((each) => !got.includes(each)),
            unasked: got.filter((each) => !may.includes(each)),
            twice: got.filter((each, at) => got.indexOf(each) !== at),
          };
        },
        expected: { missing: [], unasked: [], twice: [] },
      };
    },
  },
};
