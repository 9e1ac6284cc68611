import type { Form } from '../forms.ts';
import { perform, type ConsoleRequest } from '../console-request.ts';
import { isAllowed } from '../../model/access.ts';

const fields = ['/name', '/scopes', '/resources', '/expiresAt'];
const newFields = ['/name', '/owner', '/scopes', '/resources', '/expiresAt'];

/** Shows a key that was just made. */
export const showKey: NonNullable<Form['show']> = ({ body }) => ({
  title: `Key ${String(body['name'])}`,
  secret: {
    label: 'The key',
    text: String(body['secret']),
    advice:
      body['use'] === 'feeds'
        ? 'Copy it now: it is not shown again. Append it to the URL of a feed: /feed.atom?token=…'
        : 'Copy it now: it is not shown again. Send it as Authorization: Bearer, or set it as STELE_KEY.',
  },
  actions: [{ text: 'All keys', href: '/keys' }],
});

const about = async (request: ConsoleRequest): Promise<string> => {
  const { id, name } = (await perform<{ id: string; name: string }>(request, 'getKey')).body;
  return `${name} (${id})`;
};

/** Forms about keys. */
export const keyForms: readonly Form[] = [
  {
    path: '/keys/new',
    operation: 'createKey',
    title: 'Create a key',
    lead: ['For programs: CI jobs, scripts, tools. The key is shown once.'],
    submit: 'Create the key',
    fields: newFields,
    after: '/keys',
    done: '',
    show: showKey,
  },
  {
    path: '/keys/:key/edit',
    operation: 'updateKey',
    current: 'getKey',
    title: 'Rename or narrow the key',
    about,
    lead: ['You can only reduce what a key may do. To allow more, create another key.'],
    submit: 'Save',
    fields: [...fields, '?last'],
    after: '/keys',
    done: 'The key is saved.',
  },
  {
    path: '/keys/:key/rotate',
    operation: 'rotateKey',
    title: 'Replace the key',
    about,
    lead: [
      'Makes a key with the same rights. The old one stays valid for a while, so that programs have time to switch.',
    ],
    submit: 'Make the new key',
    fields: ['/overlap'],
    after: '/keys',
    done: '',
    show: showKey,
  },
  {
    path: '/keys/:key/revoke',
    operation: 'revokeKey',
    title: 'Revoke the key',
    about,
    lead: ['Whatever uses it stops working within a second. This cannot be undone.'],
    fields: ['?last'],
    submit: 'Revoke it',
    isDanger: true,
    after: '/keys',
    done: 'The key is revoked.',
  },
];

/** Whether the person may administer the whole organization. */
export function isAdmin(request: Pick<ConsoleRequest, 'session' | 'org'>): boolean {
  return isAllowed(request.session.principal, 'admin', { org: request.org });
}
