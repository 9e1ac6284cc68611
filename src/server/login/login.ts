import { Router, type Request, type Response } from 'express';
import { providersOf } from '../../config/login-config.ts';
import { escapeHtml } from '../../model/escape.ts';
import { insteadOf, malformed, forbidden } from '../../model/errors.ts';
import type { Principal } from '../../model/access.ts';
import { personRef, type Person as Seen } from '../../model/key.ts';
import { mayCreateOrganizations, noteSignIn, providerOf, rightsOf } from '../../registry/keys/people.ts';
import type { Registry } from '../../registry/registry.ts';
import { assertSecretKey } from '../../registry/seal.ts';
import { type Login, basePathOf } from '../server-context.ts';
import { refuseMethod } from '../methods.ts';
import { refuseCrossSite, resolveReturnTo, isSecureUrl, pageReturningTo, pathOf } from './same-site.ts';
import { createPendingSignIns, createSeal, createSessions, type Session } from './session.ts';
import { createProvider, type Identified } from './provider.ts';

/** A person whom an identity provider signed in. */
interface Person extends Pick<Identified, 'issuer' | 'subject' | 'name'> {
  /**
   * Their groups that the configuration mentioned at sign-in, for a registry that could not note all. What groups
   * may do is decided at each request.
   */
  groups: string[];
  /** Ends the session at the provider too; null if it did not fit into the cookie. */
  idToken: string | null;
}

/** What sign-in needs of a registry, and its public URL. */
export type LoginParts = Pick<
  Registry,
  'config' | 'refs' | 'now' | 'monotonic' | 'expiryTime' | 'randomBytes' | 'log' | 'ownKey'
> & { url: string };

/**
 * Browser sign-in with OpenID Connect; null if it is not configured. The provider is first
 * contacted when somebody signs in. Throws `malformed` if the registry's URL or the issuer is
 * neither https nor on this machine (browsers would not keep the cookies, and anyone in between
 * could read them), or a secret is missing or too short.
 */
