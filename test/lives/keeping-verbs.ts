import { collectGarbage } from '../../src/registry/maintenance/gc.ts';
import { day, send, syncAll, type Verbs } from './life.ts';

/** Without the id of the request. */
const plain = (text: string): string => text.replace(/urn:uuid:[0-9a-f-]+/, '');

export const keepingVerbs: Verbs = {
  'create key': {
    weight: 3,
    plan(life, draw) {
      const scope = draw.of(['read', 'publish', 'admin']);
      const expiresAt = draw.chance(0.4) ? life.world.now() + draw.number(3 * day) + 60_000 : null;
      const body = {
        name: 'A key',
        scopes: [scope],
        ...(expiresAt !== null && { expiresAt: new Date(expiresAt).toISOString() }),
      };
      return {
        says: `create a key for ${scope}`,
        async ask() {
          const { status, json } = await send(life, 'POST', '/v1/keys', body);
          if (status === 201 && !life.keys.some(({ id }) => id === json['id']))
            life.keys.push({ id: String(json['id']), secret: String(json['secret']), isRevoked: false, expiresAt });
          return status;
        },
        expected: 201,
        isRepeatable: true,
      };
    },
  },
  'revoke key': {
    weight: 2,
    plan(life, draw) {
      const key = draw.of(life.keys);
      if (key === undefined || (key.expiresAt ?? Infinity) <= life.world.now()) return null;
      key.isRevoked = true;
      return {
        says: `revoke ${key.id}`,
        ask: async () => (await send(life, 'DELETE', `/v1/keys/${key.id}`)).status,
        expected: 204,
        isRepeatable: true,
      };
    },
  },
  'use keys': {
    weight: 3,
    plan(life) {
      const { world, keys } = life;
      const isGood = keys.map((key) => !key.isRevoked && (key.expiresAt ?? Infinity) > world.now());
      return {
        says: 'use all keys',
        async ask() {
          const used = await Promise.all(keys.map(({ secret }) => world.call('GET', '/v1/me', { key: secret })));
          return used.map(({ status }) => status);
        },
        expected: isGood.map((good) => (good ? 200 : 401)),
      };
    },
  },
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
      return {
        says: `${passed / 60_000} minutes pass`,
        ask: async () => life.world.pass(passed),
        expected: undefined,
      };
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
