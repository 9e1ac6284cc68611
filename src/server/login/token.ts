import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { RegistryError } from '../../model/errors.ts';
import type { Key } from '../../model/keys/key.ts';
import type { Registry } from '../../registry/registry.ts';
import { exchangeToken } from '../../registry/keys/trust.ts';
import { findPublisher } from '../../registry/keys/trusted-publisher.ts';
import { readJob } from './job-claims.ts';
import { askIssuer, createDiscovery, notAnswering } from './issuer-discovery.ts';

/**
 * `POST /v1/token`: exchanges a CI job's OpenID Connect token for a key with a lifetime of 15
 * minutes. Throws `malformed` if it is not a token, and `unavailable` while the issuer does not
 * respond. For an invalid token, one for another audience, one used before, or a job without an
 * entry in the configuration, it always throws the same `unauthenticated`; only the log has the
 * reason.
 */
export type TokenExchange = (token: string, origin: string | null) => Promise<{ key: Key; text: string }>;

/**
 * Public-key algorithms only. With a shared secret (`HS256`) or `none`, others than the issuer
 * could sign.
 */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Longest token to read. */
const longest = 16 * 1024;
/**
 * Seconds of difference between clocks, and the greatest age of a token whatever its own `exp` says
 * (GitLab's are valid as long as the job).
 */
const leeway = 60;
const oldest = 3600;

/**
 * Creates the exchange for the configured publishers. Fetches an issuer's keys when its first token
 * arrives.
 */
export function createTokenExchange(registry: Registry, url: string): TokenExchange {
  const publishers = registry.config.trustedPublishing;
  const issuers = new Map(
    [...new Set(publishers.map(({ issuer }) => issuer))].map((issuer) => [issuer, createKeys(issuer, registry)]),
  );

  async function verify(token: string, issuer: string, keys: () => Promise<JWTVerifyGetKey>): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, await keys(), {
      algorithms,
      issuer,
      clockTolerance: leeway,
      maxTokenAge: oldest,
      currentDate: registry.now(),
      requiredClaims: ['exp', 'iat', 'aud', 'sub', 'jti'],
    });
    return payload;
  }

  function refuse(reason: string, fields: Record<string, unknown>): RegistryError {
    registry.log('warn', 'token refused', { reason, ...fields });
    return new RegistryError('unauthenticated', 'The token was rejected. The log of this registry gives the reason.');
  }

  return async (token, origin) => {
    const issuer = readIssuer(token);
    const keys = issuers.get(issuer);
    if (keys === undefined) throw refuse('issuer not configured', { issuer: String(issuer).slice(0, 200), origin });
    const claims = await verify(token, issuer, keys).catch((error: unknown) => {
      const reason = explainRefusal(error);
      if (reason !== null) throw refuse(reason, { issuer, origin });
      if (!(error instanceof errors.JOSEError)) throw error;
      registry.log('error', 'issuer without keys', { issuer, error: error.message });
      throw new RegistryError('unavailable', notAnswering, { cause: error, retryAfter: 5 });
    });
    const job = readJob(claims);
    if (job === null) throw refuse('token names no repository', { issuer, origin });
    const { subject, repository, ref, audiences, event, run } = job;
    const facts = { issuer, subject, repository, ref, event, run, audiences: audiences.join(' '), origin };
    const match = findPublisher(publishers, job, url);
    if ('reason' in match) throw refuse(`no trusted publisher matches: ${match.reason}`, facts);
    const exchanged = await exchangeToken(registry, match.publisher, job, origin);
    if ('reason' in exchanged) throw refuse(exchanged.reason, facts);
    registry.log('info', 'token exchanged', { ...facts, organization: exchanged.key.org, key: exchanged.key.id });
    return exchanged;
  };
}

/** The token's issuer, unverified: it only decides which keys to try. */
function readIssuer(token: string): string {
  try {
    if (token.length <= longest) return decodeJwt(token).iss ?? '';
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
  }
  throw new RegistryError('malformed', 'token must be the OpenID Connect token of a CI job.');
}

/** An issuer's public keys, cached for 10 minutes and fetched again for an unknown key id. */
function createKeys(issuer: string, { monotonic, log }: Registry): () => Promise<JWTVerifyGetKey> {
  const discover = createDiscovery({ issuer, client: null, monotonic, log });
  let keySet: { location: string; keys: JWTVerifyGetKey } | null = null;
  return async () => {
    const location = (await discover()).serverMetadata().jwks_uri!;
    if (keySet?.location !== location)
      keySet = { location, keys: createRemoteJWKSet(new URL(location), { [customFetch]: askForKeys }) };
    return keySet.keys;
  };
}

const askForKeys: FetchImplementation = async (location, options) => {
  const response = await askIssuer(location, options);
  if (response.status === 200) return response;
  throw new RegistryError('unavailable', notAnswering, { retryAfter: 5 });
};

/** Why a token is invalid, for the log. Null if the token is not the cause. */
function explainRefusal(error: unknown): string | null {
  if (!(error instanceof errors.JOSEError) || issuerFaults.includes(error.code)) return null;
  return `${error.code}: ${error.message}`;
}

/** Errors of jose if keys do not arrive in time or are invalid. */
const issuerFaults = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];