export function createLogin({ url, ...registry }: LoginParts): Login | null {
  const { login } = registry.config;
  if (login === null) return null;
  if (!isSecureUrl(url)) {
    throw malformed(`login needs an https url (or http://localhost), but url is ${url}.`);
  }
  // Sessions end when the configuration names another issuer, since its users are different people.
  const sealing = { ...registry, config: { ...registry.config, secretKey: login.sessionSecret } };
  assertSecretKey(sealing, 'login.sessionSecret');
  const seal = (purpose: string) => createSeal(sealing, `${purpose} ${login.issuer} ${url}`);
  const providers = new Map(
    providersOf(login).map((each) => [
      each.name,
      createProvider(each, `${url}/login/callback${each.name && `/${each.name}`}`, url, registry),
    ]),
  );
  const pendingSignIns = createPendingSignIns(registry, seal('sign-in'));
  const sessions = createSessions<Person>(registry, seal('session'), login.lifetime, {
    shorten: (user) => ({ ...user, idToken: null }),
  });

  /** With what the newest sign-in saw, in whichever browser. Null: their identity provider is not configured any more. */
  async function principalOf({ issuer, subject, groups }: Session<Person>): Promise<UserPrincipal | null> {
    const id = `${issuer}#${subject}`;
    const actor = `user:${id}`;
    if (providerOf(registry, actor) === null) return null;
    const seen = await registry.refs.read<Seen>(personRef(actor)).catch(insteadOf('corrupt', null));
    const person = { actor, groups: seen?.value.groups ?? groups };
    const organizations = await rightsOf(registry, person);
    return { kind: 'user', id, organizations, ...(mayCreateOrganizations(registry, person) && { mayCreate: true }) };
  }

  async function begin(request: Request, response: Response): Promise<void> {
    const asked = new URLSearchParams(searchOf(request)).getAll('returnTo');
    const returnTo = asked.length > 1 ? null : resolveReturnTo(asked[0] ?? `${basePathOf(url)}/`, url);
    if (returnTo === null) throw malformed('returnTo must be a path on this registry.');
    const name = new URLSearchParams(searchOf(request)).get('provider');
    if (name === null && providers.size > 1)
      return response.redirect(303, pageReturningTo('/account', pathOf(returnTo, url), url));
    const provider = providers.get(name ?? '');
    if (provider === undefined) throw malformed('There is no identity provider of this name.');
    const pending = pendingSignIns.create(returnTo, name ?? '');
    const target = await provider.authorizationUrl(pending);
    pendingSignIns.keep(request, response, pending);
    response.redirect(303, target);
  }

  async function finish(request: Request, response: Response): Promise<void> {
    const search = searchOf(request);
    const states = new URLSearchParams(search).getAll('state');
    const pending = states.length === 1 ? pendingSignIns.take(request, response, states[0]!) : null;
    // Each provider has a callback of its own, so that one cannot pass on what another answered.
    const provider = pending?.provider === (request.params['provider'] ?? '') && providers.get(pending.provider);
    if (!pending || !provider) {
      const message =
        'This sign-in has expired, is already complete, or was started in another browser. Sign in again.';
      throw malformed(message);
    }
    const { issuer, subject, name, username, groups, email, idToken } = await provider.signIn(search, pending);
    const actor = `user:${issuer}#${subject}`;
    const signedInAt = registry.now().toISOString();
    const told = { ...(email !== null && { email }), ...(username !== null && { username }) };
    const person = { actor, name, groups: groups.slice(0, maxGroups), signedInAt, ...told };
    const organizations = Object.keys(await rightsOf(registry, person));
    // Also of who has lost everything: their keys go by it. A registry that cannot note it lets people in all the same.
    await noteSignIn(registry, organizations, person).catch((error: unknown) =>
      registry.log('warn', 'sign-in not noted', { error: String(error) }),
    );
    const { organizations: mapped = {} } = providerOf(registry, actor)!;
    const user = { issuer, subject, name, groups: groups.filter((group) => Object.hasOwn(mapped, group)), idToken };
    if (organizations.length === 0 && !mayCreateOrganizations(registry, person)) {
      registry.log('info', 'sign-in without an organization', { issuer, subject });
      throw forbidden('Your account has no access to any organization of this registry. Ask its operator.');
    }
    await sessions.begin(response, user);
    registry.log('info', 'signed in', { issuer, subject });
    response.redirect(303, pending.returnTo);
  }

  async function leave(request: Request, response: Response): Promise<void> {
    const session = await sessions.read(request);
    if (session === null) return response.redirect(303, `${url}/`);
    const author = { actor: `user:${session.issuer}#${session.subject}`, origin: request.ip ?? null };
    await sessions.end(response, session, author);
    registry.log('info', 'signed out', { issuer: session.issuer, subject: session.subject });
    const name = providersOf(login).find(({ issuer }) => issuer === session.issuer)?.name;
    const end = (await providers.get(name ?? '-')?.endSessionUrl(session.idToken)) ?? null;
    return end === null ? response.redirect(303, `${url}/`) : sendOnwards(response, end);
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.use(['/login', '/login/callback{/:provider}', '/logout'], (_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.get('/login', (request, response) => begin(request, response));
  router.get('/login/callback{/:provider}', (request, response) => finish(request, response));
  router.post('/logout', refuseCrossSite(url), (request, response) => leave(request, response));
  router.all(['/login', '/login/callback{/:provider}'], (_request, response) => refuseMethod(response, 'GET, HEAD'));
  router.all('/logout', (_request, response) => refuseMethod(response, 'POST'));

  return {
    router,
    async readSession(request) {
      const session = await sessions.read(request);
      const principal = session && (await principalOf(session));
      if (principal === null) return null;
      const { name, token, expiresAt } = session!;
      return { principal, name, token, expiresAt };
    },
    ...(providers.size > 1 && {
      providers: providersOf(login).map(({ name, title, issuer }) => ({ name, title: title ?? new URL(issuer).host })),
    }),
    signInUrl: (returnTo) => pageReturningTo('/login', returnTo, url),
  };
}

type UserPrincipal = Extract<Principal, { kind: 'user' }>;

const maxGroups = 1000;

/** The raw query: Express's parser would merge repeated parameters. */
function searchOf({ originalUrl }: Request): string {
  const mark = originalUrl.indexOf('?');
  return mark < 0 ? '' : originalUrl.slice(mark);
}

/**
 * Redirects with a page: `form-action 'self'` on the page with the form forbids a redirect of it to
 * another origin.
 */
function sendOnwards(response: Response, target: string): void {
  // The usual `sandbox` would prevent the refresh (HTML, shared declarative refresh steps).
  response.setHeader('Content-Security-Policy', "default-src 'none'; base-uri 'none'; frame-ancestors 'none'");
  response.setHeader('Refresh', `0;url=${target}`);
  response
    .type('html')
    .send(
      `<!doctype html><html lang="en"><title>Signed out</title><p>You are signed out here. <a href="${escapeHtml(target)}">Sign out at the identity provider too</a>.</p></html>`,
    );
}
