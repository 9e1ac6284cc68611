import { perform, here, type ConsoleRequest } from './console-request.ts';
import type { Form } from './forms.ts';
import { nextOf, performList } from './list-page.ts';
import { facts, timeCell, type Cell, type Page, type Tone } from './pages.ts';

/** Something that is held, as the management API describes it. */
interface HeldRecord {
  id: string;
  resource: string;
  state: 'waiting' | 'approved' | 'rejected';
  source: string;
  version: string;
  comparedWith: string | null;
  repository: string | null;
  commit: string | null;
  authors: string[];
  changes: { rule: string; message: string; pointer: string }[];
  more: number;
  decisions: { verdict: string; name: string; reason: string; at: string }[];
  mayDecide: boolean;
  whyNot: string | null;
  preview: string | null;
  heldAt: string;
  expiresAt: string;
}

const tones: Readonly<Record<HeldRecord['state'], Tone>> = { waiting: 'warn', approved: 'good', rejected: 'bad' };
const path = '/approvals/:approval';

/** What waits for approval. */
const list: Page = {
  path: '/approvals',
  async show(request) {
    const { body } = await performList<HeldRecord>(request, 'listApprovals', {});
    return {
      eyebrow: `@${request.org}`,
      title: 'Approvals',
      lead: 'New versions that are not published until somebody else has approved what they break. Open one to see its changes and to decide.',
      sections: [
        {
          title: 'Held',
          columns: ['Version', 'From', 'By', 'State', 'Since'],
          rows: body.items.map((each) => ({
            cells: [
              { text: `${each.resource}@${each.version}`, isCode: true, href: at(request, each.id) },
              sourceCell(each),
              { text: each.authors[0] ?? '' },
              { text: each.state, tag: tones[each.state] },
              timeCell(each.heldAt),
            ],
          })),
          empty:
            'Nothing waits. A resource asks for approval by its setting “Approval”, under “What new versions must pass”.',
          next: nextOf(body, {}),
        },
      ],
    };
  },
};

const one: Page = {
  path,
  async show(request) {
    const { body } = await perform<HeldRecord>(request, 'getApproval');
    const { resource, version, state, changes, more, decisions, mayDecide, whyNot, preview, comparedWith } = body;
    const left = more === 0 ? '' : ` ${more} more are not shown.`;
    return {
      eyebrow: resource,
      title: `${version} ${state === 'waiting' ? 'waits for approval' : `is ${state}`}`,
      lead:
        comparedWith === null
          ? 'No version is left that it could be compared with.'
          : `What it changes compared with ${comparedWith}. It is not published: readers get ${comparedWith}.`,
      tags: [{ text: state, tag: tones[state] }],
      actions: [
        ...(mayDecide ? [{ text: 'Decide', href: here(request, `${path}/decide`), isMain: true }] : []),
        ...(preview === null ? [] : [{ text: 'See its page', href: preview }]),
      ],
      ...(whyNot !== null && { notice: { text: whyNot, tone: 'calm' as const } }),
      sections: [
        {
          title: 'Changes',
          ...(left !== '' && { lead: left.trim() }),
          columns: ['Change', 'Rule', 'Where'],
          rows: changes.map(({ rule, message, pointer }) => ({
            cells: [{ text: message }, { text: rule, isCode: true }, { text: pointer, isCode: true }],
          })),
        },
        {
          title: 'Decisions',
          columns: ['Decision', 'By', 'Why', 'When'],
          rows: decisions.map(({ verdict, name, reason, at: when }) => ({
            cells: [{ text: verdict }, { text: name }, { text: reason }, timeCell(when)],
          })),
          empty: 'Nobody has decided yet.',
        },
        {
          title: 'Origin',
          facts: facts([
            ['From', sourceCell(body)],
            ['Written by', body.authors.join(', ')],
            ['Repository', body.repository],
            ['Commit', body.commit === null ? null : { text: body.commit.slice(0, 12), isCode: true }],
            ['Held since', timeCell(body.heldAt)],
            ['Held until', timeCell(body.expiresAt)],
          ]),
        },
      ],
    };
  },
};

export const approvalPages: readonly Page[] = [list, one];

export const approvalForms: readonly Form[] = [
  {
    path: `${path}/decide`,
    operation: 'decideApproval',
    title: 'Approve or reject',
    about: async (request) => {
      const { resource, version } = (await perform<HeldRecord>(request, 'getApproval')).body;
      return `${resource}@${version}`;
    },
    lead: [
      'Approved: the version is published at the next look at its repository, which begins now. A pull request passes, and an upload is to be sent again.',
      'The decision holds for 30 days, for later commits with the same changes, too, until one is published. You can decide again; the last decision counts.',
    ],
    submit: 'Decide',
    fields: ['/verdict', '/reason'],
    // What was approved is no longer held as soon as it is published.
    after: '/approvals',
    cancel: path,
    done: 'Your decision is saved. What was approved is published in a moment.',
  },
];

function at(request: ConsoleRequest, approval: string): string {
  return here({ ...request, params: { approval } }, path);
}

function sourceCell({ source, commit }: HeldRecord): Cell {
  const text = source.startsWith('pull ') ? `pull request ${source.slice('pull '.length)}` : source;
  return { text: text === 'branch' ? 'its branch' : text, ...(commit !== null && { more: commit.slice(0, 12) }) };
}
