import { chooseLatest, findVersion, nameOf, type Resource, type Status } from '../model/resource.ts';
import { whyLatest } from '../model/latest.ts';
import { withStatus } from '../registry/change-version.ts';
import { listUsers, userName } from '../registry/graph/dependants.ts';
import type { View, FormCodes } from './pages.ts';
import { resourceOf, type ConsoleRequest, perform } from './console-request.ts';

type Notice = NonNullable<View['notice']>;

/** Says before a version's status changes where `latest` goes, and who follows it. Null: nobody may know. */
function noticeOfStatus(state: Status['state']) {
  return async (request: ConsoleRequest): Promise<Notice | null> => {
    const resource = await resourceOf(request);
    const version = resource && findVersion(resource, request.params['version']!);
    if (!version) return null;
    const now = new Date(0).toISOString();
    const status = state === 'active' ? { state } : { state, reason: '', since: now };
    const move = describeMove(resource, withStatus(resource, version, status));
    const users = state === 'active' ? '' : await usersText(request, resource, version.label);
    return { ...move, text: move.text + users };
  };
}

/** Says who uses a resource that is to be deleted. Null: nobody that the reader may know of. */
async function noticeOfDelete(request: ConsoleRequest): Promise<Notice | null> {
  const resource = await resourceOf(request);
  const text = resource && (await usersText(request, resource, null));
  return text ? { text: text.trim(), tone: 'bad' } : null;
}

/** Says whom a public resource is cut off from when it becomes private. Null: it is private already. */
async function noticeOfPrivate(request: ConsoleRequest): Promise<Notice | null> {
  const resource = await resourceOf(request);
  if (resource?.visibility !== 'public') return null;
  const { context, session, org } = request;
  const users = await listUsers(context.registry, session.principal, resource);
  const others = users.filter((user) => ('resource' in user ? user.resource.org : user.org) !== org);
  const named = usersSentence('Used outside', others.map(userName));
  return { text: `Private, everybody outside of @${org} gets 404, with or without an account.${named}`, tone: 'bad' };
}

const maxUsers = 10;

/** Who uses this version, or any (null), of those that the reader may read. */
async function usersText(
  { context: { registry }, session: { principal } }: ConsoleRequest,
  resource: Resource,
  label: string | null,
) {
  const all = await listUsers(registry, principal, resource);
  const using = all.filter((each) => label === null || each.uses.version === label);
  return usersSentence('Used', using.map(userName));
}

function usersSentence(what: string, all: readonly string[]): string {
  const names = [...new Set(all)];
  if (names.length === 0) return '';
  const more = names.length > maxUsers ? ` and ${names.length - maxUsers} more` : '';
  return ` ${what} by ${names.slice(0, maxUsers).join(', ')}${more}.`;
}

/** Says which version is the latest and why, and what pinning another one changes. */
async function noticeOfPin(request: ConsoleRequest): Promise<Notice | null> {
  const resource = await resourceOf(request);
  const why = resource && whyLatest(resource);
  if (!why) return null;
  return { text: `${why} ${followers(resource)} get the version that you choose.`, tone: 'calm' };
}

/** The label that the rules choose. */
export async function ruledLatest(request: ConsoleRequest): Promise<string | null> {
  const resource = await resourceOf(request);
  return resource && chooseLatest({ ...resource, latestPinned: false });
}

/** Where `latest` goes from one state of a resource to the next, in sentences. A tone that warns: to nothing, or to what nobody should use. */
export function describeMove(resource: Resource, next: Resource): Notice {
  const [was, latest] = [resource.latest, next.latest];
  const version = latest === null ? null : findVersion(next, latest)!;
  const { status = { state: 'active' } } = version ?? {};
  const isDeprecated = status.state === 'deprecated';
  const why = isDeprecated && status.reason !== '' ? ` (${status.reason.replace(/[.\s]+$/, '')})` : '';
  const deprecated = isDeprecated ? ` ${latest} is deprecated${why}.` : '';
  if (was === latest) {
    if (was === null) return { text: 'No version is the latest.', tone: 'calm' };
    return { text: `Latest stays ${was}.${deprecated}`, tone: 'calm' };
  }
  if (latest === null)
    return {
      text: `No version will be the latest. ${followers(resource)} get an error until there is one.`,
      tone: 'bad',
    };
  const unpinned = resource.latestPinned && !next.latestPinned ? ` The pin on ${was} ends.` : '';
  const advice = isDeprecated ? ' To send them to a better version, publish it or make it active first.' : '';
  const from = was === null ? '' : ` from ${was}`;
  return {
    text: `Latest moves${from} to ${latest}.${unpinned} ${followers(resource)} get ${latest}.${deprecated}${advice}`,
    tone: isDeprecated ? 'bad' : 'calm',
  };
}

/** Who gets another version when `latest` moves. */
function followers(resource: Resource): string {
  const readers = `Readers of ${nameOf(resource)} without a version`;
  return resource.type === 'rulesets' ? `${readers}, and resources that it checks,` : readers;
}

const path = '/:type/:slug';

/** The code of forms about resources and their versions. */
export const resourceCodes: FormCodes = {
  [`${path}/latest`]: { notice: noticeOfPin },
  [`${path}/visibility`]: { notice: noticeOfPrivate },
  [`${path}/connection`]: {
    after: async (_, request) => `${path}/runs/${String((await perform(request, 'sync{one}')).body['id'])}`,
  },
  [`${path}/delete`]: { notice: noticeOfDelete },
  [`${path}/versions/:version/deprecate`]: { notice: noticeOfStatus('deprecated') },
  [`${path}/versions/:version/yank`]: { notice: noticeOfStatus('yanked') },
  [`${path}/versions/:version/withdraw`]: { notice: noticeOfStatus('withdrawn') },
  [`${path}/versions/:version/restore`]: { notice: noticeOfStatus('active') },
};
