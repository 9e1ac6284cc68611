import {
  countsInWords,
  mergeAlike,
  verdicts,
  verdictsInWords,
  type Change,
  type Comparison,
  type Verdict,
} from '../model/comparison.ts';
import { code, plain } from './checks.ts';

const headings: Readonly<Record<Verdict, string>> = {
  breaking: 'Breaking',
  unknown: 'Cannot be judged',
  risky: 'Risky',
  safe: 'Safe',
  docs: 'Texts',
};

const operationsNamed = 3;

/** The title of a comparison: `Breaking changes: 2 breaking, 5 in texts`. */
export function comparisonTitle({
  verdict,
  counts,
  reason,
}: Pick<Comparison, 'verdict' | 'counts' | 'reason'>): string {
  if (reason !== null) return 'Changes that cannot be judged';
  return verdict === 'none' ? verdictsInWords.none : `${verdictsInWords[verdict]}: ${countsInWords(counts)}`;
}

/** A comparison as Markdown, the worst first. `most`: changes named of each verdict. */
export function comparisonMarkdown(comparison: Comparison, max: number): string {
  const { changes, counts, reason, verdict } = comparison;
  if (reason !== null) return `The changes cannot be judged. ${plain(reason)}`;
  if (verdict === 'none') return 'Nothing changed.';
  const sections = verdicts.flatMap((each) => {
    if (counts[each] === 0) return [];
    const ofVerdict = changes.filter((change) => change.verdict === each);
    const merged = mergeAlike(ofVerdict).slice(0, max);
    const rest = counts[each] - ofVerdict.filter(({ message }) => merged.some((one) => one.message === message)).length;
    const lines = [...merged.map(describeChange), ...(rest > 0 ? [`- … and ${rest} more`] : [])];
    return [[`**${headings[each]}: ${counts[each]}**`, '', ...lines].join('\n')];
  });
  return sections.join('\n\n');
}

function describeChange({ message, operations, reach, code: name }: Change): string {
  const isSaid = operations.length === 1 && message.startsWith(`${operations[0]} `);
  const named = isSaid ? '' : operations.slice(0, operationsNamed).map(code).join(', ');
  const more = reach > operationsNamed ? ` and ${reach - Math.min(operationsNamed, operations.length)} more` : '';
  return `- ${plain(message)}${named === '' ? '' : ` (${named}${more})`} ${code(name)}`;
}
