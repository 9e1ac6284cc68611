import {
  allowInsecureRequests,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type ClientAuth,
} from 'openid-client';
import { ClientSecretBasic, ClientSecretPost, None, type Configuration } from 'openid-client';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { Log } from '../../registry/registry.ts';
import { isSecureUrl } from './secure-url.ts';

export interface DiscoveryOptions {
  issuer: string;
  /** Null: only the issuer's keys are needed. */
  client: { id: string; secret: string } | null;
  monotonic: () => number;
  log: Log;
  /** Seconds for one request to the issuer. */
  timeout?: number;
}

/** Metadata is refreshed after an hour, and after a failure at the earliest after 2 s. */
const maxAge = 3_600_000;
const pause = 2_000;
const attempts = 2;

/**
 * An issuer's metadata (OpenID Connect Discovery 1.0), fetched when first needed, so that a
 * registry can start while its issuer is down. Rejects with `unavailable` if it could never be
 * fetched; otherwise the last known metadata stays in use. Signatures are always checked. Throws
 * `malformed` if the issuer is neither https nor on this machine.
 */
export function createDiscovery({
  issuer,
  client,
  monotonic,
  log,
  timeout = 5,
}: DiscoveryOptions): () => Promise<Configuration> {
  if (!isSecureUrl(issuer)) throw new RegistryError('malformed', `The issuer ${issuer} must be an https URL.`);
  let discovered: { configuration: Configuration; at: number } | null = null;
  let failure: { error: RegistryError; at: number } | null = null;
  let running: Promise<Configuration> | null = null;

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
            timeout,
          },
        );
        assertPlaces(configuration, client === null ? ['jwks_uri'] : places);
        discovered = { configuration, at: monotonic() };
        failure = null;
        return configuration;
      } catch (error) {
        if (attempt < attempts) continue;
        log('warn', 'issuer not reachable', { issuer, error: explain(error) });
        failure = {
          error: new RegistryError('unavailable', notAnswering, { cause: error, retryAfter: 5 }),
          at: monotonic(),
        };
        if (discovered !== null) return discovered.configuration;
        throw failure.error;
      }
    }
  }

  return async () => {
    const time = monotonic();
    if (discovered !== null && time - discovered.at < maxAge) return discovered.configuration;
    if (failure !== null && time - failure.at < pause) {
      if (discovered !== null) return discovered.configuration;
      throw failure.error;
    }
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
    throw new RegistryError('unavailable', `The identity provider's ${name} is not an https URL.`);
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

/** Shown to people while the issuer cannot be reached. */
export const notAnswering = 'The identity provider cannot be reached. Try again in a moment.';

/**
 * `fetch` that throws `unavailable` if there is no response, so that it is not taken for a bug.
 * Plain http only on this machine.
 */
export async function askIssuer(url: string, options: RequestInit): Promise<Response> {
  if (!isSecureUrl(url)) throw new RegistryError('unavailable', 'The identity provider names a URL that is not https.');
  try {
    return await fetch(url, options);
  } catch (error) {
    throw new RegistryError('unavailable', notAnswering, { cause: error, retryAfter: 5 });
  }
}

/** What failed and why, for the log. */
export function explain(error: unknown): string {
  const messages: string[] = [];
  for (let one: unknown = error; one instanceof Error && messages.length < 4; one = one.cause)
    messages.push(one.message);
  return messages.join(': ');
}

/** The `RegistryError` inside an error of openid-client, or null. */
export function refusalUnder(error: unknown): RegistryError | null {
  for (let one: unknown = error; one instanceof Error; one = one.cause) if (isRegistryError(one)) return one;
  return null;
}
