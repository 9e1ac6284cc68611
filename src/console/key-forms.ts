import type { Field } from './fields.ts';
import type { Form } from './forms.ts';
import { ask, type Visit } from './visit.ts';
import { isAllowed, scopes } from '../model/access.ts';

const meanings = {
  read: 'read what is private',
  publish: 'publish versions, and what read allows',
  admin: 'everything: settings, keys, connections',
} as const;

export const resourcesField: Field = {
  name: '/resources',
  label: 'Only these resources',
  kind: 'lines',
  isNullable: true,
  hint: 'One pattern per line, such as apis/pay-*. Empty: the whole organization.',
  placeholder: 'apis/pay-*',
};

const fields: readonly Field[] = [
  { name: '/name', label: 'Name', kind: 'line', isRequired: true, maxLength: 200, hint: 'Who uses it, and where.' },
  {
    name: '/scopes',
    label: 'It may',
    kind: 'checks',
    options: scopes.map((value) => ({ value, text: value, hint: meanings[value] })),
    initial: ['publish'],
  },
  resourcesField,
  { name: '/expiresAt', label: 'Expires on', kind: 'date', isNullable: true, hint: 'Empty: never.' },
];

const showKey: Form['show'] = ({ body }) => ({
  title: `Key ${String(body['name'])}`,
  secret: {
    label: 'The key',
    text: String(body['secret']),
    advice: 'Copy it now: it is not shown again. Send it as Authorization: Bearer, or set it as STELE_KEY.',
  },
  actions: [{ text: 'All keys', href: '/keys' }],
});

const about = async (visit: Visit): Promise<string> => {
  const { id, name } = (await ask<{ id: string; name: string }>(visit, 'getKey')).body;
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
    fields,
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
    fields,
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
    fields: [
      {
        name: '/overlap',
        label: 'The old key stays valid for',
        kind: 'select',
        options: [
          { value: '0', text: 'no time: it stops working at once' },
          { value: '3600', text: 'an hour' },
          { value: '86400', text: 'a day' },
          { value: '604800', text: 'a week' },
        ],
        values: { 0: 0, 3600: 3600, 86400: 86_400, 604800: 604_800 },
        initial: '86400',
      },
    ],
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
    submit: 'Revoke it',
    isDanger: true,
    after: '/keys',
    done: 'The key is revoked.',
  },
];

/** Whether the visitor may administer the whole organization. */
export function isAdmin(visit: Pick<Visit, 'session' | 'org'>): boolean {
  return isAllowed(visit.session.principal, 'admin', { org: visit.org });
}
