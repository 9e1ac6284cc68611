import { changesInWords, type ToldChanges } from '../model/comparison.ts';
import { countState, shownState } from '../model/states.ts';
import { eventTypeOf, type Event, type EventType, type WebhookFormat } from '../model/event.ts';
import type { Status } from '../model/resource.ts';

/** The body of a delivery, and its media type. */
export interface Payload {
  type: string;
  body: string;
}

/**
 * An event in the form that an endpoint takes: the CloudEvent itself, or a message of a chat program.
 * Text that somebody published stands in it as plain text: it mentions nobody, links nowhere and has
 * no markup.
 */
export function payloadOf(format: WebhookFormat, event: Event): Payload {
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
  'sync.failed': (subject, { detail }) => ({ title: `Sync of ${subject} failed`, detail: shown(detail), isBad: true }),
  'sync.recovered': (subject) => ({ title: `Sync of ${subject} works again` }),
  'source.diverged': (subject, { detail }) => ({
    title: `The history of ${subject} was rewritten`,
    detail: shown(detail),
    isBad: true,
  }),
  'source.detached': (subject, { detail }) => ({
    title: `The source of ${subject} is gone`,
    detail: shown(detail),
    isBad: true,
  }),
  'source.private': (subject, { detail }) => ({
    title: `${subject} was made private on its host`,
    detail: shown(detail),
    isBad: true,
  }),
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
  return { title: cut(oneLine(title), 300), detail: cut(oneLine(detail), 1000), url: isAddress ? url : null, isBad };
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function oneLine(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim();
}

function cut(line: string, length: number): string {
  return line.length > length ? `${line.slice(0, length - 1).toWellFormed()}…` : line;
}
