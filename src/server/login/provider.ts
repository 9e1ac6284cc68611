import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientError,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  type Configuration,
} from 'openid-client';
import { readSecret, type LoginConfig } from '../../config.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Registry } from '../../registry/registry.ts';
import { readGroups } from './claims.ts';
import { createDiscovery, explain, refusalUnder } from './issuer-discovery.ts';
import type { Pending } from './pending.ts';

/** Who came back from the provider. */
export interface SignedIn {
  issuer: string;
  subject: string;
  groups: string[];
  idToken: string;
}

/** The identity provider, as far as Stele talks to it. Everything rejects with `unavailable` while it does not answer. */
export interface Provider {
  /** Where to send the browser (OpenID Connect Core §3.1.2.1, with PKCE). */
  authorizationUrl(pending: Pending): Promise<string>;
  /**
   * Exchanges what the provider sent the browser back with, `search`, for who it is. State, `iss`, PKCE, the ID token's signature,
   * `iss`, `aud`, `exp` and nonce are checked; rejects with `unauthenticated` when one does not hold or the provider refused.
   */
  signIn(search: string, pending: Pending): Promise<SignedIn>;
  /** Where to end the session at the provider (RP-Initiated Logout 1.0 §2); null where it has no such place or does not answer. */
  endSessionUrl(idToken: string | null): Promise<string | null>;
}

/** The provider that the configuration names. Nothing is asked of it yet. */
export function createProvider(
  login: LoginConfig,
  url: string,
  { monotonic, log }: Pick<Registry, 'monotonic' | 'log'>,
): Provider {
  const secret = readSecret(login.clientSecret);
  const discover = createDiscovery({ issuer: login.issuer, client: { id: login.clientId, secret }, monotonic, log });
  const callback = new URL('/login/callback', url);

  async function readUserInfo(configuration: Configuration, accessToken: string, subject: string): Promise<string[]> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return [];
    const claims = await fetchUserInfo(configuration, accessToken, subject);
    return readGroups(claims, login.claim) ?? [];
  }

  return {
    async authorizationUrl({ state, nonce, verifier }) {
      return buildAuthorizationUrl(await discover(), {
        redirect_uri: callback.href,
        scope: login.scope,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).href;
    },
    async signIn(search, { state, nonce, verifier }) {
      const configuration = await discover();
      // Never the request's own host: what the provider is told must be what the configuration says.
      const current = new URL(callback);
      current.search = search;
      try {
        const tokens = await authorizationCodeGrant(configuration, current, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
        });
        const claims = tokens.claims()!;
        const groups =
          readGroups(claims, login.claim) ?? (await readUserInfo(configuration, tokens.access_token, claims.sub));
        return { issuer: claims.iss, subject: claims.sub, groups, idToken: tokens.id_token! };
      } catch (error) {
        throw refusalOf(error, (fields) => log('warn', 'sign-in refused', { issuer: login.issuer, ...fields }));
      }
    },
    async endSessionUrl(idToken) {
      try {
        const configuration = await discover();
        if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
        const parameters = { post_logout_redirect_uri: `${url}/`, ...(idToken !== null && { id_token_hint: idToken }) };
        return buildEndSessionUrl(configuration, parameters).href;
      } catch (error) {
        if (refusalUnder(error) || error instanceof ClientError) return null;
        throw error;
      }
    },
  };
}

/** What the person is told. The log has the details; they get no text that came with the request. */
function refusalOf(error: unknown, tell: (fields: Record<string, unknown>) => void): unknown {
  const refusal = refusalUnder(error);
  if (refusal) return refusal;
  const failed = 'The sign-in failed. Sign in again.';
  if (error instanceof AuthorizationResponseError) {
    tell({ error: error.error.slice(0, 100) });
    const denied = error.error === 'access_denied' ? 'The identity provider denied access.' : failed;
    return new RegistryError('unauthenticated', denied, { cause: error });
  }
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    tell({ error: error.error });
    return new RegistryError('unauthenticated', failed, { cause: error });
  }
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError || isProviderFault(error)) {
    tell({ error: error instanceof ResponseBodyError ? error.error : explain(error) });
    const message = 'The identity provider returned an invalid response. The log of this registry has the details.';
    return new RegistryError('unavailable', message, { cause: error });
  }
  if (error instanceof ClientError) {
    tell({ error: explain(error) });
    return new RegistryError('unauthenticated', failed, { cause: error });
  }
  return error;
}

const providerFaults: unknown[] = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
];

function isProviderFault(error: unknown): error is ClientError {
  return error instanceof ClientError && providerFaults.includes(error.code);
}
