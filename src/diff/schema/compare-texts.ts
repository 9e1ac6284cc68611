import { codeOf, describeText, kebab, placesOf, quote, report, sayHas, type Pair } from '../report.ts';
import { textOf } from '../../render/json-value.ts';
import { judgeSunset } from '../sunset.ts';
import { isText } from './keywords.ts';
import { textOfValue } from './read-schema.ts';

/** Compares what does not restrict values: texts, extensions, `deprecated` and `default`. */
export function compareTexts(pair: Pair): void {
  for (const keyword of pair.before.keywords.union(pair.after.keywords))
    if (isText(keyword) && keyword !== 'x-nullable' && keyword !== 'x-extensible-enum') compareText(pair, keyword);
  compareDeprecated(pair);
  compareDefault(pair);
}

function compareText(pair: Pair, keyword: string): void {
  const stated = statedAs(pair, keyword);
  if (stated.before === stated.after) return;
  if (keyword === 'x-sunset' && pair.walk.rules.removal !== undefined) return compareSunset(pair, stated);
  const name = keyword.startsWith('x-') ? 'extension' : kebab(keyword);
  report(pair, 'docs', `${name}-changed`, describeText(keyword, stated.before, stated.after), stated);
}

function compareSunset({ walk, ...pair }: Pair, stated: ReturnType<typeof statedAs>): void {
  const textAt = (view: Pair['before']) => textOf(view.first('x-sunset')?.value) || null;
  const judged = judgeSunset(walk, textAt(pair.before), textAt(pair.after));
  if (judged === null) return;
  report({ walk, ...pair }, judged.verdict, `sunset-${judged.name}`, judged.says, { ...stated, isSideless: true });
}

/** The values of a keyword as texts, and where they stand. Null: absent. */
function statedAs(pair: Pair, keyword: string) {
  const [before, after] = [pair.before.first(keyword), pair.after.first(keyword)];
  const [old, current] = [before && textOfValue(before.value), after && textOfValue(after.value)];
  return { before: old, after: current, at: placesOf(pair, before, after) };
}

function compareDeprecated(pair: Pair): void {
  const [before, after] = [pair.before.first('deprecated'), pair.after.first('deprecated')];
  const [was, is] = [before?.value === true, after?.value === true];
  if (was === is) return;
  const details = { before: String(was), after: String(is), at: placesOf(pair, before, after), isSideless: true };
  report(pair, 'safe', is ? 'deprecated' : 'reactivated', `is ${is ? '' : 'no longer '}deprecated`, details);
}

/** A default is what the server takes where a request says nothing. A response only describes it. */
function compareDefault(pair: Pair): void {
  const stated = statedAs(pair, 'default');
  const { before, after } = stated;
  if (before === after) return;
  const says = sayHas('the default', before && quote(before), after && quote(after));
  report(pair, pair.direction === 'response' ? 'safe' : 'risky', codeOf('default', before, after), says, stated);
}
