import type { Request, Response } from 'express';
import { untilClosed } from '../request.ts';
import { type Delivery, type Hint, type Host, type HostKind, productOf, senderOf } from '../../hosts/host.ts';
import { isRegistryError, RegistryError, unauthenticated, notFound, malformed } from '../../model/errors.ts';
import { hookSecrets, receiveHook, type RepositoryName } from '../../sync/receive-hook.ts';
import type { ServerContext } from '../server-context.ts';
import { createFairQueue } from '../../scheduling/fair-queue.ts';
import { limitAddresses, limitedName } from '../allowance.ts';
import { outlineJson } from '../body/body-thread.ts';
import { readPieces, joinPieces } from '../body/request-body.ts';
import type { Answer } from './call.ts';

/** GitHub's limit (https://docs.github.com/webhooks/webhook-events-and-payloads). */
const maxBytes = 25 * 1024 * 1024;

/**
 * Above this size only a few bodies are in memory at once, and client addresses take turns. Most
 * payloads are smaller.
 */
const largeBytes = 1024 * 1024;
const largeAtOnce = 4;

/** Deliveries are never refused for their number, so a flood of small ones, signed or forged, takes its time. */
const smallAtOnce = 4;
const longestRest = 25;

/** GitHub's webhooks can be configured to send a form. */
const form = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i;
const json = /^application\/json[ \t]*(?:;|$)/i;

/**
 * `POST /v1/hooks/…`: receives one delivery from the host with this name. `connection`: `<org>/<id of the
 * repository>`, whose secrets apply, or null. Checks the signature over the raw bytes before parsing them. Throws the
 * same `unauthenticated`, after the same amount of work, for a wrong signature, a missing secret and an unknown connection.
 */
export function createReceiveHook({
  registry,
  queue,
  url,
  peers,
}: Pick<ServerContext, 'registry' | 'queue' | 'url' | 'peers'>) {
  const large = createFairQueue(largeAtOnce);
  const paced = createFairQueue(smallAtOnce);
  const { rateLimit, proxies } = registry.config;
  const message = 'Too many rejected webhook deliveries from your address. Wait, then retry.';
  const countRefusal = limitAddresses('refused hooks', rateLimit.address, message, { registry, peers });
  // Used if there is no secret, so that the check takes the same time.
  const unknown = Buffer.from(registry.randomBytes(32)).toString('base64url');

  async function secretsFor(host: string, only: RepositoryName | null): Promise<string[]> {
    try {
      const secrets = await hookSecrets(registry, host, only);
      return secrets.length > 0 ? secrets : [unknown];
    } catch (error) {
      if (!isRegistryError(error, 'malformed') && !isRegistryError(error, 'unavailable')) throw error;
      // A missing or unreadable secret is the operator's mistake, so it is logged.
      registry.log('error', 'hook without a secret', { host, error: String(error) });
      return [unknown];
    }
  }

  /** Returns the delivery, a large one as an outline, if one of the secrets signed it. */
  async function readGenuine(host: Host, only: RepositoryName | null, request: Request, response: Response) {
    const body = await readRaw(host.kind, request, response);
    const genuine = () => check(host, only, request, body);
    return isLarge(request) ? genuine() : paced.add({ owner: limitedName(request, proxies), longestRest }, genuine);
  }

  async function check(host: Host, only: RepositoryName | null, request: Request, body: Buffer<ArrayBuffer>) {
    const delivery = { headers: headersOf(request), body };
    if (await host.isGenuine(delivery, await secretsFor(host.name, only), registry.now())) return outlined(delivery);
    registry.log('warn', 'hook refused', { host: host.name, repository: only, origin: request.ip ?? null });
    throw unauthenticated('The webhook signature is missing or invalid. Check the secret.');
  }

  /** The error for a hook of another product. It depends only on the hook and the configured names. */
  function wrongAddress(host: Host, sender: HostKind): RegistryError {
    const right = registry.hosts.find(({ kind }) => kind === sender)?.name ?? sender;
    return malformed(
      `${productOf(sender).name} sent this webhook, but this address is for ${productOf(host.kind).name}. Change the URL of the webhook to ${url}/v1/hooks/${right}.`,
    );
  }

  /** Counts rejected deliveries only, so that they never block genuine ones. */
  function countRefused(request: Request, error: unknown): unknown {
    if (isRegistryError(error)) countRefusal(request);
    return error;
  }

  return async (name: string, connection: string | null, request: Request, response: Response): Promise<Answer> => {
    const host = registry.hosts.find((each) => each.name === name);
    if (host === undefined) {
      const absent = `The configuration has no git host ${JSON.stringify(name)}. See ${url}/docs/git-hosts.`;
      throw countRefused(request, notFound(absent));
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

/** Whether the body is large or its size unknown. */
function isLarge({ headers }: Request): boolean {
  const { 'content-length': length } = headers;
  return headers['transfer-encoding'] !== undefined || Number(length ?? 0) > largeBytes;
}

function headersOf({ headers }: Request): Delivery['headers'] {
  return Object.fromEntries(
    Object.entries(headers).filter(([, value]) => typeof value === 'string'),
  ) as Delivery['headers'];
}

/** The delivery with a body that is parsed quickly. */
async function outlined({ headers, body }: Delivery & { body: Uint8Array<ArrayBuffer> }): Promise<Delivery> {
  const isForm = form.test(headers['content-type'] ?? '');
  const small = await outlineJson(body, isForm);
  if (small === body) return { headers, body };
  return { headers: { ...headers, 'content-type': 'application/json' }, body: small };
}

async function readRaw(kind: HostKind, request: Request, response: Response): Promise<Buffer<ArrayBuffer>> {
  const type = request.headers['content-type'] ?? '';
  if (!json.test(type) && !(kind === 'github' && form.test(type)))
    throw new RegistryError('unsupported_media_type', 'Set the content type of the webhook to application/json.');
  return joinPieces(await readPieces(request, response, { limit: maxBytes, inflate: false }));
}
