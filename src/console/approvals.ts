import { asTitle, shownState } from '../model/states.ts';
import { perform, here, type ConsoleRequest, type Listed, mayPublish } from './console-request.ts';
import { facts, stateCell, timeCell, type Cell, type Page, type Section, type Row, type ListCode } from './pages.ts';
import { decidersText, latestText, reachText } from '../model/approval.ts';
import { countText } from '../model/problem.ts';

type HeldRecord = Listed<'listApprovals'>;

const path = '/approvals/:approval';
const columns = ['Version', 'State', 'From', 'By', 'Since'];

export const approvalList: ListCode<'listApprovals'> = { rows: rowsOf };

function rowsOf(items: readonly HeldRecord[], request: ConsoleRequest): Row[] {
  return items.map((each) => ({
    cells: [
      { text: `${each.resource}@${each.version}`, isCode: true, href: at(request, each.id) },
      stateCell(each.state),
      sourceCell(each),
      { text: each.authors[0] ?? '' },
      timeCell(each.heldAt),
    ],
    actions: [{ text: 'Its versions', href: here(request, each.resource.replace(/^@[^/]*/, '')) }],
  }));
}

async function listWaiting(request: ConsoleRequest): Promise<HeldRecord[]> {
  if (!mayPublish(request)) return [];
  const query = { limit: '100' };
  const { body } = await perform(request, 'listApprovals', { query });
  return body.items.filter(({ state }) => state === 'waiting');
}

/** What waits for approval, for the overview. Nothing: no section. */
export async function waitingSection(request: ConsoleRequest): Promise<Section[]> {
  const items = await listWaiting(request);
  if (items.length === 0) return [];
  const title = asTitle(shownState('waiting').text);
  const lead = 'Readers still get the version before. Open one to see what it changes, and to decide.';
  return [{ title, lead, columns, rows: rowsOf(items, request) }];
}

/** Where the approval of each resource is for which one waits, by coordinate. */
export async function approvalLinks(request: ConsoleRequest): Promise<ReadonlyMap<string, string>> {
  return new Map((await listWaiting(request)).map(({ resource, id }) => [resource, at(request, id)]));
}

/** What is held, and who decided about it. */
export const approvalPage: Page = {
  path,
  async show(request) {
    const { body } = await perform(request, 'getApproval');
    const { resource, version, state, changes, more, decisions, mayDecide, whyNot, preview, comparedWith } = body;
    const { latest, approvers = [] } = body;
    return {
      eyebrow: resource,
      title: `Version ${version}`,
      lead:
        comparedWith === null
          ? 'No version is left that it could be compared with.'
          : `What it changes compared with ${comparedWith}. It is not published: readers get ${comparedWith}.`,
      tags: [stateCell(state)],
      actions: [
        ...(mayDecide ? [{ text: 'Decide', href: here(request, `${path}/decide`), isMain: true }] : []),
        ...(preview === null ? [] : [{ text: 'See its page', href: preview }]),
      ],
      ...(whyNot !== null && { notice: { text: whyNot, tone: 'calm' as const } }),
      sections: [
        {
          title: 'Changes',
          ...(more > 0 && { lead: `${more} more are not shown.` }),
          columns: ['Change', 'Reaches', 'Rule', 'Where'],
          rows: changes.map(({ rule, message, pointer, operations = [], reach = 0 }) => ({
            cells: [
              { text: message },
              reach === 0 ? { text: '' } : { text: countText(reach, 'operation'), more: reachText(operations, reach) },
              { text: rule, isCode: true },
              { text: pointer, isCode: true },
            ],
          })),
        },
        {
          title: 'Decisions',
          ...(state === 'waiting' && {
            lead: `${decidersText(approvers, body.authors)} ${latestText(version, latest)}`,
          }),
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

function at(request: ConsoleRequest, approval: string): string {
  return here(request, path, { approval });
}

function sourceCell({ source, commit }: HeldRecord): Cell {
  const text = source.startsWith('pull ') ? `pull request ${source.slice('pull '.length)}` : source;
  return { text: text === 'branch' ? 'its branch' : text, ...(commit !== null && { more: commit.slice(0, 12) }) };
}
