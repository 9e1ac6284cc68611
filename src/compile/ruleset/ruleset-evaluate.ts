import { stripVTControlCharacters } from 'node:util';
import { lintDocument } from '@redocly/openapi-core';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import { isParsed, problemAt, type KindInput } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { configOf, readBuiltIn } from './redocly-config.ts';
import { createTree, treePath } from '../openapi/redocly.ts';
import { rulesetForm } from './ruleset.ts';
import { isObject } from '../schema/schema-dialect.ts';

/** What a document is checked by: the JSON text of a published ruleset, and what it is called in problems. */
export interface Style {
  json: string;
  name: string;
}

const builtIn = readBuiltIn();

/**
 * Checks an OpenAPI document against a ruleset in Redocly's form; other documents get one finding of severity info, a ruleset in another form a
 * blocking one. The document's files must be all that it refers to. Findings are in the order of the documents' places.
 */
export async function lintWithRuleset(
  { entry, files }: Pick<KindInput, 'entry' | 'files'>,
  { json, name }: Style,
): Promise<Problem[]> {
  const ruleset: unknown = JSON.parse(json);
  if (!isObject(ruleset) || rulesetForm(ruleset) !== 'redocly') {
    const message = `The ruleset ${name} is in Spectral's form, by which documents are not checked yet; attach one in Redocly's form.`;
    return [problemAt(entry, '', 'ruleset-unsupported', message)];
  }
  const { value } = entry;
  if (!isObject(value) || !('openapi' in value || 'swagger' in value)) {
    const message = `The rules of ${name} are about API descriptions; none applies to this document.`;
    return [problemAt(entry, '', 'ruleset-not-applicable', message, { severity: 'info' })];
  }
  const config = await configOf(ruleset, await builtIn);
  const tree = createTree({ files });
  const found = await lintDocument({
    document: tree.documentOf(entry.path),
    config,
    externalRefResolver: tree.resolver,
  }).catch((error: unknown) => {
    // Rules take options of any kind and are given any document: what they throw is about the two, and says so.
    if (error instanceof Error) return error;
    throw error;
  });
  if (found instanceof Error) {
    const message = `The ruleset ${name} cannot be applied to this document: ${found.message}`;
    return [problemAt(entry, '', 'ruleset-failed', message)];
  }
  return found.filter(({ ignored }) => ignored !== true).map((finding) => toProblem(finding, files, entry));
}

type Finding = Awaited<ReturnType<typeof lintDocument>>[number];

function toProblem(finding: Finding, files: KindInput['files'], entry: ParsedFile): Problem {
  const { ruleId, severity, suggest, reference, location } = finding;
  const [place] = location;
  const hints = suggest.length > 0 ? ` Did you mean: ${suggest.slice(0, 5).join(', ')}?` : '';
  // Redocly links its own rules' pages; what a ruleset's author links says more than the name does.
  const link = reference === undefined || !ruleId.startsWith('rule/') ? '' : ` See ${reference}.`;
  const message = stripVTControlCharacters(finding.message) + hints + link;
  const level = severity === 'error' ? 'error' : 'warning';
  if (place === undefined) return problemAt(entry, '', ruleId, message, { severity: level });
  const path = treePath(place.source.absoluteRef);
  const file = files.get(path);
  if (place.pointer === undefined || file === undefined || !isParsed(file))
    return problemAtFile(ruleId, path, message, level);
  return problemAt(file, pointerOf(place.pointer), ruleId, message, {
    severity: level,
    on: place.reportOnKey === true ? 'key' : 'value',
  });
}

/** Redocly writes pointers as `#/a/b`, and the root as `#/`. */
function pointerOf(pointer: string): string {
  const bare = pointer.replace(/^#/, '');
  return bare === '/' ? '' : bare;
}
