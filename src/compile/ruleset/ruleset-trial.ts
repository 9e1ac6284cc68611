import { isObject } from '../../model/json.ts';
import { detectSpec, lintDocument } from '@redocly/openapi-core';
import type { Problem } from '../../model/problem.ts';
import { problemAt } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { configOf, ruleBlocks, type BuiltIn } from './redocly-config.ts';
import { takePluginRules, type Plugin } from './redocly-plugins.ts';
import { createTree } from '../openapi/redocly.ts';

/** Documents with a node of every common type, so that every rule applies to something. */
const samples: readonly object[] = [
  { swagger: '2.0', info: { title: 'a', version: '1' }, paths: { '/a': { get: { responses: {} } } } },
  ...['3.0.3', '3.1.0', '3.2.0'].map((openapi) => ({
    openapi,
    info: { title: 'a', version: '1' },
    servers: [{ url: 'https://a.example' }],
    tags: [{ name: 'a' }],
    paths: {
      '/a/{b}': {
        post: {
          tags: ['a'],
          parameters: [{ name: 'b', in: 'path', required: true, schema: { type: 'string' } }],
          requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { c: {} } } } } },
          responses: { '200': { description: 'a', content: { 'application/json': { schema: { enum: ['d'] } } } } },
        },
      },
    },
  })),
];

/**
 * Runs the rules on small documents of each version, because undeclared options and unsuitable
 * assertions fail only when used. Reports the first rules that fail.
 */
export async function tryRules(
  entry: ParsedFile,
  ruleset: Readonly<Record<string, unknown>>,
  builtIn: BuiltIn,
  plugins: readonly Plugin[],
): Promise<Problem[]> {
  const rules = ruleBlocks.flatMap((block) => {
    const members = ruleset[block];
    return isObject(members) ? Object.entries(members).map(([name, setting]): Rule => [block, name, setting]) : [];
  });
  if ((await failureOf(atRoot(ruleset), builtIn, plugins)) === null) return [];
  const problems: Problem[] = [];
  // Bisects: most halves have no failing rule.
  async function search(part: readonly Rule[]): Promise<void> {
    if (part.length === 0 || problems.length >= namedFailures) return;
    const failure = await failureOf(atRoot(rulesetOf(part)), builtIn, plugins);
    if (failure === null) return;
    const [block, name] = part[0]!;
    if (part.length === 1) {
      const message = `${JSON.stringify(name)} cannot be applied: ${failure}`;
      problems.push(problemAt(entry, joinPointer('', block, name), 'ruleset-rule', message, { on: 'key' }));
      return;
    }
    const middle = part.length >> 1;
    await search(part.slice(0, middle));
    await search(part.slice(middle));
  }
  await search(rules);
  return problems;
}

type Rule = readonly [block: string, name: string, setting: unknown];

/** The most failing rules to report. Each takes several trials. */
const namedFailures = 20;

function rulesetOf(rules: readonly Rule[]): Record<string, unknown> {
  const blocks = Map.groupBy(rules, ([block]) => block);
  return Object.fromEntries(
    [...blocks].map(([block, own]) => [block, Object.fromEntries(own.map(([, name, setting]) => [name, setting]))]),
  );
}

/** The ruleset with its assertions repeated for the root node, which every document has. */
function atRoot(ruleset: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const moved = ruleBlocks.flatMap((block) => {
    const rules = ruleset[block];
    if (!isObject(rules)) return [];
    return [[block, Object.fromEntries(Object.entries(rules).flatMap(([name, setting]) => variants(name, setting)))]];
  });
  return { ...ruleset, ...Object.fromEntries(moved) };
}

function variants(name: string, setting: unknown): [string, unknown][] {
  if (!name.startsWith('rule/') || !isObject(setting)) return [[name, setting]];
  const { where, ...rule } = setting;
  const parts = [rule, ...(Array.isArray(where) ? where : [])].filter(isObject);
  const tried = parts.map(({ subject, assertions }, at): [string, unknown] => {
    const property = isObject(subject) && subject['property'] ? { property: subject['property'] } : {};
    return [`${name}-${at}`, { subject: { type: 'Root', ...property }, assertions }];
  });
  return [[name, setting], ...tried];
}

async function failureOf(
  ruleset: Readonly<Record<string, unknown>>,
  builtIn: BuiltIn,
  plugins: readonly Plugin[],
): Promise<string | null> {
  try {
    const config = await configOf(ruleset, builtIn, plugins);
    for (const value of samples) {
      const text = JSON.stringify(value);
      const file: ParsedFile = {
        path: 'a.json',
        text,
        format: 'json',
        value,
        exact: value,
        locate: () => ({ line: 1, column: 1 }),
      };
      takePluginRules(config, plugins, detectSpec(value));
      const tree = createTree({ files: new Map([[file.path, file]]) });
      await lintDocument({ document: tree.documentOf(file.path), config, externalRefResolver: tree.resolver });
    }
    return null;
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}
