import { describeText, quote, report, type Pair } from '../report.ts';
import { textKeywords } from './keywords.ts';
import { textOfValue } from './read-schema.ts';

/** Compares what does not restrict values: texts, extensions, `deprecated` and `default`. */
export function compareTexts(pair: Pair): void {
  const { before, after } = pair;
  for (const keyword of before.keywords.union(after.keywords)) {
    const isExtension = keyword.startsWith('x-') && keyword !== 'x-nullable' && keyword !== 'x-extensible-enum';
    if (textKeywords.has(keyword) || isExtension) compareText(pair, keyword);
  }
  compareDeprecated(pair);
  compareDefault(pair);
}

function compareText(pair: Pair, keyword: string): void {
  const [before, after] = [pair.before.first(keyword), pair.after.first(keyword)];
  const [old, current] = [before && textOfValue(before.value), after && textOfValue(after.value)];
  if (old === current) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  const name = keyword.startsWith('x-')
    ? 'extension-changed'
    : `${keyword === 'externalDocs' ? 'external-docs' : keyword.replace('$', '')}-changed`;
  report(pair, { verdict: 'docs', name, says: describeText(keyword, old, current), before: old, after: current, at });
}

function compareDeprecated(pair: Pair): void {
  const [before, after] = [pair.before.first('deprecated'), pair.after.first('deprecated')];
  const [was, is] = [before?.value === true, after?.value === true];
  if (was === is) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  const said = { before: String(was), after: String(is), at, isSideless: true };
  if (is) report(pair, { verdict: 'safe', name: 'deprecated', says: 'is deprecated', ...said });
  else report(pair, { verdict: 'safe', name: 'reactivated', says: 'is no longer deprecated', ...said });
}

/** A default is what the server takes where a request says nothing. A response only describes it. */
function compareDefault(pair: Pair): void {
  const [before, after] = [pair.before.first('default'), pair.after.first('default')];
  const [old, current] = [before && textOfValue(before.value), after && textOfValue(after.value)];
  if (old === current) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  const name = old === null ? 'default-set' : current === null ? 'default-unset' : 'default-changed';
  const says =
    old === null
      ? `has the default ${quote(current!)}; it had none`
      : current === null
        ? `no longer has the default ${quote(old)}`
        : `has the default ${quote(current)} instead of ${quote(old)}`;
  report(pair, {
    verdict: pair.direction === 'response' ? 'safe' : 'risky',
    name,
    says,
    before: old,
    after: current,
    at,
  });
}
