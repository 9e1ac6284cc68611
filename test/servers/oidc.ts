import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider, type Adapter, type Context, type StoredModel } from 'oidc-provider';

/** A registry that people sign in to through the provider. */
export interface RelyingParty {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  postLogoutRedirectUri: string;
  /** How the client must authenticate; the default of OpenID Connect is Basic. */
  tokenEndpointAuthMethod?: 'client_secret_basic' | 'client_secret_post';
}

export interface IdentityProviderOptions {
  clients: readonly RelyingParty[];
  /** The accounts' claim `groups`, by name; any other name can sign in too, without groups. */
  groups?: Readonly<Record<string, readonly string[]>>;
  /** Whether the claim is in the ID token; else only the userinfo endpoint has it. */
  groupsInIdToken?: boolean;
}

export interface IdentityProvider extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  issuer: string;
  /** Paths that were asked for, without queries. */
  requests: string[];
}

/**
 * A real OpenID Connect provider (oidc-provider) on this machine. Its sign-in page is a form with one field, `login`, and a button
 * to give up; whoever signs in has consented to everything.
 */
export async function openIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = await createProvider(issuer, options);
  const handle = provider.callback();
  const requests: string[] = [];
  server.on('request', (request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/s, '');
    requests.push(path);
    if (!path.startsWith('/interaction/')) return void handle(request, response);
    if (request.method === 'GET') return void response.setHeader('Content-Type', 'text/html').end(signInPage);
    readForm(request)
      .then((form) => {
        const accountId = form.get('login');
        const result = accountId === null || form.has('cancel') ? { error: 'access_denied' } : { login: { accountId } };
        return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
      })
      .catch((error: unknown) => void response.writeHead(400).end(String(error)));
    return undefined;
  });
  return {
    issuer,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function createProvider(issuer: string, options: IdentityProviderOptions): Promise<Provider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const { clients, groups = {}, groupsInIdToken = false } = options;
  const adapters = new Map<string, Adapter>();
  return new Provider(issuer, {
    adapter: (name: string) => adapters.getOrInsertComputed(name, createAdapter),
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: 'one' }] },
    cookies: { keys: ['only for tests'] },
    clients: clients.map(({ clientId, clientSecret, redirectUri, postLogoutRedirectUri, tokenEndpointAuthMethod }) => ({
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [postLogoutRedirectUri],
      ...(tokenEndpointAuthMethod && { token_endpoint_auth_method: tokenEndpointAuthMethod }),
    })),
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: !groupsInIdToken,
    findAccount: (_context: Context, accountId: string) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        name: accountId,
        email: `${accountId}@example.com`,
        email_verified: true,
        groups: groups[accountId] ?? [],
      }),
    }),
    async loadExistingGrant({ oidc }: Context) {
      const known = oidc.session.grantIdFor(oidc.client.clientId);
      const found = known === undefined ? undefined : await oidc.provider.Grant.find(known);
      if (found) return found;
      const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource(context: Context, form: string) {
          context.body = `<!doctype html><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`;
        },
      },
    },
    renderError(context: Context, { error }: { error: string }) {
      context.type = 'text/plain';
      context.body = error;
    },
    ttl: { Interaction: 600, Session: 3600, Grant: 3600, IdToken: 3600, AccessToken: 600, AuthorizationCode: 60 },
  });
}

const signInPage = `<!doctype html><title>Sign in</title><form method="post">
<label>Name <input name="login" autofocus></label>
<button>Sign in</button> <button name="cancel" value="yes">Cancel</button></form>`;

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}

function createAdapter(): Adapter {
  const models = new Map<string, StoredModel>();
  const by = (member: string, value: string) => [...models.values()].find((model) => model[member] === value);
  return {
    upsert: async (id, payload) => void models.set(id, payload),
    find: async (id) => models.get(id),
    findByUid: async (uid) => by('uid', uid),
    findByUserCode: async (code) => by('userCode', code),
    consume: async (id) => void Object.assign(models.get(id) ?? {}, { consumed: Math.floor(Date.now() / 1000) }),
    destroy: async (id) => void models.delete(id),
    async revokeByGrantId(grantId) {
      for (const [id, model] of models) if (model.grantId === grantId) models.delete(id);
    },
  };
}
