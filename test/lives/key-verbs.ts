import { createKey, revokeKey } from '../../src/registry/keys/keys.ts';
import { keyOf, personId, people } from './approval-verbs.ts';
import type { Draw } from './draw.ts';
import { day, send, type Life, type ModelKey, type Verbs } from './life.ts';
import { mayMake, maxKeys, rankOfScopes, scopes } from './model.ts';

/** The clock when the step is asked. */
const nextNow = ({ world }: Life) => world.now() + 1000;

const isGood = ({ isRevoked, expiresAt }: ModelKey, now: number) => !isRevoked && (expiresAt ?? Infinity) > now;

/** Those that work, with the administrator's. */
const liveKeys = (life: Life, now: number) => 1 + life.keys.filter((key) => isGood(key, now)).length;

const timeOf = (time: number | null) => (time === null ? null : new Date(time).toISOString());

/** Keeps a key that was made, once. */
function note(life: Life, json: Record<string, unknown>, given: Pick<ModelKey, 'scopes' | 'expiresAt'>): void {
  const id = String(json['id']);
  if (life.keys.some((each) => each.id === id)) return;
  life.keys.push({ id, secret: String(json['secret']), isRevoked: false, ...given });
}

/** What somebody who may do so much gets when they try what needs `publish`, `keys` and `admin`. */
async function tryAll({ world }: Life, key: string): Promise<number[]> {
  // The name is taken.
  const publishing = await world.call('POST', '/v1/apis', { key, body: { name: 'Taken', slug: 'conf-k' } });
  const listing = await world.call('GET', '/v1/keys', { key });
  const auditing = await world.call('GET', '/v1/audit?limit=1', { key });
  return [publishing, listing, auditing].map(({ status }) => status);
}

function expectedOfAll(rank: number): number[] {
  const has = (scope: (typeof scopes)[number]) => rank >= scopes.indexOf(scope);
  return [has('publish') ? 409 : 403, has('keys') ? 200 : 403, has('admin') ? 200 : 403];
}

const aKey = (life: Life, draw: Draw) => draw.of(life.keys);

/** Who makes or replaces a key instead of the administrator, now and then: often one that may do just that. */
function aMaker(life: Life, draw: Draw): ModelKey | undefined {
  const live = life.keys.filter((key) => isGood(key, nextNow(life) + 600_000));
  return draw.of(draw.chance(0.4) ? live.filter(({ scopes: held }) => draw.chance(0.2) || held.includes('keys')) : []);
}

/** Only an administrator makes what lives longer than itself. */
function makes(maker: ModelKey | undefined, made: Pick<ModelKey, 'scopes' | 'expiresAt'>): boolean {
  if (maker === undefined || maker.scopes.includes('admin')) return true;
  return mayMake(maker.scopes, made.scopes) && (made.expiresAt ?? Infinity) <= (maker.expiresAt ?? Infinity);
}

