import { chooseLatest, findVersion, nameOf, type Resource, type Status } from '../model/resource.ts';
import { operationId, type OperationWords } from '../model/kinds.ts';
import { whyLatest } from '../model/latest.ts';
import { withStatus } from '../registry/change-version.ts';
import { listUsers, userName } from '../registry/graph/dependants.ts';
import type { View, Form } from './pages.ts';
import { resourceOf, type ConsoleRequest, perform } from './console-request.ts';
import { isLinkUrl, type Link } from '../model/ownership.ts';
import type { ReadText } from './fields.ts';

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

/** Links as people write them: one a line, its address and its title. */
function readLinks(text: string): ReadText {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const value = lines.map((line): Link => {
    const [, url = '', title = ''] = /^([^ ]+) *(.*)$/.exec(line) ?? [];
    return { title: title || url, url };
  });
  const wrong = value.find(({ url }) => !isLinkUrl(url));
  return wrong ? { fault: `has an address that is not one of http, https or mailto: ${wrong.url}` } : { value };
}

function writeLinks(links: unknown): string {
  return (links as Link[]).map(({ url, title }) => `${url} ${title}`).join('\n');
}

type LifeForm = 'visibility' | 'connection' | 'disconnect' | 'sync' | 'delete' | 'undelete';

/** What the forms about a resource and about a site have in common, by the last segment of their paths. */
const lifeForms: Record<LifeForm, Omit<Form, 'path' | 'lead' | 'after'>> = {
  visibility: {
    operation: 'update{one}',
    scope: 'admin',
    title: 'Who can read {subject}',
    submit: 'Change the visibility',
    fields: ['/visibility'],
    done: 'The visibility is changed.',
  },
  connection: { operation: 'connect{one}', title: 'Connect {subject}', submit: 'Connect', done: '' },
  disconnect: {
    operation: 'disconnect{one}',
    title: 'Disconnect {subject}',
    submit: 'Disconnect',
    done: 'Disconnected.',
  },
  sync: { operation: 'sync{one}', title: 'Sync {subject} now', submit: 'Sync now', done: '' },
  delete: {
    operation: 'delete{one}',
    title: 'Delete {subject}',
    submit: 'Delete it',
    done: 'Deleted. You can bring it back here for 30 days.',
  },
  undelete: {
    operation: 'undelete{one}',
    title: 'Bring back {subject}',
    submit: 'Bring it back',
    cancel: '/deleted',
    done: 'It is back.',
  },
};

/** The forms about the life of a resource or of a site at this path. `words`: of a site's operations. */
export function formsOfLife(
  at: string,
  words: OperationWords | null,
  own: Record<LifeForm, Pick<Form, 'lead'> & Partial<Form>>,
): Form[] {
  return (Object.keys(lifeForms) as LifeForm[]).map((name) => {
    const form = { path: `${at}/${name}`, after: at, cancel: at, ...lifeForms[name], ...own[name] };
    return words === null ? form : { ...form, operation: operationId(form.operation, words) };
  });
}

