import { expect, test } from 'vitest';
import { readDescription } from '../../src/server/v1/api-description.ts';
import { expectLives } from './expect-lives.ts';
import { verbs } from './verbs.ts';

expectLives([1], 60);

const session = 'for pages of the console, with the session of a person';
const webhook = 'a life listens to no events';
const link = 'a life follows whole repositories';
/** Operations of `/v1` that are not GET, and that no life asks for, with the reason. Those of schemas and rulesets are those of APIs. */
const left: Readonly<Record<string, string>> = {
  askForKey: session,
  checkDocument: 'changes nothing',
  compareApi: 'changes nothing',
  connectApi: link,
  connectSite: link,
  createMyKey: session,
  createWebhook: webhook,
  decideDevice: session,
  deleteWebhook: webhook,
  disconnectApi: link,
  disconnectSite: link,
  exchangeToken: 'a life has no CI',
  putSitePage: 'as putSiteFile',
  deleteSitePage: 'as deleteSiteFile',
  receiveHook: 'a hook changes only when a sync begins',
  redeliverEvent: webhook,
  replayEverything: 'changes nothing',
  replayRuleset: 'changes nothing',
  rotateWebhookSecret: webhook,
  syncSite: link,
  takeKey: session,
  testWebhook: webhook,
  updateWebhook: webhook,
};

/** The operation of APIs that is the same. */
const ofApis = (id: string) => id.replace(/Schema|Ruleset/, 'Api');

test('every operation of /v1 that is not GET is asked for by a verb of lives, or stands here with a reason', () => {
  const changing = readDescription()
    .operations.filter(({ method }) => method !== 'get')
    .map(({ id }) => id);
  const asked = new Set(Object.values(verbs).flatMap(({ asks = [] }) => asks));
  const isKnown = (id: string) => asked.has(id) || Object.hasOwn(left, id);
  expect(changing.filter((id) => !isKnown(id) && !isKnown(ofApis(id)))).toEqual([]);
  expect(Object.keys(left).filter((id) => asked.has(id) || !changing.includes(id))).toEqual([]);
  expect([...asked].filter((id) => !changing.includes(id))).toEqual([]);
});
