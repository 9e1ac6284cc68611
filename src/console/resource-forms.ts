import { isLinkUrl, type Link } from '../model/ownership.ts';
import type { ReadText } from './fields.ts';
import type { Form } from './forms.ts';
import { noticeOfDelete, noticeOfPin, noticeOfPrivate } from './latest-notice.ts';
import { perform, subjectOf } from './console-request.ts';

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

/** Forms about one resource. */
export const resourceForms: readonly Form[] = [
  {
    path: `${path}/details`,
    operation: 'update{one}',
    current: 'get{one}',
    title: 'Name and description',
    lead: ['They stand on its page, in lists and in search from now on. Its address stays the same.'],
    submit: 'Save',
    fields: ['/name', '/description'],
    after: path,
    done: 'Name and description are saved.',
  },
  {
    path: `${path}/ownership`,
    operation: 'update{one}',
    current: 'get{one}',
    title: 'Owner and links',
    lead: [
      'Its page, lists and catalogues show them. An owner that is a team of the configuration is shown with its contacts.',
    ],
    submit: 'Save',
    fields: ['/owner', '/lifecycle', '/system', '/topics', '/links'],
    complete: async () => ({ '/links': { kind: 'text', read: readLinks, write: writeLinks } }),
    after: path,
    done: 'Owner and links are saved.',
  },
  {
    path: `${path}/visibility`,
    operation: 'update{one}',
    scope: 'admin',
    current: 'get{one}',
    title: (request) => `Who can read ${subjectOf(request)}`,
    lead: [
      'Public: everybody, without an account. It is in lists, in search, in feeds, and caches may keep it.',
      'Private: only members of the organization. A cache may still have what was public until its time is over.',
    ],
    submit: 'Change the visibility',
    notice: noticeOfPrivate,
    fields: ['/visibility'],
    after: path,
    done: 'The visibility is changed.',
  },
  {
    path: `${path}/checks`,
    operation: 'update{one}',
    scope: 'admin',
    current: 'get{one}',
    title: 'What new versions must pass',
    lead: ['This applies to what is published from now on. Published versions stay.'],
    submit: 'Save',
    fields: ['/ruleset', '/blockOn', '/ratchet', '/compatibility', '/impact', '/approval', '/validation'],
    after: path,
    done: 'The checks are saved.',
  },
  {
    path: `${path}/latest`,
    operation: 'update{one}',
    current: 'get{one}',
    title: 'The latest version',
    lead: [
      'The rules choose the highest release that is not yanked or withdrawn. A version that you choose here stays the latest until you change it.',
    ],
    submit: 'Save',
    notice: noticeOfPin,
    fields: ['/latest'],
    after: path,
    done: 'The latest version is set.',
  },
  {
    path: `${path}/connection`,
    operation: 'connect{one}',
    current: 'get{one}Connection',
    isNew: true,
    title: (request) => `Connect ${subjectOf(request)} to a file`,
    lead: ['Each push that changes the file becomes a version.'],
    submit: 'Connect',
    fields: ['/repository', '/path', '/branch', '/tags', '/credential'],
    after: async (_, request) => `${path}/runs/${String((await perform(request, 'sync{one}')).body['id'])}`,
    cancel: path,
    done: 'Connected. This is the first look at the file.',
  },
  {
    path: `${path}/disconnect`,
    operation: 'disconnect{one}',
    title: (request) => `Disconnect ${subjectOf(request)}`,
    lead: ['Pushes no longer become versions. Published versions stay, and you can connect it again.'],
    submit: 'Disconnect',
    isDanger: true,
    after: path,
    done: 'Disconnected.',
  },
  {
    path: `${path}/sync`,
    operation: 'sync{one}',
    title: (request) => `Sync ${subjectOf(request)} now`,
    lead: ['Reads the repository and publishes what changed.'],
    submit: 'Sync now',
    after: ({ body }) => `${path}/runs/${String(body['id'])}`,
    cancel: path,
    done: '',
  },
  {
    path: `${path}/delete`,
    operation: 'delete{one}',
    title: (request) => `Delete ${subjectOf(request)}`,
    lead: (request) => [
      `All versions of ${subjectOf(request)} stop answering, for everybody who uses them. Its connection ends.`,
      'You can bring it back for 30 days. After that, its name stays taken for ever.',
    ],
    submit: 'Delete it',
    isDanger: true,
    fields: ['?force'],
    notice: noticeOfDelete,
    after: '/deleted',
    done: 'Deleted. You can bring it back here for 30 days.',
    cancel: path,
  },
  {
    path: `${path}/undelete`,
    operation: 'undelete{one}',
    title: (request) => `Bring back ${subjectOf(request)}`,
    lead: ['All its versions are served again. Its connection to a repository does not come back.'],
    submit: 'Bring it back',
    after: path,
    cancel: '/deleted',
    done: 'It is back.',
  },
];