/** Forms about one resource. */
export const resourceForms: readonly Form[] = [
  {
    path: `${path}/details`,
    operation: 'update{one}',
    title: 'Name and description',
    lead: 'They stand on its page, in lists and in search from now on. Its address stays the same.',
    fields: ['/name', '/description'],
    after: path,
    done: 'Name and description are saved.',
  },
  {
    path: `${path}/ownership`,
    operation: 'update{one}',
    title: 'Owner and links',
    lead: 'Its page, lists and catalogues show them. An owner that is a team of the configuration is shown with its contacts.',
    fields: ['/owner', '/lifecycle', '/system', '/topics', '/links'],
    complete: async () => ({ '/links': { kind: 'text', read: readLinks, write: writeLinks } }),
    after: path,
    done: 'Owner and links are saved.',
  },
  {
    path: `${path}/checks`,
    operation: 'update{one}',
    scope: 'admin',
    title: 'What new versions must pass',
    lead: 'This applies to what is published from now on. Published versions stay.',
    fields: ['/ruleset', '/blockOn', '/ratchet', '/compatibility', '/impact', '/approval', '/validation'],
    after: path,
    done: 'The checks are saved.',
  },
  {
    path: `${path}/latest`,
    operation: 'update{one}',
    title: 'The latest version',
    lead: 'The rules choose the highest release that is not yanked or withdrawn. A version that you choose here stays the latest until you change it.',
    notice: noticeOfPin,
    fields: ['/latest'],
    after: path,
    done: 'The latest version is set.',
  },
  ...formsOfLife(path, null, {
    visibility: {
      lead: [
        'Public: everybody, without an account. It is in lists, in search, in feeds, and caches may keep it.',
        'Private: only members of the organization. A cache may still have what was public until its time is over.',
      ],
      notice: noticeOfPrivate,
    },
    connection: {
      title: 'Connect {subject} to a file',
      lead: 'Each push that changes the file becomes a version.',
      fields: ['/repository', '/path', '/branch', '/tags', '/credential'],
      after: async (_, request) => `${path}/runs/${String((await perform(request, 'sync{one}')).body['id'])}`,
      done: 'Connected. This is the first look at the file.',
    },
    disconnect: { lead: 'Pushes no longer become versions. Published versions stay, and you can connect it again.' },
    sync: { lead: 'Reads the repository and publishes what changed.', after: `${path}/runs/{id}` },
    delete: {
      lead: [
        'All versions of {subject} stop answering, for everybody who uses them. Its connection ends.',
        'You can bring it back for 30 days. After that, its name stays taken for ever.',
      ],
      fields: ['?force'],
      notice: noticeOfDelete,
      after: '/deleted',
    },
    undelete: { lead: 'All its versions are served again. Its connection to a repository does not come back.' },
  }),
];

const versionPath = `${path}/versions/:version`;

function statusForm(
  verb: string,
  state: Status['state'],
  form: Pick<Form, 'title' | 'lead' | 'submit' | 'done'> & Partial<Form>,
): Form {
  return {
    path: `${versionPath}/${verb}`,
    operation: 'update{one}Version',
    startsEmpty: true,
    fixed: { status: { state } },
    notice: noticeOfStatus(state),
    after: path,
    ...form,
  };
}

/** Forms about one version. */
export const versionForms: readonly Form[] = [
  statusForm('deprecate', 'deprecated', {
    title: 'Deprecate {subject}',
    lead: 'Everybody still gets it, with a warning on its page and in headers. It can stay the latest. You can undo this.',
    submit: 'Deprecate',
    fields: ['/status/reason', '/status/replacement', '/status/sunset'],
    done: 'The version is deprecated.',
  }),
  statusForm('yank', 'yanked', {
    title: 'Yank {subject}',
    lead: [
      'For a version that nobody should start to use. Who names exactly this version still gets it, so nothing that uses it breaks.',
      'Who names a range or no version gets another one. You can undo this. To take it from everybody, withdraw it.',
    ],
    submit: 'Yank',
    isDanger: true,
    fields: ['/status/reason'],
    done: 'The version is yanked.',
  }),
  statusForm('withdraw', 'withdrawn', {
    scope: 'admin',
    title: 'Withdraw {subject}',
    lead: [
      'For a version that must not be read any more, such as one with a secret in it. Whoever uses it breaks: its URL answers 410 with your reason, and its bytes are deleted.',
      'This cannot be undone, and the label is never used again. To keep others from choosing it, yank it.',
    ],
    submit: 'Withdraw it for ever',
    isDanger: true,
    fields: ['/status/reason'],
    done: 'The version is withdrawn.',
  }),
  statusForm('restore', 'active', {
    title: 'Make {subject} active',
    lead: 'It is no longer deprecated or yanked, and may become the latest version again.',
    submit: 'Make it active',
    done: 'The version is active.',
  }),
];
