import { collectGarbage } from '../../src/registry/maintenance/gc.ts';
import { day, syncAll, type Verbs } from './life.ts';

/** Without the id of the request. */
const plain = (text: string): string => text.replace(/urn:uuid:[0-9a-f-]+/, '');

export const keepingVerbs: Verbs = {
  'ask again': {
    weight: 4,
    plan(life, draw) {
      const { world, answers } = life;
      const gone = [...life.resources.values(), ...life.sites.values()].filter(({ deletedAt }) => deletedAt !== null);
      const isThere = (path: string) => !gone.some(({ slug }) => path.includes(`/${slug}/`));
      const asked = draw.of(answers.filter(({ at, path }) => world.now() - at < day && isThere(path)));
      if (asked === undefined) return null;
      const { path, body, once, answer } = asked;
      return {
        says: `ask ${once} again`,
        async ask() {
          const again = await world.call('POST', path, { key: life.admin, body, once });
          return { status: again.status, text: plain(again.text) };
        },
        expected: { status: answer.status, text: plain(answer.text) },
      };
    },
  },
  clock: {
    weight: 4,
    plan(life, draw) {
      const passed = draw.of([60_000, 3_600_000, day, 8 * day]);
      return { says: `${passed / 60_000} minutes pass`, ask: async () => life.world.pass(passed), expected: undefined };
    },
  },
  gc: {
    weight: 3,
    plan(life, draw) {
      const options = { grace: draw.of([0, 24]), quarantine: draw.of([0, 168]) };
      return {
        says: `collect garbage ${JSON.stringify(options)}`,
        async ask() {
          const { registry } = life.world.nodes[0]!;
          await collectGarbage(registry, {
            grace: options.grace * 3_600_000,
            quarantine: options.quarantine * 3_600_000,
            dryRun: false,
          } as never);
        },
        expected: undefined,
      };
    },
  },
  restart: {
    weight: 3,
    plan(life) {
      return { says: 'restart', touches: syncAll(life), ask: () => life.world.restart(), expected: undefined };
    },
  },
};
