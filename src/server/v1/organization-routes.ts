import { teamsOf } from '../../config/organization-config.ts';
import { grantsIn, isAllowed, mayCreateOrganization, organizationsOf, type Principal } from '../../model/access.ts';
import { keyRef, type Key, type Person } from '../../model/key.ts';
import { readAudit, type AuditFilter, type AuditPosition, type AuditStep, readChanges } from '../../registry/audit.ts';
import { readKeyUse } from '../../registry/keys/keys.ts';
import { listMembers, groupsHere, rightsIn, rightsOf, type RightsHere } from '../../registry/keys/people.ts';
import { createOrganization, giveRights, takeRights, type NewRights } from '../../registry/keys/change-rights.ts';
import { organizationsFor } from '../../registry/maintenance/organizations.ts';
import {
  changeOrganization,
  readOrganization,
  type CurrentSettings,
  type OrganizationChange,
} from '../../registry/gate/organization-settings.ts';
import type { Registry } from '../../registry/registry.ts';
import { quotasOf, usageOf } from '../../registry/maintenance/quotas.ts';
import {
  answerRecord,
  bodyOf,
  type Answer,
  guardOf,
  sendPage,
  type Call,
  operationsAbout,
  resourceNamed,
  sendSorted,
} from './call.ts';
import { documentBodyBytes, plainBodyBytes } from './api-description.ts';
import { malformed, forbidden } from '../../model/errors.ts';
import { keyRecord } from './resource-records.ts';
import { createWaitingPlaces } from '../../scheduling/places.ts';
import { openValue, sealValue } from '../../registry/seal.ts';

export const organizationOperations = {
  ...operationsAbout('organization', {
    getOrganization: async ({ registry, org }) => answerWith(registry, org, await readOrganization(registry, org)),

    async updateOrganization(call) {
      const { registry, org, author } = call;
      const change = bodyOf<OrganizationChange>(call);
      return answerWith(registry, org, await changeOrganization(registry, org, change, author, guardOf(call)));
    },

    async listRights(call) {
      const { registry, org } = call;
      const all = (await rightsIn(registry, org)).map((given, index) => ({ given, index: index + 1 }));
      return sendPage<(typeof all)[number], number>(
        call,
        (after) => all.slice(after ?? 0),
        { describe: ({ given }) => rightsRecord(given), keyOf: ({ index }) => index },
        Number.isSafeInteger,
      );
    },

    async createRights(call) {
      const { registry, org, author } = call;
      return { status: 201, body: rightsRecord(await giveRights(registry, org, bodyOf<NewRights>(call), author)) };
    },

    async deleteRights({ registry, org, author, path, query }) {
      await takeRights(registry, org, path['rights']!, author, { last: query['last'] === true });
      return { status: 204 };
    },

    /** The people of the organization as sign-in saw them, with what they may do as configured now. */
    async listMembers(call) {
      const { registry, org } = call;
      const here = await rightsIn(registry, org);
      const idOf = ({ actor }: Person) => actor.replace(/^user:/, '');
      const all = (await listMembers(registry, org)).toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
      return sendSorted(call, all, {
        describe: async (member) => ({
          id: idOf(member),
          name: member.name,
          signedInAt: member.signedInAt,
          groups: groupsHere(here, member),
          rights: (await rightsOf(registry, member))[org] ?? [],
        }),
        keyOf: idOf,
      });
    },

    async listAudit(call) {
      const { registry, org, query } = call;
      const { resource, actor, since, until } = query as Record<string, string | undefined>;
      const named = resource === undefined ? null : resourceNamed(org, resource);
      const filter: AuditFilter = {
        ...(named && { resource: named }),
        ...(actor !== undefined && { actor }),
        ...(since !== undefined && { since: Date.parse(since) }),
        ...(until !== undefined && { until: Date.parse(until) }),
      };
      // The audit log of this organization has no changes of another one's resources.
      const isForeign = named !== null && named.org !== org;
      return sendPage<AuditStep, AuditPosition>(
        call,
        (position) => (isForeign ? [] : readAudit(registry, org, filter, position)),
        { describe: ({ entry }) => entry, keyOf: ({ position }) => position },
        isAuditPosition,
      );
    },
  }),
  ...operationsAbout('itself', {
    /** The organizations in which the asker has rights; for whoever runs the registry, all. */
    async listOrganizations(call) {
      const { registry, principal } = call;
      return sendSorted(call, (await organizationsFor(registry, principal)).toSorted(), {
        describe: (organization) => ({ organization, rights: rightsFor(principal, organization) }),
        keyOf: (organization) => organization,
      });
    },

    async createOrganization(call) {
      const { registry, principal, author } = call;
      if (!mayCreateOrganization(principal))
        throw forbidden(
          'Organizations are created by who runs the registry, or by a group that its configuration names.',
        );
      const { organization, owner } = bodyOf<{ organization: string; owner?: string }>(call);
      const self = principal.kind === 'user' ? principal.id : null;
      await createOrganization(registry, organization, owner ?? self, author);
      return { status: 201, body: { organization } };
    },

    async getLimits({ registry, principal, org }) {
      const { limits, rateLimit } = registry.config;
      const { fileBytes, bundleBytes, files, depth, aliases, nodes, seconds } = limits;
      const { window, key, organization, address, failures } = rateLimit;
      const body = {
        document: { fileBytes, bundleBytes, files, depth, aliases, nodes, seconds },
        request: { bodyBytes: plainBodyBytes, documentBodyBytes: documentBodyBytes(registry.config), pageItems: 100 },
        rate: { window, key, organization, address, failures },
        quotas: quotasOf(registry, org),
        // Totals and the strength of the sandbox are shown to administrators only.
        ...(isAllowed(principal, 'admin', { org }) && {
          usage: await usageOf(registry, org),
          ...(await sandboxOf(registry)),
        }),
      };
      return { status: 200, body };
    },

    async getMe({ registry, principal, org }) {
      const id = principal.kind === 'key' ? principal.id : principal.kind === 'user' ? principal.key : undefined;
      const stored = id === undefined ? null : (await registry.refs.read<Key>(keyRef(id)))!.value;
      const key = stored && keyRecord(stored, await readKeyUse(registry, stored.id));
      const user = principal.kind !== 'key' && {
        id: principal.id,
        rights: rightsFor(principal, org),
        organizations: organizationsOf(principal),
      };
      return { status: 200, body: { organization: org, ...(key && { key }), ...(user && { user }) } };
    },
  }),
  ...operationsAbout('part', {
    /** Answers with the changes after a cursor, oldest first. Waits for the first one if that is asked for. */
    async listChanges(call) {
      const { context, registry, principal, org, query, asker } = call;
      const limit = query['limit'] as number;
      const read = (position: AuditPosition | null) => readChanges(registry, principal, org, position, limit);
      const end = registry.monotonic() + (query['wait'] as number) * 1000;
      const closed = asker.closed();
      let page = await read(positionIn(call));
      const isOver = () => closed.aborted || registry.monotonic() >= end || !context.isReady();
      const mayWait = () => page.entries.length === 0 && !isOver();
      const leave = mayWait() ? places.take(org, principal.id) : null;
      if (leave !== null) {
        try {
          while (mayWait()) {
            await nextChange(call, closed, Math.min(pause, end - registry.monotonic()));
            page = await read(page.position);
          }
        } finally {
          leave();
        }
      }
      const { own, keys, at = '', affected = '' } = page.position;
      // Padded to one length, since the length would reveal the number of changes.
      const hidden = [...[own, keys].map((count) => String(count).padStart(12, '0')), at.padEnd(24), affected];
      const next = sealValue(registry, purposeOf(call), hidden);
      return { status: 200, body: { items: page.entries, next, hasMore: page.hasMore } };
    },
  }),
};

