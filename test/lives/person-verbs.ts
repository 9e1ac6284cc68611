import { noteSignIn } from '../../src/registry/keys/people.ts';
import { createPersonalKey } from '../../src/registry/keys/personal-keys.ts';
import { personId } from './approval-verbs.ts';
import type { Draw } from './draw.ts';
import { day, send, type Life, type ModelPerson, type PersonsKey, type Verbs } from './life.ts';
import { rankOfScopes, scopes } from './model.ts';

/**
 * management-api.md, Keys of your own: a key is its owner as of the last sign-in, cut to its scope and organizations; it
 * works for 30 days after that sign-in, and 90 in all. Rights of groups count at once, also for keys.
 */
const members = ['kim', 'lou'];
const groups = ['red', 'blue'];
const [signInLife, keyLife] = [30 * day, 90 * day];
/** Everybody who signs in has it, by the configuration. */
const floor = { scope: 'approve', isPart: false };

const nextNow = ({ world }: Life) => world.now() + 1000;
const actorOf = (who: string) => `user:${personId(who)}`;
const keysOf = ({ persons }: Life) => persons.flatMap(({ who, keys }) => keys.map((key) => ({ who, key })));

function isGood({ signedInAt }: ModelPerson, { isRevoked, expiresAt }: PersonsKey, now: number): boolean {
  return !isRevoked && expiresAt > now && now - signedInAt <= signInLife;
}

/** What somebody with this key gets who tries to publish what is there, to list keys, to list webhooks and to read the audit. */
function expectedOf(life: Life, person: ModelPerson, key: PersonsKey): number[] {
  if (!isGood(person, key, nextNow(life))) return [401, 401, 401, 401];
  if (key.organizations?.includes('acme') === false) return [403, 403, 403, 403];
  const held = [floor, ...life.groupRights.filter(({ group }) => person.groups.includes(group))];
  const has = (scope: (typeof scopes)[number], part: boolean) =>
    held.some((each) => {
      const rank = Math.min(rankOfScopes([each.scope]), rankOfScopes([key.scope]));
      return rank >= scopes.indexOf(scope) && (part || !each.isPart);
    });
  const may = (isAllowed: boolean, status = 200) => (isAllowed ? status : 403);
  return [may(has('publish', true), 409), may(has('keys', false)), may(has('admin', true)), may(has('admin', false))];
}

/** By whom a key of a person is revoked: an administrator, or themselves with another of their keys. */
function aRevoker(life: Life, draw: Draw, { who, key }: { who: string; key: PersonsKey }): PersonsKey | undefined {
  const person = life.persons.find((each) => each.who === who)!;
  const others = person.keys.filter((each) => each !== key && isGood(person, each, nextNow(life)));
  return draw.chance(0.5) ? draw.of(others) : undefined;
}

