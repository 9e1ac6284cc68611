import { cut, visibleLine } from '../model/escape.ts';
import { changesInWords, type ToldChanges } from '../model/comparison.ts';
import { countState, shownState } from '../model/states.ts';
import {
  eventTypeOf,
  type Event,
  type EventType,
  type WebhookFormat,
  type Attempt,
  type Webhook,
} from '../model/event.ts';
import type { Status } from '../model/resource.ts';
import { once } from 'node:events';
import { Agent as PlainAgent, request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent, request } from 'node:https';
import { connect, isIP } from 'node:net';
import { Webhook as Signer } from 'standardwebhooks';
import { readProxies } from '../config/environment.ts';
import { proxyFor, type Proxies } from '../model/proxy.ts';
import { isRegistryError, unreachable, forbidden } from '../model/errors.ts';
import { isPublicAddress, lookup, lookupAmong, type Lookup } from '../source/location.ts';
import { beginAttempt } from './delivery.ts';
import { hostOf, readEndpointUrl, secretsAt, wholeUrl } from './endpoints.ts';
import type { Registry } from '../registry/registry.ts';
import { untilAborted } from '../scheduling/waiting.ts';

/**
 * An event in the form that an endpoint takes: the CloudEvent itself, or a message of a chat program.
 * Text that somebody published stands in it as plain text: it mentions nobody, links nowhere and has
 * no markup.
 */
export function payloadOf(format: WebhookFormat, event: Event): { type: string; body: string } {
  if (format === 'cloudevents') return { type: 'application/cloudevents+json', body: JSON.stringify(event) };
  return { type: 'application/json', body: JSON.stringify(messages[format](newsOf(event))) };
}

/** What a chat shows of an event. Both texts are one line. */
interface Message {
  title: string;
  /** Empty: the title says it all. */
  detail: string;
  /** Where to read on. Null: nowhere. */
  url: string | null;
  isBad: boolean;
}

const messages: Readonly<Record<Exclude<WebhookFormat, 'cloudevents'>, (message: Message) => object>> = {
  slack: slackMessage,
  teams: teamsMessage,
  discord: discordMessage,
};

/** Slack's incoming webhooks (api.slack.com/messaging/webhooks) with Block Kit. */
function slackMessage({ title, detail, url }: Message): object {
  // In this text three characters have a meaning; `<!channel>` begins with one of them.
  const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const block = (text: string) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } });
  return {
    text: escape(title),
    mrkdwn: false,
    link_names: false,
    unfurl_links: false,
    blocks: [
      block(title),
      ...(detail === '' ? [] : [block(detail)]),
      ...(url === null ? [] : [{ type: 'context', elements: [{ type: 'mrkdwn', text: `<${escape(url)}>` }] }]),
    ],
  };
}

/** A message with an Adaptive Card, as workflows of Microsoft Teams take it. Runs of text have no markup. */
function teamsMessage({ title, detail, url, isBad }: Message): object {
  const run = (text: string, more: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...more }],
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      run(title, { weight: 'Bolder', ...(isBad && { color: 'Attention' }) }),
      ...(detail === '' ? [] : [run(detail)]),
    ],
    actions: url === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open', url }],
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}

