import type { Request, Response } from 'express';
import type { Principal } from '../../model/access.ts';
import { isSlug } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { principalOf, sessionOf } from '../authenticate.ts';
import { assertOwnPage } from '../login/cross-site.ts';
import { untilClosed } from '../until-closed.ts';
import type { Operation } from './api-description.ts';
import type { Asker } from './call.ts';

/**
 * Names the organization that a request is meant for. A session needs it if its person is a member of
 * several; with a key it must be the key's.
 */
const organizationHeader = 'stele-organization';
/** Carries a session's token (`SignedIn.token`). */
const tokenHeader = 'stele-session-token';

/**
 * Who asks. Throws `unauthenticated` for anybody without a key or session. A session's changes need
 * proof that one of the registry's own pages asked for them, else `forbidden`.
 */
export function askerOf(request: Request, response: Response, url: string, { path }: Operation): Asker {
  const principal = principalOf(request);
  if (principal.kind === 'anonymous') {
    throw new RegistryError('unauthenticated', 'An API key is required. Send Authorization: Bearer <key>.');
  }
  const session = sessionOf(request);
  if (session !== null) assertOwnPage(request, url, session, request.get(tokenHeader));
  return {
    principal,
    org: organizationOf(principal, request.get(organizationHeader), /^\/v1\/(?:me(?:\/|$)|organizations$)/.test(path)),
    address: request.ip ?? null,
    secret: session?.token ?? request.headers.authorization ?? '',
    subject: `${request.method} ${request.originalUrl}`,
    ifMatch: request.headers['if-match'],
    accept: request.headers.accept,
    closed: () => untilClosed(response),
  };
}

/** `isPersonal`: what is asked is about the person, whatever the organization. */
function organizationOf(
  principal: Exclude<Principal, { kind: 'anonymous' }>,
  named: string | undefined,
  isPersonal: boolean,
): string {
  if (principal.kind === 'key') {
    if (named === undefined || named === principal.org) return principal.org;
    throw new RegistryError(
      'forbidden',
      `The key belongs to the organization ${principal.org}, and Stele-Organization names another one. Use a key of that organization, or send the request without the header.`,
      { extra: { organization: principal.org } },
    );
  }
  const organizations = principal.kind === 'user' ? Object.keys(principal.organizations) : [];
  if (named === undefined && organizations.length === 1) return organizations[0]!;
  // Who creates organizations may have none yet. No organization has this name.
  if (named === undefined && isPersonal) return organizations[0] ?? '-';
  if (named === undefined || !isSlug(named)) {
    throw new RegistryError('malformed', 'Name the organization in the header Stele-Organization.');
  }
  // The same for an organization that does not exist.
  if (principal.kind === 'user' && !organizations.includes(named)) {
    throw new RegistryError('forbidden', `You have no rights in the organization ${named}.`);
  }
  return named;
}
