import { createRequire } from 'node:module';
import type * as AdaptiveCards from 'adaptivecards';
import { CloudEvent } from 'cloudevents';
import { describe, expect, test, vi } from 'vitest';
import { payloadOf } from '../../src/events/send-event.ts';
import { eventTypes, type Event, type WebhookFormat } from '../../src/model/event.ts';

const url = 'https://registry.test/@acme/apis/pay@2.0.0';

function eventOf(type: Event['type'], data: Record<string, unknown> = {}): Event {
  const rest = {
    specversion: '1.0',
    id: 'x',
    source: 'https://registry.test/@acme',
    datacontenttype: 'application/json',
  } as const;
  return { ...rest, type, subject: '@acme/apis/pay@2.0.0', time: '2026-01-01T00:00:00.000Z', data: { url, ...data } };
}

function sent(format: WebhookFormat, event: Event): unknown {
  return JSON.parse(payloadOf(format, event).body);
}

const counts = { breaking: 2, unknown: 0, risky: 0, safe: 1, docs: 0 };
const published = eventOf('dev.stele.version.published', {
  changes: { from: '1.0.0', why: 'the highest release below it', verdict: 'breaking', counts },
});
/** What the messages of some types show. */
const everything = {
  status: { state: 'yanked', reason: 'x' },
  version: '1.0.0',
  previous: null,
  because: 'breaking',
  coordinate: '@acme/apis/pay',
  detail: 'x',
};
const title = '@acme/apis/pay@2.0.0 was published';
const detail = 'Breaking changes compared with 1.0.0, the highest release below it: 2 breaking, 1 safe.';

test('a publication is a message of Slack', () => {
  const section = (text: string) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } });
  expect(sent('slack', published)).toEqual({
    text: title,
    mrkdwn: false,
    link_names: false,
    unfurl_links: false,
    blocks: [section(title), section(detail), { type: 'context', elements: [{ type: 'mrkdwn', text: `<${url}>` }] }],
  });
});

test('a publication is a card of Teams', () => {
  expect(sent('teams', published)).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          body: [{ inlines: [{ text: title, color: 'Attention' }] }, { inlines: [{ text: detail }] }],
          actions: [{ type: 'Action.OpenUrl', url }],
        },
      },
    ],
  });
});

test('a publication is an embed of Discord, which mentions nobody', () => {
  expect(sent('discord', published)).toMatchObject({
    embeds: [{ title: '\\@acme/apis/pay\\@2.0.0 was published', url }],
    allowed_mentions: { parse: [] },
  });
});

test('what somebody wrote is text: it mentions nobody, is no markup, and fits', () => {
  const reason = `<!channel> *bold* [x](https://evil.test) @everyone\r\n\u202e${'x'.repeat(5000)}`;
  const event = eventOf('dev.stele.version.status-changed', { status: { state: 'yanked', reason, since: '' } });
  const all = (['slack', 'teams', 'discord'] as const).map((format) => payloadOf(format, event).body);
  expect(all.join('')).not.toMatch(/\\r|\\n|\u202e/);
  expect(Math.max(...all.map((body) => body.length))).toBeLessThan(4000);
  const slack = sent('slack', event) as { blocks: { text?: { type: string } }[] };
  expect(slack.blocks.slice(0, 2).map(({ text }) => text?.type)).toEqual(['plain_text', 'plain_text']);
  expect(all[1]).not.toContain('"TextBlock"');
  expect(all[2]).toContain(String.raw`\\<!channel\\> \\*bold\\* \\[x\\]\\(https\\://evil.test\\) \\@everyone`);
  const evil = eventOf('dev.stele.sync.failed', { detail: '<!here>', url: 'javascript:alert(1)' });
  expect(payloadOf('slack', evil).body).not.toContain('javascript');
});

test.each([...eventTypes, 'test'] as const)(
  '%s has a message in each format, and a CloudEvent is sent as it is',
  (type) => {
    const event = eventOf(`dev.stele.${type}`, {
      status: { state: 'active' },
      detail: null,
      version: null,
      previous: null,
    });
    for (const format of ['slack', 'teams', 'discord'] as const)
      expect(payloadOf(format, event)).toMatchObject({
        type: 'application/json',
        body: expect.not.stringMatching(/undefined|null was|\[object/),
      });
    expect(payloadOf('cloudevents', event)).toEqual({
      type: 'application/cloudevents+json',
      body: JSON.stringify(event),
    });
  },
);

describe('for the programs of those who publish the formats', () => {
  const all = [...eventTypes.map((type) => eventOf(`dev.stele.${type}`, everything)), published];

  test('each event is a CloudEvent for its SDK, which checks the schema of the specification', () => {
    for (const event of all) expect(new CloudEvent(sent('cloudevents', event) as object).validate()).toBe(true);
    expect(() => new CloudEvent({ ...published, source: '' }).validate()).toThrow('invalid payload');
  });

  test('each message of Teams is an Adaptive Card without a fault for its parser', () => {
    // The package is for browsers.
    vi.stubGlobal('window', globalThis);
    const { AdaptiveCard, SerializationContext, Versions } = createRequire(import.meta.url)(
      'adaptivecards/dist/adaptivecards.js',
    ) as typeof AdaptiveCards;
    vi.unstubAllGlobals();
    const faultsOf = (content: object) => {
      const context = new SerializationContext(Versions.v1_4);
      const card = new AdaptiveCard();
      card.parse(content, context);
      const parsed = Array.from({ length: context.eventCount }, (_, index) => context.getEventAt(index).message);
      return [...parsed, ...card.validateProperties().validationEvents.map(({ message }) => message)];
    };
    for (const event of all) {
      const { attachments } = sent('teams', event) as { attachments: [{ content: object }] };
      expect(faultsOf(attachments[0].content)).toEqual([]);
    }
    expect(faultsOf({ type: 'AdaptiveCard', version: '1.4', body: [{ type: 'Nothing' }] })).toHaveLength(1);
  });
});
