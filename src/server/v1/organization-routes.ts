import { teamsOf } from '../../config/organization-config.ts';
import { grantsIn, isAllowed, mayCreateOrganization, organizationsOf } from '../../model/access.ts';
import { parseCoordinate, type ResourceType } from '../../model/address.ts';
import { keyRef, type Key, type Person } from '../../model/key.ts';
import { readAudit, type AuditFilter, type AuditPosition } from '../../registry/audit.ts';
import { readKeyUse } from '../../registry/keys/keys.ts';
import { listMembers, groupsHere, rightsIn, rightsOf, type RightsHere } from '../../registry/keys/people.ts';
import { createOrganization, giveRights, takeRights, type NewRights } from '../../registry/keys/change-rights.ts';
import { listOrganizations } from '../../registry/maintenance/organizations.ts';
import {
  changeOrganization,
  readOrganization,
  type CurrentSettings,
  type OrganizationChange,
} from '../../registry/gate/organization-settings.ts';
import type { Registry } from '../../registry/registry.ts';
import { quotasOf, usageOf } from '../../registry/maintenance/quotas.ts';
import { bodyOf, type Answer, type Handler } from './call.ts';
import { etagOf, guardOf } from './conditional.ts';
import { documentBodyBytes, plainBodyBytes } from './body-limits.ts';
import { RegistryError } from '../../model/errors.ts';
import { isText, positionOf, sendPage } from './list-pages.ts';
import { keyRecord } from './resource-records.ts';

export const listAudit: Handler = async (call) => {
  const { registry, org, query } = call;
  const { resource, actor, since, until } = query as Record<string, string | undefined>;
  const named = resource === undefined ? null : coordinateIn(org, resource);
  const filter: AuditFilter = {
    ...(named && { resource: named.coordinate }),
    ...(actor !== undefined && { actor }),
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  };
  const position = positionOf(call, isAuditPosition);
  // The audit log of this organization has no changes of another one's resources.
  const isForeign = named !== null && named.coordinate.org !== org;
  const entries = isForeign ? [] : readAudit(registry, org, filter, position);
  return sendPage(
    call,
    entries,
    ({ entry }) => entry,
    ({ position: reached }) => reached,
  );
};

export const getOrganization: Handler = async ({ registry, org }) =>
  answerWith(registry, org, await readOrganization(registry, org));

export const updateOrganization: Handler = async (call) => {
  const { registry, org, author } = call;
  const change = bodyOf<OrganizationChange>(call);
  return answerWith(registry, org, await changeOrganization(registry, org, change, author, guardOf(call)));
};

function answerWith(
  { config }: Registry,
  organization: string,
  { configured: names, generation, ...settings }: CurrentSettings,
): Answer {
  return {
    status: 200,
    headers: { ETag: etagOf(generation) },
    body: {
      organization,
      ...settings,
      configured: names.includes('ruleset'),
      teams: teamsOf(config, organization),
      fromConfiguration: names,
    },
  };
}

/** The organizations in which the asker has rights; for whoever runs the registry, all. */
export const listMine: Handler = async (call) => {
  const { registry, principal } = call;
  const after = positionOf(call, isText);
  const all = principal.kind === 'operator' ? await listOrganizations(registry) : organizationsOf(principal).toSorted();
  return sendPage(
    call,
    all.filter((org) => after === null || org > after),
    (organization) => ({
      organization,
      rights: grantsIn(principal, organization).map(({ scopes, resources }) => ({ scopes, resources })),
    }),
    (organization) => organization,
  );
};

export const createOne: Handler = async (call) => {
  const { registry, principal, author } = call;
  if (!mayCreateOrganization(principal))
    throw new RegistryError(
      'forbidden',
      'Organizations are created by who runs the registry, or by a group that its configuration names.',
    );
  const { organization, owner } = bodyOf<{ organization: string; owner?: string }>(call);
  const self = principal.kind === 'user' ? principal.id : null;
  await createOrganization(registry, organization, owner ?? self, author);
  return { status: 201, body: { organization } };
};

export const listRights: Handler = async (call) => {
  const { registry, org } = call;
  const after = positionOf(call, Number.isSafeInteger as (value: unknown) => value is number) ?? 0;
  const all = (await rightsIn(registry, org)).map((given, index) => ({ given, index: index + 1 }));
  return sendPage(
    call,
    all.slice(after),
    ({ given }) => rightsRecord(given),
    ({ index }) => index,
  );
};

export const createRights: Handler = async (call) => {
  const { registry, org, author } = call;
  return { status: 201, body: rightsRecord(await giveRights(registry, org, bodyOf<NewRights>(call), author)) };
};

export const deleteRights: Handler = async ({ registry, org, author, path, query }) => {
  await takeRights(registry, org, path['rights']!, author, { last: query['last'] === true });
  return { status: 204 };
};

function rightsRecord({ id, issuer, group, subject, scopes, resources }: Omit<RightsHere, 'org'>): object {
  const person = subject === null ? null : `${issuer}#${subject}`;
  return { id, issuer, group, person, scopes, resources, configured: id === null };
}

/** The people of the organization as sign-in saw them, with what they may do as configured now. */
export const listPeople: Handler = async (call) => {
  const { registry, org } = call;
  const after = positionOf(call, isText);
  const here = await rightsIn(registry, org);
  const idOf = ({ actor }: Person) => actor.replace(/^user:/, '');
  const shown = (await listMembers(registry, org))
    .filter((member) => after === null || idOf(member) > after)
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  return sendPage(
    call,
    shown,
    async (member) => ({
      id: idOf(member),
      name: member.name,
      signedInAt: member.signedInAt,
      groups: groupsHere(here, member),
      rights: (await rightsOf(registry, member))[org] ?? [],
    }),
    idOf,
  );
};

function coordinateIn(org: string, text: string): { coordinate: { org: string; type: ResourceType; slug: string } } {
  return parseCoordinate(text.startsWith('@') ? text : `@${org}/${text}`)!;
}

/** Whether a value is a position in the audit. */
export function isAuditPosition(value: unknown): value is AuditPosition {
  const { own, keys } = (value ?? {}) as Partial<AuditPosition>;
  return [own, keys].every((count) => Number.isSafeInteger(count) && count! >= 0);
}

export const getLimits: Handler = async ({ registry, principal, org }) => {
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
};

async function sandboxOf({ compiler }: Registry): Promise<{ sandbox?: { isolation: string } }> {
  const isolation = await compiler.isolation?.();
  return isolation === undefined ? {} : { sandbox: { isolation: isolation.kind } };
}

export const getMe: Handler = async ({ registry, principal, org }) => {
  if (principal.kind === 'key') {
    const key = await registry.refs.read<Key>(keyRef(principal.id));
    const record = keyRecord(key!.value, await readKeyUse(registry, principal.id));
    return { status: 200, body: { organization: org, key: record } };
  }
  const rights = grantsIn(principal, org).map(({ scopes, resources }) => ({ scopes, resources }));
  const user = { id: principal.id, rights, organizations: organizationsOf(principal) };
  if (principal.kind === 'operator' || principal.key === undefined)
    return { status: 200, body: { organization: org, user } };
  const key = await registry.refs.read<Key>(keyRef(principal.key));
  const record = keyRecord(key!.value, await readKeyUse(registry, principal.key));
  return { status: 200, body: { organization: org, key: record, user } };
};
