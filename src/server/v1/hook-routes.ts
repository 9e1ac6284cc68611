import type { Request, Response } from 'express';
import type { Delivery, Hint, Host, HostKind } from '../../hosts/host.ts';
import { productNames, senderOf } from '../../hosts/sender.ts';
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

/** Takes one delivery of a hook of the host with this name. `connection`: `<org>/<id of the repository>` whose secrets count, or null. */
export type ReceiveHook = (
  name: string,
  connection: string | null,
  request: Request,
  response: Response,
) => Promise<Answer>;

/**
 * `POST /v1/hooks/…`: authenticated by its signature over the bytes as they came, before anything looks into them. Refuses with `unauthenticated`, in
 * the same words and after like work, what no secret signed, where there is no secret, and where there is no such connection.
 */
export function createReceiveHook({
  registry,
  queue,
  url,
}: Pick<ServerContext, 'registry' | 'queue' | 'url'>): ReceiveHook {
  const large = createFairQueue(largeAtOnce);
  const { rateLimit, proxies } = registry.config;
  const refusal = createAllowance({ limit: rateLimit.address, window: rateLimit.window }, registry.monotonic);
  // Stands in for a secret where there is none, so that it takes the same work.
  const unknown = Buffer.from(registry.randomBytes(32)).toString('base64url');

  async function secretsFor(host: string, only: RepositoryName | null): Promise<string[]> {
    try {
      const secrets = await hookSecrets(registry, host, only);
      return secrets.length > 0 ? secrets : [unknown];
    } catch (error) {
      if (!isRegistryError(error, 'malformed') && !isRegistryError(error, 'unavailable')) throw error;
      // A secret that the environment lacks, or that no key opens, is the operator's to know of.
      registry.log('error', 'hook without a secret', { host, error: String(error) });
      return [unknown];
    }
  }

  /** The delivery, when one of the secrets signed it. */
  async function readGenuine(host: Host, only: RepositoryName | null, request: Request, response: Response) {
    const body = await readRaw(host.kind, request, response);
    const delivery: Delivery = { headers: headersOf(request), body };
    if (host.isGenuine(delivery, await secretsFor(host.name, only), registry.now())) return delivery;
    registry.log('warn', 'hook refused', { host: host.name, repository: only, origin: request.ip ?? null });
    throw notSigned();
  }

  /** What a hook is told that another product sent. It depends on nothing but the hook and the configured names. */
  function wrongAddress(host: Host, sender: HostKind): RegistryError {
    const right = registry.hosts.find(({ kind }) => kind === sender)?.name ?? sender;
    const message = `${productNames[sender]} sent this webhook, but this address is for ${productNames[host.kind]}. Change the URL of the webhook to ${url}/v1/hooks/${right}.`;
    return new RegistryError('malformed', message);
  }

  /** Counts what is refused, and nothing else: a genuine delivery is taken whoever sent what before it. */
  function countRefused(request: Request, error: unknown): unknown {
    if (!isRegistryError(error)) return error;
    const { remaining, seconds } = refusal(limitedName(request, proxies));
    if (remaining >= 0) return error;
    const message = 'Too many rejected webhook deliveries from your address. Wait, then retry.';
    return new RegistryError('rate_limited', message, { retryAfter: seconds });
  }

  return async (name, connection, request, response) => {
    const host = registry.hosts.find((each) => each.name === name);
    if (host === undefined) {
      const message = `The configuration has no git host ${JSON.stringify(name)}. See ${url}/docs/git-hosts.`;
      throw countRefused(request, new RegistryError('not_found', message));
    }
    const sender = senderOf({ headers: headersOf(request) });
    if (sender !== null && sender !== host.kind) throw countRefused(request, wrongAddress(host, sender));
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
    registry.log('debug', 'hook', { host: name, hint: hint.kind, repositories });
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
