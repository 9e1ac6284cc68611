import { ownDescription } from '../server/v1/api-description.ts';
import type { Field } from './fields.ts';
import type { Form } from './forms.ts';
import { resourcesField } from './key-forms.ts';
import { ask, type Visit } from './visit.ts';

const path = '/webhooks/:webhook';

/** The types of events that the description names. */
function eventTypes(): string[] {
  const { schemas } = ownDescription().document['components'] as {
    schemas: Record<string, { enum?: string[] }>;
  };
  return schemas['EventType']?.enum ?? [];
}

function fields(): Field[] {
  return [
    {
      name: '/url',
      label: 'URL',
      kind: 'line',
      isRequired: true,
      maxLength: 2048,
      placeholder: 'https://ci.acme.example/stele',
    },
    { name: '/description', label: 'Description', kind: 'line', maxLength: 200 },
    {
      name: '/events',
      label: 'Events',
      kind: 'checks',
      isNullable: true,
      hint: 'None chosen: all of them.',
      options: eventTypes().map((value) => ({ value, text: value })),
    },
  ];
}

const about = async (visit: Visit): Promise<string> => (await ask<{ url: string }>(visit, 'getWebhook')).body.url;

/** Forms about webhook endpoints. */
export const webhookForms: readonly Form[] = [
  {
    path: '/webhooks/new',
    operation: 'createWebhook',
    title: 'Add a webhook endpoint',
    lead: ['Stele sends it a signed POST for each event (Standard Webhooks).'],
    submit: 'Add the endpoint',
    fields: async () => [...fields(), resourcesField],
    after: '/webhooks',
    done: '',
    show: secretPage('Endpoint added'),
  },
  {
    path: `${path}/edit`,
    operation: 'updateWebhook',
    current: 'getWebhook',
    title: 'Change the endpoint',
    about,
    lead: [],
    submit: 'Save',
    fields: async () => [
      ...fields(),
      resourcesField,
      {
        name: '/state',
        label: 'State',
        kind: 'select',
        options: [
          { value: 'enabled', text: 'enabled' },
          { value: 'disabled', text: 'disabled' },
        ],
      },
    ],
    after: path,
    done: 'The endpoint is saved.',
  },
  {
    path: `${path}/rotate`,
    operation: 'rotateWebhookSecret',
    title: 'Make a new signing secret',
    about,
    lead: ['For 24 hours, deliveries are signed with both secrets, so that the receiver has time to switch.'],
    submit: 'Make a new secret',
    after: path,
    done: '',
    show: secretPage('New signing secret'),
  },
  {
    path: `${path}/test`,
    operation: 'testWebhook',
    title: 'Send a test event',
    about,
    lead: ['It is signed like any other event. You will see what the endpoint answers.'],
    submit: 'Send it',
    after: path,
    done: '',
    show: ({ body }) => ({
      title: body['delivered'] === true ? 'The endpoint accepted the test event' : 'The test event was not accepted',
      lead: String(body['error'] ?? `It answered ${String(body['status'])}.`),
      actions: [{ text: 'Back to the endpoint', href: path }],
    }),
  },
  {
    path: `${path}/deliveries/:event/redeliver`,
    operation: 'redeliverEvent',
    title: 'Deliver this event again',
    about,
    lead: ['The receiver gets the same event once more, with the same id.'],
    submit: 'Deliver again',
    after: path,
    done: 'The event is queued for delivery.',
  },
  {
    path: `${path}/delete`,
    operation: 'deleteWebhook',
    title: 'Delete the endpoint',
    about,
    lead: ['It receives no more events. Its secret and its waiting deliveries are gone.'],
    submit: 'Delete it',
    isDanger: true,
    after: '/webhooks',
    cancel: path,
    done: 'The endpoint is deleted.',
  },
];

function secretPage(title: string): NonNullable<Form['show']> {
  return ({ body }) => ({
    title,
    secret: {
      label: 'The signing secret',
      text: String(body['secret']),
      advice: 'Copy it now: it is not shown again. The receiver checks signatures with it.',
    },
    actions: [{ text: 'All endpoints', href: '/webhooks' }],
  });
}
