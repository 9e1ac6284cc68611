import { performList, nextOf, perform, here, type Listed } from './console-request.ts';
import {
  facts,
  momentCell,
  timeCell,
  type Cell,
  type Page,
  type Form,
  type FormCodes,
  type ListCode,
} from './pages.ts';

export const webhookList: ListCode<'listWebhooks'> = {
  rows: (items, request) =>
    items.map((webhook) => ({
      cells: [
        {
          text: webhook.url,
          href: here(request, '/webhooks/:webhook', { webhook: webhook.id }),
          more: webhook.description,
        },
        { text: webhook.events?.join(', ') ?? 'all' },
        webhookState(webhook),
      ],
    })),
};

function webhookState({ state, reason, failingSince }: Listed<'listWebhooks'>): Cell {
  if (state !== 'enabled') return { text: state, tag: 'bad', ...(reason !== null && { more: reason }) };
  if (failingSince === null) return { text: 'enabled', tag: 'good' };
  return { text: 'failing', tag: 'warn', more: `since ${timeCell(failingSince).text}` };
}

/** The page of a webhook endpoint. */
export const webhookPage: Page = {
  path: '/webhooks/:webhook',
  async show(request) {
    const { body } = await perform(request, 'getWebhook');
    const deliveries = await performList(request, 'listDeliveries');
    const to = (verb: string) => here(request, `/webhooks/:webhook/${verb}`);
    const now = webhookState(body);
    return {
      eyebrow: 'Webhook endpoint',
      title: body.url,
      lead: body.description,
      tags: [now],
      actions: [{ text: 'Send a test event', href: to('test') }],
      sections: [
        {
          title: 'Deliveries',
          lead: 'What was sent, and what came back. What failed is tried again for days; you can also deliver it again yourself.',
          columns: ['Event', 'When', 'State', 'Last answer'],
          rows: deliveries.body.items.map(({ id, type, subject, time, state, attempts, nextAt }) => ({
            cells: [
              { text: type, more: subject },
              momentCell(time),
              {
                text: state,
                tag: state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : '',
                ...(nextAt !== null && attempts.length > 0 && { more: `next attempt ${timeCell(nextAt).text}` }),
              },
              lastAnswer(attempts),
            ],
            actions:
              body.state === 'disabled'
                ? []
                : [{ text: 'Deliver again', href: to(`deliveries/${id}/redeliver`), post: true }],
          })),
          empty: 'Nothing has been sent yet.',
          next: nextOf(deliveries.body),
        },
        {
          title: 'Settings',
          facts: facts([
            ['State', now],
            ['It takes', body.format],
            ['Events', body.events?.join(', ') ?? 'all'],
            ['Resources', body.resources?.join(', ') ?? 'all'],
          ]),
          actions: [
            { text: 'Change', href: to('edit') },
            ...(body.format === 'cloudevents' ? [{ text: 'New secret', href: to('rotate') }] : []),
            { text: 'Delete', href: to('delete'), isDanger: true },
          ],
        },
      ],
    };
  },
};

function lastAnswer(attempts: readonly { at: string; status: number | null; error: string | null }[]): Cell {
  const last = attempts.at(-1);
  if (last === undefined) return { text: 'none yet' };
  const text = last.error ?? String(last.status);
  return attempts.length === 1 ? { text } : { text, more: `attempt ${attempts.length}, ${timeCell(last.at).text}` };
}

/** The code of forms about webhook endpoints. */
export const webhookCodes: FormCodes = {
  '/webhooks/new': { show: secretPage('Endpoint added') },
  '/webhooks/:webhook/rotate': { show: secretPage('New signing secret') },
  '/webhooks/:webhook/test': {
    show: ({ body }) => ({
      title: body['delivered'] === true ? 'The endpoint accepted the test event' : 'The test event was not accepted',
      lead: String(body['error'] ?? `It answered ${String(body['status'])}.`),
      actions: [{ text: 'Back to the endpoint', href: '/webhooks/:webhook' }],
    }),
  },
};

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