export const keyVerbs: Verbs = {
  'create key': {
    weight: 4,
    asks: ['createKey'],
    plan(life, draw) {
      const held = [draw.of(scopes)];
      const expiresAt = draw.chance(0.4) ? life.world.now() + draw.number(3 * day) + 600_000 : null;
      const body = { name: 'A key', scopes: held, ...(expiresAt !== null && { expiresAt: timeOf(expiresAt) }) };
      const maker = aMaker(life, draw);
      const may = makes(maker, { scopes: held, expiresAt }) && liveKeys(life, nextNow(life)) < maxKeys;
      return {
        says: `create a key for ${held.join()}${maker ? ` by one for ${maker.scopes.join()}` : ''}`,
        async ask() {
          const { status, json } = await send(life, 'POST', '/v1/keys', body, maker?.secret ?? life.admin);
          if (status === 201) note(life, json, { scopes: held, expiresAt });
          return status;
        },
        expected: may ? 201 : 403,
        isRepeatable: !maker && may,
      };
    },
  },
  'the operator makes or revokes a key': {
    weight: 3,
    plan(life, draw) {
      const old = draw.chance(0.5) ? draw.of(life.keys.filter((key) => isGood(key, nextNow(life)))) : undefined;
      if (old === undefined && liveKeys(life, nextNow(life)) >= maxKeys) return null;
      if (old !== undefined) old.isRevoked = true;
      const held = [draw.of(scopes)];
      return {
        says: old === undefined ? `the operator makes a key for ${held.join()}` : `the operator revokes ${old.id}`,
        async ask() {
          // A command has a process of its own, beside those that serve.
          const node = await life.world.open();
          const author = { actor: 'operator:second', origin: null };
          try {
            if (old === undefined) {
              const given = { org: 'acme', name: 'A key', scopes: held };
              const { key, text } = await createKey(node.registry, given, author);
              note(life, { id: key.id, secret: text }, { scopes: held, expiresAt: null });
            } else await revokeKey(node.registry, 'acme', old.id, author);
          } finally {
            await node.close();
          }
        },
        expected: undefined,
      };
    },
  },
  'change key': {
    weight: 4,
    asks: ['updateKey'],
    plan(life, draw) {
      const key = aKey(life, draw);
      if (key === undefined) return null;
      const now = nextNow(life);
      const ends = [null, now + day, now + draw.number(3 * day) + 600_000];
      const body = draw.chance(0.5) ? { scopes: [draw.of(scopes)] } : { expiresAt: draw.of(ends) };
      const isMore =
        'scopes' in body
          ? rankOfScopes(body.scopes!) > rankOfScopes(key.scopes)
          : (body.expiresAt ?? Infinity) > (key.expiresAt ?? Infinity);
      const expected = !isGood(key, now) ? 409 : isMore ? 400 : 200;
      if (expected === 200) Object.assign(key, body);
      const sent = 'scopes' in body ? body : { expiresAt: timeOf(body.expiresAt!) };
      return {
        says: `change ${key.id}: ${JSON.stringify(sent)}`,
        ask: async () => (await send(life, 'PATCH', `/v1/keys/${key.id}`, sent)).status,
        expected,
      };
    },
  },
  'rotate key': {
    weight: 3,
    asks: ['rotateKey'],
    plan(life, draw) {
      const key = aKey(life, draw);
      if (key === undefined) return null;
      const now = nextNow(life);
      const overlap = draw.of([0, 3600, 3 * 86_400]);
      const made = { scopes: key.scopes, expiresAt: key.expiresAt };
      const maker = aMaker(life, draw);
      const hasRoom = liveKeys(life, now) < 2 * maxKeys;
      const expected = !makes(maker, key) ? 403 : !isGood(key, now) ? 409 : hasRoom ? 201 : 403;
      if (expected === 201) key.expiresAt = Math.min(key.expiresAt ?? Infinity, now + overlap * 1000);
      const end = timeOf(key.expiresAt);
      return {
        says: `replace ${key.id}, which goes on for ${overlap} seconds${maker ? `, by one for ${maker.scopes.join()}` : ''}`,
        async ask() {
          const by = maker?.secret ?? life.admin;
          const { status, json } = await send(life, 'POST', `/v1/keys/${key.id}/rotate`, { overlap }, by);
          if (status === 201) note(life, json, made);
          const old = await life.world.call('GET', `/v1/keys/${key.id}`, { key: life.admin });
          return { status, end: old.json['expiresAt'] };
        },
        expected: { status: expected, end },
      };
    },
  },
  'revoke key': {
    weight: 2,
    asks: ['revokeKey'],
    plan(life, draw) {
      const key = aKey(life, draw);
      if (key === undefined || (key.expiresAt ?? Infinity) <= nextNow(life)) return null;
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
    asks: ['createApi'],
    plan(life) {
      const now = nextNow(life);
      const expected = life.keys.map((key) =>
        isGood(key, now) ? expectedOfAll(rankOfScopes(key.scopes)) : [401, 401, 401],
      );
      const used = life.keys.map(({ secret }) => secret);
      return { says: 'use all keys', ask: () => Promise.all(used.map((secret) => tryAll(life, secret))), expected };
    },
  },
  'give rights': {
    weight: 3,
    asks: ['createRights'],
    plan(life, draw) {
      const [person, scope] = [draw.of(people), draw.of(['read', 'keys', 'admin'] as const)];
      if (life.rights.some((each) => each.person === person && each.scope === scope)) return null;
      const given = { id: '', person, scope };
      life.rights.push(given);
      return {
        says: `give ${person} the right ${scope}`,
        async ask() {
          const body = { person: personId(person), scopes: [scope] };
          const { status, json } = await send(life, 'POST', '/v1/rights', body);
          given.id = String(json['id']);
          return status;
        },
        expected: 201,
        isRepeatable: true,
      };
    },
  },
  'take rights back': {
    weight: 2,
    asks: ['deleteRights'],
    plan(life, draw) {
      const taken = draw.of(life.rights);
      if (taken === undefined) return null;
      const left = life.rights.filter((each) => each !== taken);
      // Keys do not count where people have rights: nobody may know where they are.
      const isLast = taken.scope === 'admin' && !left.some(({ scope }) => scope === 'admin');
      const goesOn = draw.chance(0.5);
      if (!isLast || goesOn) life.rights = left;
      return {
        says: `take the right ${taken.scope} back from ${taken.person}`,
        ask: async () => (await send(life, 'DELETE', `/v1/rights/${taken.id}${goesOn ? '?last=true' : ''}`)).status,
        expected: isLast && !goesOn ? 409 : 204,
      };
    },
  },
  'use rights': {
    weight: 4,
    asks: ['createApi'],
    plan(life, draw) {
      const person = draw.of(people);
      // The configuration lets everybody approve; a key of theirs never allows more than they may.
      const held = ['approve', ...life.rights.filter((each) => each.person === person).map(({ scope }) => scope)];
      const scope = draw.of(['publish', 'admin', 'admin'] as const);
      return {
        says: `${person} tries what they may, with a key for ${scope}`,
        ask: async () => tryAll(life, await keyOf(life, person, scope)),
        expected: expectedOfAll(Math.min(rankOfScopes([scope]), rankOfScopes(held))),
      };
    },
  },
};
