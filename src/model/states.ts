import type { DocumentState } from './connection.ts';
import { own } from './json.ts';

/** How a state looks. `wait`: somebody has to do something, and nothing is wrong. */
export type Tone = '' | 'good' | 'wait' | 'warn' | 'bad';

/** What becomes of a document. */
export type Outcome = DocumentState['outcome'];

const words: Readonly<Record<string, string>> = { waiting: 'waits for approval', behind: 'a push waits to be read' };
const toned: Readonly<Partial<Record<Tone, readonly string[]>>> = {
  good: ['published', 'unchanged', 'approved', 'synced', 'succeeded', 'active'],
  wait: ['waiting'],
  warn: ['deprecated', 'yanked'],
  bad: ['rejected', 'conflict', 'diverged', 'detached', 'failed', 'withdrawn'],
};

/** How a state of a document, run, connection, version or approval is shown: the same on pages, in logs, terminals, checks and mail. */
export function shownState(state: string): { text: string; tone: Tone } {
  const tone = (Object.keys(toned) as Tone[]).find((each) => toned[each]!.includes(state)) ?? '';
  return { text: own(words, state) ?? state, tone };
}

/** With a capital letter, at the start of a line. */
export function asTitle(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** With a full stop, unless it ends with a question. */
export function asSentence(text: string): string {
  return text.replace(/[^?]$/, '$&.');
}

/** `a, b and c`, or `a, b or c`. */
export function listOut(texts: Iterable<string>, type: 'conjunction' | 'disjunction' = 'conjunction'): string {
  return new Intl.ListFormat('en-GB', { type }).format(texts);
}

/** JSON values of which one is allowed: `"a", "b" or 3`. */
export function listChoices(values: readonly unknown[]): string {
  return listOut(new Set(values.map((value) => JSON.stringify(value))), 'disjunction');
}

/** How many documents are in a state: `2 published`, `1 waits for approval`, `2 wait for approval`, `2 of 3 documents wait for approval`. */
export function countState(count: number | string, state: string): string {
  const { text } = shownState(state);
  return `${count} ${parseInt(String(count)) === 1 ? text : text.replace(/^waits/, 'wait')}`;
}

/** How many documents there are in each state. */
export type StateCounts = Record<'published' | 'waiting' | 'rejected', number>;

/** Counts documents. One whose label is taken counts as rejected, and one whose file is gone not at all. */
export function countOutcomes(documents: Iterable<{ outcome: Outcome }>): StateCounts {
  const counts = { published: 0, waiting: 0, rejected: 0 };
  for (const { outcome } of documents) {
    if (outcome === 'published' || outcome === 'unchanged') counts.published++;
    else if (outcome === 'waiting') counts.waiting++;
    else if (outcome !== 'detached') counts.rejected++;
  }
  return counts;
}
