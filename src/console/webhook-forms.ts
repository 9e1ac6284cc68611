import type { Form } from './forms.ts';
import { perform, type ConsoleRequest } from './console-request.ts';

const path = '/webhooks/:webhook';

const fields = ['/url', '/format', '/description', '/events', '/resources'];

const about = async (request: ConsoleRequest): Promise<string> =>
  (await perform<{ url: string }>(request, 'getWebhook')).body.url;

/** Forms about webhook endpoints. */
export const webhookForms: readonly Form[] = [
  {
    path: '/webhooks/new',
    operation: 'createWebhook',
    title: 'Add a webhook endpoint',
    lead: ['Stele sends it a signed POST for each event (Standard Webhooks).'],
    submit: 'Add the endpoint',
    fields,
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
    lead: ['Events from now on follow what you choose here. What is waiting to be sent goes to the new address.'],
    submit: 'Save',
    fields: [...fields, '/state'],
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
    ...(body['format'] !== 'cloudevents' && { lead: 'Chat programs check no signature, so there is no secret.' }),
    ...(body['format'] === 'cloudevents' && {
      secret: {
        label: 'The signing secret',
        text: String(body['secret']),
        advice: 'Copy it now: it is not shown again. The receiver checks signatures with it.',
      },
    }),
    actions: [
      { text: 'Send a test event', href: `/webhooks/${String(body['id'])}/test`, isMain: true },
      { text: 'All endpoints', href: '/webhooks' },
    ],
  });
}
