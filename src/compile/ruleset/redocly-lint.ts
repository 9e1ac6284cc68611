import { detectSpec, lintDocument } from '@redocly/openapi-core';
import { stripVTControlCharacters } from 'node:util';
import { closest, someOf } from '../../model/errors.ts';
import { isObject } from '../../model/json.ts';
import { listOf } from '../../render/json-value.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import { isParsed, problemAt, type CollectedDocument, type Files } from '../kind.ts';
import { passOverFitting } from '../openapi/quick-examples.ts';
import { createTree, treePath } from '../openapi/redocly.ts';
import type { ParsedFile } from '../text/parse.ts';
import { followPointer, fromFragment } from '../../model/pointer.ts';
import type { UsedRuleset } from './form.ts';
import { builtIn, configOf, flattenRedocly } from './redocly-config.ts';
import { noteIgnored, takePluginRules, withPlugins } from './redocly-plugins.ts';
import { runPlugins, type PluginFinding } from './run-plugins.ts';

/** Checks an OpenAPI document. Others get one `info` problem. */
export async function lintWithRedocly(
  { entry, files }: CollectedDocument,
  { ruleset: written, name, find, programs }: UsedRuleset,
): Promise<Problem[]> {
  const { value } = entry;
  if (!isObject(value) || !('openapi' in value || 'swagger' in value)) {
    const message = `The ruleset ${name} applies to OpenAPI documents only, so this document was not checked against it.`;
    return [problemAt(entry, '', 'ruleset-not-applicable', message, { severity: 'info' })];
  }
  const { ruleset, plugins } = flattenRedocly(written, find);
  const names = withPlugins(await builtIn, plugins);
  // Rules that are not there must not count as passed.
  const missing = listOf(ruleset['extends'])
    .map(String)
    .filter((base) => !names.presets.has(base))
    .map((base) => `The ruleset ${name} extends ${base}, which is not available here.`)
    .map((message) => problemAt(entry, '', 'ruleset-failed', message));
  const config = passOverFitting(await configOf(ruleset, names));
  const tree = createTree({ files });
  const document = tree.documentOf(entry.path);
  const version = detectSpec(document.parsed);
  const custom = takePluginRules(config, plugins, version);
  const taken = plugins.length > 0 ? noteIgnored(config) : new Set<string>();
  const results = await lintDocument({ document, config, externalRefResolver: tree.resolver }).catch(
    (error: unknown) => {
      // A rule may throw on unexpected options or documents. The error becomes a problem.
      if (error instanceof Error) return error;
      throw error;
    },
  );
  if (results instanceof Error) {
    const message = `The ruleset ${name} cannot be applied to this document: ${results.message}`;
    return [problemAt(entry, '', 'ruleset-failed', message)];
  }
  const run = { entry, name, document, tree, version, programs, ignored: taken };
  const own = await runPlugins(custom, plugins, run);
  const findings: Finding[] = [...results.filter(({ ignored }) => ignored !== true), ...own.findings];
  return [...missing, ...own.problems, ...findings.map((finding) => toProblem(finding, files, entry))];
}

type Finding = Awaited<ReturnType<typeof lintDocument>>[number] | PluginFinding;

function toProblem(finding: Finding, files: Files, entry: ParsedFile): Problem {
  const { ruleId, severity, reference, location } = finding;
  const [place] = location;
  // Only links by the author of the ruleset: of rules with a slash. Redocly's own rules link to its website.
  const link = reference === undefined || !ruleId.includes('/') ? '' : ` See ${reference}.`;
  const path = place === undefined ? '' : treePath(place.source.absoluteRef);
  const file = files.get(path);
  const pointer = fromFragment(place?.pointer ?? '');
  const isRead = isParsed(file);
  const text = textOf(finding, isRead ? followPointer(file.value, pointer) : undefined);
  const message = `${stripVTControlCharacters(text)}${link}`;
  const level = severity === 'error' ? 'error' : 'warning';
  if (place === undefined) return problemAt(entry, '', ruleId, message, { severity: level });
  if (place.pointer === undefined || !isRead) return problemAtFile(ruleId, path, message, level);
  return problemAt(file, pointer, ruleId, message, {
    severity: level,
    on: place.reportOnKey === true ? 'key' : 'value',
  });
}

/** The message with what may have been meant. Redocly suggests all values that are allowed, which stand in the message, too. */
function textOf({ message, suggest }: Finding, written: unknown): string {
  if (suggest.length === 0) return message;
  const names = suggest.map((one) => `"${one}"`);
  if (!message.includes(names.join(', '))) return `${message} Did you mean: ${suggest.slice(0, 5).join(', ')}?`;
  const hint = typeof written === 'string' ? closest(written.slice(0, 100), suggest.map(String)) : '';
  return message.replace(names.join(', '), () => someOf(names)) + hint;
}
