import { grantsIn, isAllowed, organizationsOf } from '../../model/access.ts';
import { parseCoordinate, type ResourceType } from '../../model/address.ts';
import { keyRef, type Key } from '../../model/keys/key.ts';
import type { OrganizationSettings } from '../../model/gate.ts';
import { readAudit, type AuditFilter, type AuditPosition } from '../../registry/audit.ts';
import { readKeyUse } from '../../registry/keys/keys.ts';
import { groupsIn, listMembers, organizationsOf as organizationsOfGroups } from '../../registry/keys/people.ts';
import {
  changeOrganization,
  readOrganization,
  type CurrentSettings,
} from '../../registry/gate/organization-settings.ts';
import type { Registry } from '../../registry/registry.ts';
import { quotasOf, usageOf } from '../../registry/maintenance/quotas.ts';
import { bodyOf, type Answer, type Handler } from './call.ts';
import { etagOf, guardOf } from './conditional.ts';
import { documentBodyBytes, plainBodyBytes } from './body-limits.ts';
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
  answerWith(org, await readOrganization(registry, org));

export const updateOrganization: Handler = async (call) => {
  const { registry, org, author } = call;
  const change = bodyOf<Partial<OrganizationSettings>>(call);
  return answerWith(org, await changeOrganization(registry, org, change, author, guardOf(call)));
};

function answerWith(organization: string, { ruleset, isConfigured, generation }: CurrentSettings): Answer {
  return {
    status: 200,
    headers: { ETag: etagOf(generation) },
    body: { organization, ruleset, configured: isConfigured },
  };
}

/** The people of the organization as sign-in saw them, with what they may do as configured now. */
export const listPeople: Handler = async (call) => {
  const { registry, org } = call;
  const { login } = registry.config;
  const after = positionOf(call, isText);
  const all = login === null ? [] : await listMembers(registry, org);
  const named = new Set(login === null ? [] : groupsIn(login, org).map(({ group }) => group));
  const shown = all
    .map(({ actor, ...member }) => ({ ...member, id: actor.replace(/^user:/, '') }))
    .filter(({ id }) => after === null || id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return sendPage(
    call,
    shown,
    ({ id, name, signedInAt, groups }) => ({
      id,
      name,
      signedInAt,
      groups: groups.filter((group) => named.has(group)),
      rights: organizationsOfGroups(login!, groups)[org] ?? [],
    }),
    ({ id }) => id,
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
