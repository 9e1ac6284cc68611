import type { JsonObject } from '../../model/json.ts';
import { leftOutOf } from './left-out.ts';
import { createLong } from '../long.ts';
import { textOf } from '../json-value.ts';
import { blockMarkdown, codeMarkdown, inlineMarkdown } from '../markdown.ts';
import { viewRule } from './rule-view.ts';
import type { PlacedRule } from './ruleset-html.ts';
import { extendedBy } from './rules.ts';

/** The reference of a ruleset as Markdown. */
export function rulesetMarkdown(document: JsonObject, rules: readonly PlacedRule[], budget: number): string {
  const long = createLong<string>(budget, ({ length }) => length);
  const description = blockMarkdown(textOf(document['description']) || textOf(document['x-description']));
  const bases = extendedBy(document).slice(0, 100);
  if (description !== '') long.add(() => `${description}\n\n`);
  if (bases.length > 0) long.add(() => `Extends ${bases.map((name) => codeMarkdown(name)).join(' ')}\n\n`);
  const leftOut = leftOutOf(document);
  if (leftOut.length > 0)
    long.add(
      () =>
        `**This ruleset is partial. It does not check:** ${leftOut.map((name) => codeMarkdown(name)).join(' ')}\n\n`,
    );
  long.add(() => '## Rules\n\n');
  for (const { rule } of rules)
    long.add(() => {
      const { description: meaning, given, asked } = viewRule(rule);
      const text = inlineMarkdown(meaning);
      const places = given.length === 0 ? '' : `  - applies to ${given.map((path) => codeMarkdown(path)).join(' ')}\n`;
      const demands = asked.map(
        ({ field, demand }) => `  - ${field === '' ? '' : `${codeMarkdown(field)} `}${codeMarkdown(demand)}\n`,
      );
      return `- ${codeMarkdown(rule.name)} (${rule.severity})${text === '' ? '' : `: ${text}`}\n${places}${demands.join('')}`;
    });
  return long.parts.join('');
}