/** Discord's webhooks (discord.com/developers/docs/resources/webhook#execute-webhook). */
function discordMessage({ title, detail, url, isBad }: Message): object {
  const escape = (text: string) => text.replace(/[\\`*_~|<>[\]()#:@-]/g, '\\$&');
  const embed = {
    title: cut(escape(title), 256),
    ...(detail !== '' && { description: cut(escape(detail), 2000) }),
    ...(url !== null && { url }),
    color: isBad ? 0xc0392b : 0x2e7d32,
  };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

type Say = (subject: string, data: Record<string, unknown>) => { title: string; detail?: string; isBad?: boolean };

const failing =
  (title: (subject: string) => string): Say =>
  (subject, { detail }) => ({ title: title(subject), detail: shown(detail), isBad: true });

const said: Readonly<Record<EventType | 'test' | 'audit', Say>> = {
  'version.published': (subject, data) => {
    const changes = data['changes'] as ToldChanges | undefined;
    const detail = changes === undefined ? '' : changesInWords(changes);
    return { title: `${subject} was published`, detail, isBad: changes?.verdict === 'breaking' };
  },
  'version.status-changed': (subject, data) => {
    const status = data['status'] as Status;
    return {
      title: `${subject} is ${status.state}`,
      detail: 'reason' in status ? status.reason : '',
      isBad: status.state !== 'active',
    };
  },
  'latest.moved': (subject, { version, previous }) => ({
    title:
      version === null ? `${subject} has no latest version` : `The latest version of ${subject} is ${shown(version)}`,
    detail: previous === null ? '' : `It was ${shown(previous)}.`,
  }),
  'visibility.changed': (subject, { visibility }) => ({ title: `${subject} is ${shown(visibility)}` }),
  'approval.requested': (subject) => ({
    title: `A version of ${subject} ${shownState('waiting').text}`,
    detail: 'Somebody who did not write it approves or rejects its changes.',
  }),
  'sync.completed': (subject, { documents, waiting, rejected }) => ({
    title: `${subject} was synced`,
    detail: `Documents: ${shown(documents)}${waiting ? `, ${countState(Number(waiting), 'waiting')}` : ''}, rejected: ${shown(rejected)}.`,
    isBad: rejected !== 0,
  }),
  'sync.failed': failing((subject) => `Sync of ${subject} failed`),
  'sync.recovered': (subject) => ({ title: `Sync of ${subject} works again` }),
  'source.diverged': failing((subject) => `The history of ${subject} was rewritten`),
  'source.detached': failing((subject) => `The source of ${subject} is gone`),
  'source.private': failing((subject) => `${subject} was made private on its host`),
  'site.published': (subject, { deployment }) => ({
    title: `${subject} was published`,
    detail: `Deployment ${shown(deployment)}.`,
  }),
  'consumer.affected': (subject, { coordinate, version, because, changes }) => ({
    title: `${subject} is affected by ${shown(coordinate)}`,
    detail: `Version ${shown(version)}: ${changes ? changesInWords(changes as ToldChanges) : `${shown(because)}.`}`,
    isBad: true,
  }),
  audit: (subject, { actor, action }) => ({ title: `${subject}: ${shown(action)}`, detail: shown(actor) }),
  test: () => ({ title: 'This is a test event.' }),
};

/** What a message for people says of an event. */
export function newsOf(event: Event): Message {
  const { title, detail = '', isBad = false } = said[eventTypeOf(event)](event.subject, event.data);
  const url = event.data['url'];
  const isAddress = typeof url === 'string' && /^https?:\/\/[^\s<>|]+$/.test(url);
  return { title: visibleLine(title, 300), detail: visibleLine(detail, 1000), url: isAddress ? url : null, isBad };
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export interface SendOptions {
  /** Resolves host names. Defaults to the system's resolver. */
  find?: Lookup;
  /** Default: those of the environment. */
  proxies?: Proxies;
  /** Milliseconds for the whole attempt. */
  timeLimit?: number;
}

/**
 * Bytes of the response to read and discard. Closing the connection early would look like an error
 * to the endpoint.
 */
const readBytes = 64 * 1024;

/**
 * Sends an event once (Standard Webhooks 1.0.0) and returns the result: it is delivered when the
 * endpoint answers 2xx within 15 s. Does not follow redirects. Checks every address of the host at
 * each attempt, and connects only to a checked address. Never rejects: a secret that cannot be
 * unsealed is a failed attempt too.
 */
export async function sendEvent(
  registry: Registry,
  webhook: Webhook,
  event: Event,
  { find = lookup, timeLimit = 15_000, proxies = readProxies() }: SendOptions = {},
): Promise<Attempt> {
  const now = registry.now();
  const { type, body } = payloadOf(webhook.format ?? 'cloudevents', event);
  const attempt = beginAttempt(registry);
  const signal = AbortSignal.timeout(timeLimit);
  try {
    const signatures = secretsAt(registry, webhook, now).map((secret) => new Signer(secret).sign(event.id, now, body));
    const headers = {
      'content-type': type,
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'Stele',
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    };
    const url = wholeUrl(registry, webhook);
    const proxy = proxyFor(url, proxies);
    const target = await resolveEndpoint(registry, url, { find, proxy }, signal);
    const status = await post(target, headers, body, signal);
    return attempt(status, status >= 200 && status < 300 ? null : refusalOf(status));
  } catch (error) {
    return attempt(null, signal.aborted ? tooLate(timeLimit) : explain(error));
  }
}

/** Connects to an endpoint and sends nothing. Returns why it cannot be reached, or null. */
export async function reachEndpoint(registry: Registry, text: string): Promise<string | null> {
  const patience = 5000;
  const signal = AbortSignal.timeout(patience);
  try {
    const how = { find: lookup, proxy: proxyFor(text, readProxies()) };
    const { url, addresses, proxy } = await resolveEndpoint(registry, text, how, signal);
    // Behind a proxy, only a delivery shows what can be reached.
    if (proxy !== null) return null;
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    const socket = connect({ host: addresses[0]!, port, signal });
    await once(socket, 'connect');
    socket.destroy();
    return null;
  } catch (error) {
    return signal.aborted ? tooLate(patience) : explain(error);
  }
}

/** An endpoint's URL and its checked addresses. */
interface Target {
  url: URL;
  addresses: string[];
  /** The URL of the proxy that reaches it, and resolves its host; null: none. */
  proxy: string | null;
}

async function resolveEndpoint(
  registry: Registry,
  text: string,
  { find, proxy }: { find: Lookup; proxy: string | null },
  signal: AbortSignal,
): Promise<Target> {
  const read = readEndpointUrl(registry, text);
  if ('fault' in read) throw forbidden(`The endpoint's URL ${read.fault}.`);
  const { url } = read;
  const host = hostOf(url);
  // A proxy may know names that this machine does not. Those that it knows are checked all the same.
  const resolve = () => (proxy === null ? find(host) : find(host).catch(() => []));
  const addresses = isIP(host) ? [host] : await untilAborted(resolve(), signal);
  if (addresses.length === 0 && proxy === null) throw unreachable(`There is no host named ${host}.`);
  if (!registry.config.webhooks.allowPrivateAddresses && !addresses.every(isPublicAddress)) {
    throw forbidden(`${host} has a private network address. Events are not sent to private networks.`);
  }
  return { url, addresses, proxy };
}

/**
 * Posts to one of the addresses. Resolves to the status when the response body has ended or enough
 * of it was read.
 */
function post(
  { url, addresses, proxy }: Target,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<number> {
  const through = proxy === null ? null : { proxyEnv: { http_proxy: proxy, https_proxy: proxy } };
  const agent = through && (url.protocol === 'http:' ? new PlainAgent(through) : new Agent(through));
  const reached: RequestOptions = agent === null ? { agent: false, lookup: lookupAmong(addresses) } : { agent };
  const options: RequestOptions = { method: 'POST', headers, signal, ...reached };
  return new Promise((resolve, reject) => {
    // Once the status is known, later errors do not matter.
    let status: number | null = null;
    const settle = (error?: unknown) => (status === null ? reject(error as Error) : resolve(status));
    const answered = (response: IncomingMessage) => {
      let length = 0;
      status = response.statusCode!;
      response.on('data', (chunk: Buffer) => {
        length += chunk.byteLength;
        if (length > readBytes) response.destroy();
      });
      response.on('close', settle).on('error', settle);
    };
    const send = url.protocol === 'http:' ? requestPlain : request;
    // Covers responses without a status: 101, or a connection closed without a response.
    const closed = () => settle(unreachable('The endpoint closed the connection without an answer.'));
    send(url, options, answered).on('error', settle).on('close', closed).end(body);
  });
}

function tooLate(milliseconds: number): string {
  return `The endpoint did not answer within ${milliseconds / 1000} s.`;
}

function refusalOf(status: number): string {
  return status >= 300 && status < 400
    ? `The endpoint answered ${status}. Redirects are not followed.`
    : `The endpoint answered ${status} instead of 2xx.`;
}

function explain(error: unknown): string {
  if (isRegistryError(error)) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND') return "The endpoint's host name does not exist.";
  if (code === 'ECONNREFUSED') return 'The endpoint refused the connection.';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'The endpoint closed the connection before it answered.';
  return `The endpoint could not be reached: ${code ?? message}.`;
}
