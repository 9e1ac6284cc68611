import {
  allowInsecureRequests,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  None,
  type Configuration,
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientError,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { isRegistryError, type RegistryError, unauthenticated, malformed, unavailable } from '../../model/errors.ts';
import type { Log, Registry } from '../../registry/registry.ts';
import { isSecureUrl } from './same-site.ts';
import { readSecret } from '../../config/environment.ts';
import type { ProviderConfig } from '../../config/login-config.ts';
import type { Pending } from './session.ts';

export interface DiscoveryOptions {
  issuer: string;
  /** Null: only the issuer's keys are needed. */
  client: { id: string; secret: string } | null;
  monotonic: () => number;
  log: Log;
}

/** Metadata is refreshed after an hour, and after a failure at the earliest after 2 s. */
const maxAge = 3_600_000;
const pause = 2_000;
const attempts = 2;
/** Seconds for one request to the issuer. */
const patience = 5;

/**
 * An issuer's metadata (OpenID Connect Discovery 1.0), fetched when first needed, so that a
 * registry can start while its issuer is down. Rejects with `unavailable` if it could never be
 * fetched; otherwise the last known metadata stays in use. Signatures are always checked. Throws
 * `malformed` if the issuer is neither https nor on this machine.
 */
export function createDiscovery({ issuer, client, monotonic, log }: DiscoveryOptions): () => Promise<Configuration> {
  if (!isSecureUrl(issuer)) throw malformed(`The issuer ${issuer} must be an https URL.`);
  let known: Configuration | null = null;
  let failure: RegistryError | null = null;
  let freshUntil = -Infinity;
  let running: Promise<Configuration> | null = null;

  function last(): Configuration {
    if (known !== null) return known;
    throw failure!;
  }

  async function look(): Promise<Configuration> {
    for (let attempt = 1; ; attempt++) {
      try {
        const configuration = await discovery(
          new URL(issuer),
          client?.id ?? 'stele',
          {},
          client === null ? None() : authenticateClient(client.secret),
          {
            execute: [allowInsecureRequests, enableNonRepudiationChecks],
            [customFetch]: (url, options) => askIssuer(url, options as RequestInit),
            timeout: patience,
          },
        );
        assertPlaces(configuration, client === null ? ['jwks_uri'] : places);
        freshUntil = monotonic() + maxAge;
        return (known = configuration);
      } catch (error) {
        if (attempt < attempts) continue;
        log('warn', 'issuer not reachable', { issuer, error: explain(error) });
        failure = issuerNotAnswering(error);
        freshUntil = monotonic() + pause;
        return last();
      }
    }
  }

  return async () => {
    if (monotonic() < freshUntil) return last();
    running ??= look().finally(() => (running = null));
    return running;
  };
}

/** Endpoints that sign-in needs. */
const places = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

function assertPlaces(configuration: Configuration, names: readonly (typeof places)[number][]): void {
  for (const name of names) {
    const url: unknown = configuration.serverMetadata()[name];
    if (typeof url === 'string' && isSecureUrl(url)) continue;
    throw unavailable(`The identity provider's ${name} is not an https URL.`);
  }
}

/**
 * Sends the secret by Basic, the default of OpenID Connect Core §9, or in the body if the provider
 * accepts it only there.
 */
function authenticateClient(secret: string): ClientAuth {
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}

/** The error for people while the issuer cannot be reached. */
export function issuerNotAnswering(cause?: unknown): RegistryError {
  const message = 'The identity provider cannot be reached. Try again in a moment.';
  return unavailable(message, { cause, retryAfter: 5 });
}

/**
 * `fetch` that throws `unavailable` if there is no response, so that it is not taken for a bug.
 * Plain http only on this machine.
 */
export async function askIssuer(url: string, options: RequestInit): Promise<Response> {
  if (!isSecureUrl(url)) throw unavailable('The identity provider names a URL that is not https.');
  return fetch(url, options).catch((error: unknown) => {
    throw issuerNotAnswering(error);
  });
}

/** What failed and why, for the log. */
export function explain(error: unknown): string {
  const messages: string[] = [];
  for (let one: unknown = error; one instanceof Error && messages.length < 4; one = one.cause)
    messages.push(one.message);
  return messages.join(': ');
}

function refusalUnder(error: unknown): RegistryError | null {
  for (let one: unknown = error; one instanceof Error; one = one.cause) if (isRegistryError(one)) return one;
  return null;
}

/** The person that the provider identified. */
export interface Identified {
  issuer: string;
  subject: string;
  /** The first of `name`, `preferred_username` and `email` in the ID token, else the subject. */
  name: string;
  /** `preferred_username`. Null: the provider states none. */
  username: string | null;
  groups: string[];
  /** Null: the provider names no address, or says that it is not theirs. */
  email: string | null;
  idToken: string;
}

/**
 * Creates a configured provider without contacting it. `back`: where it sends people back to. Every method rejects
 * with `unavailable` while it does not respond.
 */
export function createProvider(
  login: ProviderConfig,
  back: string,
  url: string,
  { monotonic, log }: Pick<Registry, 'monotonic' | 'log'>,
) {
  const secret = readSecret(login.clientSecret);
  const discover = createDiscovery({ issuer: login.issuer, client: { id: login.clientId, secret }, monotonic, log });
  const callback = new URL(back);

  type Claims = Readonly<Record<string, unknown>>;

  async function readUserInfo(configuration: Configuration, accessToken: string, subject: string): Promise<Claims> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return fetchUserInfo(configuration, accessToken, subject);
  }

  return {
    /** URL to send the browser to (OpenID Connect Core §3.1.2.1, with PKCE). */
    async authorizationUrl({ state, nonce, verifier }: Pending): Promise<string> {
      return buildAuthorizationUrl(await discover(), {
        redirect_uri: callback.href,
        scope: login.scope,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).href;
    },
    /**
     * Exchanges the response in `search` for the person's identity. Checks state, `iss`, PKCE, and
     * the ID token's signature, `iss`, `aud`, `exp` and nonce. Rejects with `unauthenticated` if a
     * check fails or the provider returned an error.
     */
    async signIn(search: string, { state, nonce, verifier }: Pending): Promise<Identified> {
      const configuration = await discover();
      // Use the configured URL and not the request's host, which the client chooses.
      const current = new URL(callback);
      current.search = search;
      try {
        const tokens = await authorizationCodeGrant(configuration, current, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
        });
        const claims = tokens.claims()!;
        const isEnough = readGroups(claims, login.claim) !== null;
        const more = isEnough ? {} : await readUserInfo(configuration, tokens.access_token, claims.sub);
        const groups = readGroups(claims, login.claim) ?? readGroups(more, login.claim) ?? [];
        const email = readEmail({ ...more, ...claims });
        return {
          issuer: claims.iss,
          subject: claims.sub,
          name: nameIn(claims),
          username: textIn(claims['preferred_username']),
          groups,
          email,
          idToken: tokens.id_token!,
        };
      } catch (error) {
        throw refusalOf(error, (fields) => log('warn', 'sign-in refused', { issuer: login.issuer, ...fields }));
      }
    },
    /**
     * URL that ends the session at the provider (RP-Initiated Logout 1.0 §2); null if it has none or
     * does not respond.
     */
    async endSessionUrl(idToken: string | null): Promise<string | null> {
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

function nameIn(claims: { sub: string; [name: string]: unknown }): string {
  const names = [claims['name'], claims['preferred_username'], claims['email']];
  return names.map(textIn).find((name) => name !== null) ?? textIn(claims.sub) ?? '';
}

function textIn(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const line = value.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.slice(0, 100) || null;
}

/** The error that people see. Details go only to the log, and no text from the request is shown. */
function refusalOf(error: unknown, log: (fields: Record<string, unknown>) => void): unknown {
  const refusal = refusalUnder(error);
  if (refusal) return refusal;
  const failed = 'The sign-in failed. Sign in again.';
  if (error instanceof AuthorizationResponseError) {
    log({ error: error.error.slice(0, 100) });
    const denied = error.error === 'access_denied' ? 'The identity provider denied access.' : failed;
    return unauthenticated(denied, { cause: error });
  }
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    log({ error: error.error });
    return unauthenticated(failed, { cause: error });
  }
  const isFault = error instanceof ClientError && providerFaults.includes(error.code);
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError || isFault) {
    log({ error: error instanceof ResponseBodyError ? error.error : explain(error) });
    const message = 'The identity provider returned an invalid response. The log of this registry has the details.';
    return unavailable(message, { cause: error });
  }
  if (error instanceof ClientError) {
    log({ error: explain(error) });
    return unauthenticated(failed, { cause: error });
  }
  return error;
}

const providerFaults: unknown[] = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
];

/**
 * Values of the configured claim, which is a string or a list of strings. Ignores other types. Null
 * if the claim is missing.
 */
export function readGroups(claims: Readonly<Record<string, unknown>>, claim: string): string[] | null {
  if (!Object.hasOwn(claims, claim)) return null;
  const value = claims[claim];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return [...new Set(values.filter((group) => typeof group === 'string'))];
}

/** An address that goes into a mail as it is: nothing that a header could mean something by. */
const address = /^[A-Za-z0-9._%+'-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;

/** The person's address; null if there is none, it is unusual, or the provider says that it was not verified. */
export function readEmail(claims: Readonly<Record<string, unknown>>): string | null {
  const { email, email_verified: isVerified } = claims;
  if (typeof email !== 'string' || email.length > 254 || !address.test(email)) return null;
  return isVerified === false || isVerified === 'false' ? null : email;
}
