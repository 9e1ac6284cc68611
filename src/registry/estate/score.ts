import { readFileSync } from 'node:fs';

/** What counts in a score. The formula is data: `content/score.json`. */
export interface ScorePart {
  name: 'errors' | 'warnings' | 'owner' | 'lifecycle' | 'undated' | 'behind' | 'age';
  weight: number;
  /** The count at which the part is worth nothing. */
  most: number;
  /** What is counted, for people. */
  says: string;
}

/** What is counted of a resource. A part that is not counted is left out of its score. */
export type Counts = Partial<Record<ScorePart['name'], number>>;

export const formula = JSON.parse(readFileSync(new URL('../../../content/score.json', import.meta.url), 'utf8')) as {
  readonly description: string;
  readonly parts: readonly ScorePart[];
};

/** The score of counts, 0 to 100. */
export function scoreOf(counts: Counts): number {
  const counted = formula.parts.filter(({ name }) => counts[name] !== undefined);
  const worth = ({ name, most }: ScorePart) => Math.max(0, 1 - counts[name]! / most);
  const whole = counted.reduce((sum, { weight }) => sum + weight, 0);
  return Math.round((100 * counted.reduce((sum, part) => sum + part.weight * worth(part), 0)) / whole);
}

/** The mean of the scores. Null if there are none. */
export function meanOf(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : Math.round(scores.reduce((sum, score) => sum + score, 0) / scores.length);
}
