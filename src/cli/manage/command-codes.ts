import { decidersText, latestText, reachText } from '../../model/approval.ts';
import { malformed } from '../../model/errors.ts';
import { own } from '../../model/json.ts';
import { isUsable } from '../../model/key.ts';
import { countText } from '../../model/problem.ts';
import { timeOf } from '../../model/time.ts';
import { asTitle, shownState } from '../../model/states.ts';
import type { Typed } from '../../server/v1/described-field.ts';
import type { answers, components } from '../../server/v1/management.d.ts';
import { complain, print } from '../output.ts';
import type { Client } from '../registry-client.ts';

/** A JSON object by its members. */
export type Answer = Readonly<Record<string, unknown>>;

/** What was given on the command line, by the names of options and arguments. */
export type Given = Readonly<Record<string, unknown>>;

/** What a command does beside what it says (`x-command`). */
export interface CommandCode<A = Answer, Item = Answer> {
  /** What becomes of what was given, where that is not its text. */
  typed?(given: Given): Typed;
  /** What `--json` prints. Default: what was answered. */
  answer?(answer: A, given: Given): Answer;
  /** The line for an item of a list. */
  line?(item: Item): string;
  say?(answer: A, given: Given, client: Client): void | Promise<void>;
}

type ItemOf<A> = A extends { items: (infer Item)[] } ? Item : never;
type Codes = { readonly [Id in keyof answers]?: CommandCode<answers[Id], ItemOf<answers[Id]>> };

/** The code of commands, by the operations that they ask. */
export const commandCodes: Codes = {
  createKey: {
    typed: ({ expires }) => (expires === undefined ? {} : { '/expiresAt': [parseExpiry(String(expires))] }),
  },
  listKeys: {
    line(key) {
      const state = key.revokedAt !== null ? 'revoked' : isUsable(key, () => new Date()) ? 'active' : 'expired';
      return [key.id, state, key.scopes, key.resources ?? '*', key.createdAt, key.name].join('\t');
    },
  },
  listApprovals: {
    line: ({ id, state, resource, version, source, authors }) =>
      [id, state, `${resource}@${version}`, source, authors.join(', ')].join('\t'),
  },
  getApproval: { say: (approval) => print(approvalLines(approval).join('\n')) },
  decideApproval: {
    say({ resource, version, source, state }) {
      const again = { upload: 'Send it again.', import: 'Run the import again.' };
      const next = own(again, source) ?? 'The registry looks at it again now.';
      complain(`${asTitle(state)} ${resource}@${version}.${state === 'approved' ? ` ${next}` : ''}`);
    },
  },
  testWebhook: {
    answer(answer) {
      if (!answer.delivered) process.exitCode = 1;
      return answer;
    },
    say({ delivered, status, error }) {
      print(delivered ? `delivered: status ${status}` : `not delivered: ${error}`);
    },
  },
  updateApi: {
    say(changed) {
      print(`${changed.coordinate} is ${changed.visibility}`);
      sayLatest(changed);
    },
  },
  updateApiVersion: {
    async say({ coordinate, status, dependants: users = [] }, { dryRun }, { demand }) {
      print(`${coordinate} ${dryRun ? 'would be' : 'is'} ${status.state}`);
      if (dryRun)
        complain(`${countText(users.length, 'user')} in this registry ${users.length === 1 ? 'uses' : 'use'} it.`);
      for (const each of users)
        print('consumer' in each ? `  ${each.consumer.name} (consumer)` : `  ${each.coordinate}@${each.version}`);
      if (!dryRun) sayLatest(await demand('GET', `/v1/${coordinate.split(/[/@]/).slice(2, 4).join('/')}`));
    },
  },
  deploySite: {
    answer: ({ deployment }, { deployment: again }) => ({ deployment: deployment!.id, again }),
    say({ deployment, again }: Answer, { site }) {
      print(String(deployment));
      complain(`${String(site)} shows what deployment ${String(again)} was, as deployment ${String(deployment)}.`);
    },
  },
};

function sayLatest({ latest }: Answer): void {
  complain(typeof latest === 'string' ? `The latest version is ${latest}.` : 'There is no latest version.');
}

function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text);
  const time = days ? Date.now() + Number(days[1]) * 86_400_000 : timeOf(text);
  if (Number.isNaN(time)) throw malformed(`${JSON.stringify(text)} is not a time. Use 2027-01-31T00:00:00Z or 90d.`);
  if (time <= Date.now()) throw malformed(`${text} is in the past. Use a later time.`);
  return new Date(time).toISOString();
}

function approvalLines({
  changes,
  more,
  decisions,
  approvers = [],
  ...held
}: components['schemas']['Approval']): string[] {
  const { resource, version, comparedWith, state, authors, latest, whyNot } = held;
  return [
    `${resource}@${version} (${shownState(state).text}), compared with ${comparedWith ?? 'nothing'}`,
    ...changes.map(({ rule, message, operations = [], reach = 0 }) =>
      [`  ${rule}: ${message}`, ...(reach === 0 ? [] : [`Reaches ${reachText(operations, reach)}.`])].join(' '),
    ),
    ...(more === 0 ? [] : [`  ${more} more`]),
    ...decisions.map(({ verdict, name, reason }) => `${name} ${verdict} it: ${reason}`),
    `Written by ${authors.join(', ')}.`,
    ...(state === 'waiting' ? [`${decidersText(approvers, authors)} ${latestText(version, latest)}`] : []),
    ...(whyNot === null ? [] : [whyNot]),
  ];
}