export const personVerbs: Verbs = {
  'sign in': {
    weight: 4,
    plan(life, draw) {
      const who = draw.of(members);
      const signedIn = { groups: groups.filter(() => draw.chance(0.5)), signedInAt: nextNow(life) };
      const known = life.persons.find((each) => each.who === who);
      // Most keys outlive the trust in a sign-in.
      if (known && draw.chance(0.7)) return null;
      if (known) Object.assign(known, signedIn);
      else life.persons.push({ who, keys: [], ...signedIn });
      return {
        says: `${who} signs in, in the groups ${signedIn.groups.join() || 'none'}`,
        async ask() {
          const { registry } = life.world.nodes[life.world.turn]!;
          const signedInAt = registry.now().toISOString();
          await noteSignIn(registry, ['acme'], { actor: actorOf(who), name: who, groups: signedIn.groups, signedInAt });
        },
        expected: undefined,
      };
    },
  },
  'make a key of a person': {
    weight: 5,
    plan(life, draw) {
      const person = draw.of(life.persons);
      if (person === undefined) return null;
      const { who } = person;
      const organizations = draw.of([null, null, ['acme'], ['acme', 'globex'], ['globex']]);
      const ends = draw.chance(0.3) ? nextNow(life) + 600_000 + draw.number(40 * day) : null;
      const expiresAt = ends ?? nextNow(life) + keyLife;
      const key = { id: '', secret: '', scope: draw.of(scopes), organizations, expiresAt, isRevoked: false };
      person.keys.push(key);
      const where = organizations?.join(' and ') ?? 'all organizations';
      return {
        says: `${who} makes a key for ${key.scope} in ${where}`,
        async ask() {
          const { registry } = life.world.nodes[life.world.turn]!;
          const given = { name: 'laptop', scopes: [key.scope], organizations };
          const made = await createPersonalKey(
            registry,
            actorOf(who),
            { ...given, ...(ends !== null && { expiresAt: new Date(ends).toISOString() }) },
            { actor: actorOf(who), origin: null },
          );
          Object.assign(key, { id: made.key.id, secret: made.text });
        },
        expected: undefined,
      };
    },
  },
  'revoke a key of a person': {
    weight: 2,
    asks: ['revokeKey', 'revokeMyKey'],
    plan(life, draw) {
      const chosen = draw.of(keysOf(life));
      if (chosen === undefined) return null;
      const { who, key } = chosen;
      const own = aRevoker(life, draw, chosen);
      const isSeen = own !== undefined || key.organizations?.includes('acme') !== false;
      if (isSeen) key.isRevoked = true;
      return {
        says: `revoke a key of ${who}, by ${own ? 'another one' : 'an administrator'}`,
        async ask() {
          const path = own ? `/v1/me/keys/${key.id}` : `/v1/keys/${key.id}`;
          return (await life.world.call('DELETE', path, { key: own?.secret ?? life.admin })).status;
        },
        expected: isSeen ? 204 : 404,
      };
    },
  },
  'use keys of people': {
    weight: 5,
    asks: ['createApi'],
    plan(life) {
      const expected = life.persons.flatMap((person) => person.keys.map((key) => expectedOf(life, person, key)));
      const used = keysOf(life).map(({ key }) => key);
      if (used.length === 0) return null;
      const tryAll = async ({ secret: key }: PersonsKey) => {
        const ask = async (method: string, path: string, body?: object) =>
          (await life.world.call(method, path, { key, org: 'acme', ...(body && { body }) })).status;
        return [
          await ask('POST', '/v1/apis', { name: 'Taken', slug: 'conf-k' }),
          await ask('GET', '/v1/keys'),
          await ask('GET', '/v1/webhooks'),
          await ask('GET', '/v1/audit?limit=1'),
        ];
      };
      return { says: 'use all keys of people', ask: () => Promise.all(used.map(tryAll)), expected };
    },
  },
  'list keys of people': {
    weight: 2,
    plan(life) {
      const there = keysOf(life).filter(({ key }) => key.organizations?.includes('acme') !== false);
      return {
        says: 'list keys of people',
        async ask() {
          const listed: { id: string; person?: string; organizations: string[] | null; revokedAt: string | null }[] =
            [];
          for (let after = ''; ;) {
            const path = `/v1/keys?limit=100${after}`;
            const { json } = await life.world.call('GET', path, { key: life.admin });
            listed.push(...(json['items'] as typeof listed));
            if (json['next'] === null) break;
            after = `&cursor=${String(json['next'])}`;
          }
          const ours = listed.filter(({ person }) => members.some((who) => person === personId(who)));
          return ours.map(({ id, organizations, revokedAt }) => `${id} ${organizations} ${revokedAt !== null}`).sort();
        },
        get expected() {
          // Of the others nobody else learns.
          return there.map(({ key }) => `${key.id} ${key.organizations && 'acme'} ${key.isRevoked}`).sort();
        },
      };
    },
  },
  'give rights to a group': {
    weight: 3,
    asks: ['createRights'],
    plan(life, draw) {
      const group = draw.of(groups);
      const { scope, isPart } = draw.of([
        { scope: 'read', isPart: false },
        { scope: 'keys', isPart: false },
        { scope: 'admin', isPart: true },
      ] as const);
      if (life.groupRights.some((each) => each.group === group && each.scope === scope)) return null;
      const given = { id: '', group, scope, isPart };
      life.groupRights.push(given);
      return {
        says: `give the group ${group} the right ${scope}${isPart ? ' for some' : ''}`,
        async ask() {
          const body = { group, scopes: [scope], ...(isPart && { resources: ['apis/conf-*'] }) };
          const { status, json } = await send(life, 'POST', '/v1/rights', body);
          given.id = String(json['id']);
          return status;
        },
        expected: 201,
        isRepeatable: true,
      };
    },
  },
  'take rights from a group': {
    weight: 2,
    asks: ['deleteRights'],
    plan(life, draw) {
      const taken = draw.of(life.groupRights);
      if (taken === undefined) return null;
      life.groupRights = life.groupRights.filter((each) => each !== taken);
      return {
        says: `take the right ${taken.scope} from the group ${taken.group}`,
        ask: async () => (await send(life, 'DELETE', `/v1/rights/${taken.id}`)).status,
        expected: 204,
      };
    },
  },
};