function answerWith(
  { config }: Registry,
  organization: string,
  { configured: names, generation, ...settings }: CurrentSettings,
): Answer {
  const configured = names.includes('ruleset');
  const teams = teamsOf(config, organization);
  return answerRecord({ organization, ...settings, configured, teams, fromConfiguration: names }, generation);
}

function rightsFor(principal: Principal, org: string): object[] {
  return grantsIn(principal, org).map(({ scopes, resources }) => ({ scopes, resources }));
}

function rightsRecord({ id, issuer, group, subject, scopes, resources }: Omit<RightsHere, 'org'>): object {
  const person = subject === null ? null : `${issuer}#${subject}`;
  return { id, issuer, group, person, scopes, resources, configured: id === null };
}

function isAuditPosition(value: unknown): value is AuditPosition {
  const { own, keys } = (value ?? {}) as Partial<AuditPosition>;
  return [own, keys].every((count) => Number.isSafeInteger(count) && count! >= 0);
}

async function sandboxOf({ compiler }: Registry): Promise<{ sandbox?: { isolation: string } }> {
  const isolation = await compiler.isolation?.();
  return isolation === undefined ? {} : { sandbox: { isolation: isolation.kind } };
}

/** Milliseconds between two looks for changes of other processes while a request waits. */
const pause = 500;
/** Requests that may wait at once. More are answered without waiting. */
const places = createWaitingPlaces(4);

/** A cursor is valid only for the key that got it, since it counts changes that others may not see. */
function purposeOf({ principal, org }: Call): string {
  return `changes ${org} ${principal.id}`;
}

function positionIn(call: Call): AuditPosition | null {
  const cursor = call.query['after'];
  if (typeof cursor !== 'string') return null;
  const counts = openValue(call.registry, purposeOf(call), cursor);
  const [own, keys, at, affected] = Array.isArray(counts) ? counts : [];
  const time = typeof at === 'string' ? at.trim() : '';
  const position = {
    own: Number(own),
    keys: Number(keys),
    ...(time !== '' && { at: time }),
    ...(typeof affected === 'string' && { affected }),
  };
  if (isAuditPosition(position)) return position;
  throw malformed('This cursor is not one of this key. Start again without `after`.', {
    extra: { errors: [{ parameter: 'after', detail: 'is not `next` of an earlier response to this key' }] },
  });
}

/** Resolves at the next change of the organization or a key, after a time, or when the request is over. */
function nextChange({ registry, org }: Call, closed: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      closed.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    const stop = registry.refs.watch((name) => {
      const [kind, owner] = name.split('/');
      if (kind === 'keys' || (kind === 'resources' && owner === org)) done();
    });
    closed.addEventListener('abort', done);
  });
}
