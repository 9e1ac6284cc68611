import type { Scope } from '../../src/model/access.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { noteSignIn } from '../../src/registry/keys/people.ts';
import { send, type Life, type Verbs } from './life.ts';
import { decide, waitingAt } from './model.ts';

const issuer = 'https://login.test';
export const people = ['ann', 'bob', 'cid'] as const;

/** The login of all lives: whoever signs in may approve. */
export const login = {
  issuer,
  clientId: 'x',
  clientSecret: { env: 'NOT_READ' },
  sessionSecret: { env: 'NOT_READ' },
  creators: ['founders'],
  organizations: { '*': [{ organization: 'acme', scopes: ['approve' as const] }] },
};

/** A person as members are listed. */
export const personId = (name: string) => `${issuer}#${name}`;

/** A key of somebody who signed in just now. */
export async function keyOf(
  { world }: Life,
  name: string,
  scope: Scope = 'approve',
  groups: string[] = [],
): Promise<string> {
  const { registry } = world.nodes[world.turn]!;
  const actor = `user:${personId(name)}`;
  const email = `${name}@acme.test`;
  await noteSignIn(registry, ['acme'], { actor, name, groups, email, signedInAt: registry.now().toISOString() });
  const expiresAt = new Date(world.now() + 60_000).toISOString();
  const given = { org: null, person: actor, organizations: null, name: 'life', scopes: [scope], expiresAt };
  return (await createKey(registry, given, { actor, origin: null })).text;
}

/** What breaks waits until somebody else has approved it. */
export const approvalVerbs: Verbs = {
  'want approval': {
    weight: 5,
    asks: ['updateApi'],
    plan(life, draw) {
      const resource = draw.of(
        [...life.resources.values()].filter(({ from, deletedAt }) => !from && deletedAt === null),
      );
      if (resource === undefined) return null;
      resource.approval = draw.chance(0.8);
      const { slug, approval } = resource;
      return {
        says: `${approval ? 'want' : 'do not want'} approval for ${slug}`,
        ask: async () =>
          (await send(life, 'PATCH', `/v1/apis/${slug}`, { approval: approval ? 'required' : 'none' })).status,
        expected: 200,
        touches: [slug],
        isRepeatable: true,
      };
    },
  },
  decide: {
    weight: 8,
    asks: ['decideApproval'],
    plan(life, draw) {
      const now = life.world.now() + 1000;
      const resource = draw.of(
        [...life.resources.values()].filter((each) => each.deletedAt === null && waitingAt(each, now) !== null),
      );
      if (resource === undefined) return null;
      const { slug } = resource;
      const { label } = waitingAt(resource, now)!;
      const who = draw.of(people);
      const verdict = draw.chance(0.8) ? 'approved' : 'rejected';
      const isTheirs = !decide(resource, who, verdict, now);
      return {
        says: `${who}: ${verdict} ${slug}@${label}`,
        async ask() {
          const key = await keyOf(life, who);
          const { json } = await life.world.call('GET', `/v1/approvals?resource=apis/${slug}`, { key });
          const items = json['items'] as { id: string; version: string; mayDecide: boolean }[];
          const [held] = items;
          const body = { verdict, reason: 'A life.' };
          const { status } = await life.world.call('POST', `/v1/approvals/${held?.id ?? 'none'}`, { key, body });
          return { held: items.map(({ version }) => version), may: held?.mayDecide, status };
        },
        expected: { held: [label], may: !isTheirs, status: isTheirs ? 403 : 200 },
        touches: [slug],
      };
    },
  },
};
