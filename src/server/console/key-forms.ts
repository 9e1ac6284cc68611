import type { Field } from './fields.ts';
import type { Form } from './forms.ts';
import type { Visit } from './visit.ts';
import { isAllowed, scopes } from '../../model/access.ts';

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

/** Forms about keys. */
export const keyForms: readonly Form[] = [
  {
    path: '/keys/new',
    operation: 'createKey',
    title: 'Create a key',
    lead: ['For programs: CI jobs, scripts, tools. The key is shown once.'],
    submit: 'Create the key',
    fields: async () => [
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
    ],
    after: '/keys',
    done: '',
    show: ({ body }) => ({
      title: `Key ${String(body['name'])}`,
      secret: {
        label: 'The key',
        text: String(body['secret']),
        advice: 'Copy it now: it is not shown again. Send it as Authorization: Bearer, or set it as STELE_KEY.',
      },
      actions: [{ text: 'All keys', href: '/keys' }],
    }),
  },
  {
    path: '/keys/:key/revoke',
    operation: 'revokeKey',
    title: 'Revoke this key',
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
