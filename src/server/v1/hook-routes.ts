import type { Request, Response } from 'express';
import { hostKinds, type Delivery, type Hint, type Host, type HostKind } from '../../hosts/host.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { hookSecrets, receiveHook, type RepositoryName } from '../../sync/receive-hook.ts';
import type { ServerContext } from '../server-context.ts';
import { createFairQueue } from '../../scheduling/fair-queue.ts';
import { createAllowance } from '../allowance.ts';
import { limitedName } from '../client-address.ts';
import { readPieces } from '../body/request-body.ts';
import type { Answer } from './call.ts';
import { joinPieces } from '../body/pieces.ts';

/** The most that GitHub sends (https://docs.github.com/webhooks/webhook-events-and-payloads). */
const mostBytes = 25 * 1024 * 1024;

/** More bytes than most payloads have: of such bodies a few are in memory at once, addresses in turn. */
const largeBytes = 1024 * 1024;
const largeAtOnce = 4;

/** GitHub's hooks may be set to send a form. */
const form = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i;
const json = /^application\/json[ \t]*(?:;|$)/i;

/** Takes one delivery of a hook of this kind of host. `connection`: `<org>/<id of the repository>` whose secrets count, or null. */
export type ReceiveHook = (
  kind: HostKind,
  connection: string | null,
  request: Request,
  response: Response,
) => Promise<Answer>;

/** The kind of host that an operation takes hooks of; null for any other operation. */
export function hookKindOf(operation: string): HostKind | null {
  return hostKinds.find((kind) => operation.toLowerCase() === `receive${kind}hook`) ?? null;
}

/**
 * `POST /v1/hooks/…`: authenticated by its signature over the bytes as they came, before anything looks into them. Refuses with `unauthenticated`, in
 * the same words and after like work, what no secret signed, where there is no secret, and where there is no such connection.
 */
export function createReceiveHook({ registry, queue }: Pick<ServerContext, 'registry' | 'queue'>): ReceiveHook {
  const large = createFairQueue(largeAtOnce);
  const { rateLimit, proxies } = registry.config;
  const refusal = createAllowance({ limit: rateLimit.address, window: rateLimit.window }, registry.monotonic);
  // Stands in for a secret where there is none, so that it takes the same work.
  const unknown = Buffer.from(registry.randomBytes(32)).toString('base64url');

  async function secretsFor(kind: HostKind, only: RepositoryName | null): Promise<string[]> {
    try {
      const secrets = await hookSecrets(registry, kind, only);
      return secrets.length > 0 ? secrets : [unknown];
    } catch (error) {
      if (!isRegistryError(error, 'malformed') && !isRegistryError(error, 'unavailable')) throw error;
      // A secret that the environment lacks, or that no key opens, is the operator's to know of.
      registry.log('error', 'hook without a secret', { host: kind, error: String(error) });
      return [unknown];
    }
  }

  /** The delivery, when one of the secrets signed it. */
  async function readGenuine(host: Host, only: RepositoryName | null, request: Request, response: Response) {
    const body = await readRaw(host.kind, request, response);
    const delivery: Delivery = { headers: headersOf(request), body };
    if (host.isGenuine(delivery, await secretsFor(host.kind, only), registry.now())) return delivery;
    registry.log('warn', 'hook refused', { host: host.kind, repository: only, origin: request.ip ?? null });
    throw notSigned();
  }

  /** Counts what is refused, and nothing else: a genuine delivery is taken whoever sent what before it. */
  function countRefused(request: Request, error: unknown): unknown {
    if (!isRegistryError(error)) return error;
    const { remaining, seconds } = refusal(limitedName(request, proxies));
    if (remaining >= 0) return error;
    const message = 'Too many rejected webhook deliveries from your address. Wait, then retry.';
    return new RegistryError('rate_limited', message, { retryAfter: seconds });
  }

  return async (kind, connection, request, response) => {
    const host = registry.hosts.find((each) => each.kind === kind);
    if (host === undefined) throw countRefused(request, notSigned());
    const [org = '', id = ''] = connection?.split('/') ?? [];
    const only = connection === null ? null : { org, id };
    const read = () => readGenuine(host, only, request, response);
    const claim = { owner: limitedName(request, proxies), signal: untilClosed(response) };
    const reading = isLarge(request) ? large.add(claim, read) : read();
    const delivery = await reading.catch((error: unknown) => {
      throw countRefused(request, error);
    });
    const hint: Hint = host.readHint(delivery);
    const repositories = await receiveHook(registry, queue, host, hint, only);
    registry.log('debug', 'hook', { host: kind, hint: hint.kind, repositories });
    return { status: 202, body: { repositories } };
  };
}

/** Aborts when the client has left. */
function untilClosed(response: Response): AbortSignal {
  const closed = new AbortController();
  response.once('close', () => closed.abort(new RegistryError('malformed', 'The client closed the connection.')));
  return closed.signal;
}

function notSigned(): RegistryError {
  return new RegistryError('unauthenticated', 'The webhook signature is missing or invalid. Check the secret.');
}

/** Whether the body is large, or does not say how large it is. */
function isLarge({ headers }: Request): boolean {
  const { 'content-length': length } = headers;
  return headers['transfer-encoding'] !== undefined || Number(length ?? 0) > largeBytes;
}

function headersOf({ headers }: Request): Delivery['headers'] {
  return Object.fromEntries(
    Object.entries(headers).filter(([, value]) => typeof value === 'string'),
  ) as Delivery['headers'];
}

/** The body as it was sent: nothing is inflated. */
async function readRaw(kind: HostKind, request: Request, response: Response): Promise<Buffer> {
  const type = request.headers['content-type'] ?? '';
  if (!json.test(type) && !(kind === 'github' && form.test(type)))
    throw new RegistryError('unsupported_media_type', 'Set the content type of the webhook to application/json.');
  return joinPieces(await readPieces(request, response, { limit: mostBytes, inflate: false }));
}
