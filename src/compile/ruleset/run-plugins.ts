import { getTypes, normalizeTypes, resolveDocument, type Document } from '@redocly/openapi-core';
import { listOf, objectOf } from '../../render/json-value.ts';
import type { JsonObject } from '../../model/json.ts';
import { problemAt, maxFindings, type KindInput } from '../kind.ts';
import type { Problem } from '../../model/problem.ts';
import { notRun, toFailure, type Failure } from '../interpreter/failure.ts';
import type { Program } from '../interpreter/interpreter.ts';
import { createTable } from '../interpreter/table.ts';
import type { Tree } from '../openapi/redocly.ts';
import { customAssertions, type Plugin, type PluginRules } from './redocly-plugins.ts';
import { sayCode, clearRule } from './rule-at-work.ts';
import { ruleOf, sayFailure } from './ruleset-code.ts';

/** A finding, in the shape of Redocly's. */
export interface PluginFinding {
  ruleId: string;
  severity: 'error' | 'warn';
  message: string;
  suggest: string[];
  reference?: string;
  location: { source: { absoluteRef: string }; pointer?: string; reportOnKey: boolean }[];
}

/** A document for plugins, in Redocly's tree of its files. */
export interface PluginRun {
  entry: KindInput['entry'];
  /** The name of the ruleset in problems. */
  name: string;
  document: Document;
  tree: Tree;
  version: Parameters<typeof getTypes>[0];
  programs: ReadonlyMap<unknown, Program>;
  /** The nodes that the rule `struct` takes from all others. */
  ignored: ReadonlySet<string>;
}

/** The most rules that may fail before the rest is not tried any more. */
const maxFailures = 5;

/** Runs rules and assertions of plugins on a document. A fault of one is a problem of its ruleset. */
export async function runPlugins(
  { rules, assertions }: PluginRules,
  plugins: readonly Plugin[],
  run: PluginRun,
): Promise<{ findings: PluginFinding[]; problems: Problem[] }> {
  const findings: PluginFinding[] = [];
  const problems: Problem[] = [];
  if (rules.length + assertions.length === 0) return { findings, problems };
  const report = (what: string, failure: Failure) => {
    const message = `${what} of the ruleset ${run.name} ${sayFailure(failure)}`;
    problems.push(problemAt(run.entry, '', ruleOf(failure), message));
  };
  const tree = await treeOf(run);
  for (const [modules, group] of Map.groupBy(plugins, (plugin) => plugin.modules)) {
    const ids = new Set(group.map(({ id }) => id));
    const own: PluginRules = {
      rules: rules.filter(({ plugin }) => ids.has(plugin)),
      assertions: assertions.filter((rule) => ids.has(customAssertions(rule)[0]?.split('/')[0] ?? '')),
    };
    if (own.rules.length + own.assertions.length === 0) continue;
    const program = run.programs.get(modules);
    if (program === undefined) report(`The plugin ${JSON.stringify([...ids][0])}`, notRun('plugins'));
    else {
      sayCode([...ids].join(', '));
      runGroup(program, group, own);
      clearRule();
    }
  }
  return { findings, problems };

  function runGroup(program: Program, group: readonly Plugin[], own: PluginRules): void {
    for (const path of new Set(group.map((plugin) => plugin.path))) {
      const taken = program.takePlugins(path);
      if ('failure' in taken) return report(`The plugin ${path}`, taken.failure);
    }
    const placed = program.call('setTree', tree.data);
    if ('failure' in placed) return report('A plugin', placed.failure);
    let left = own;
    for (let failed = 0; failed < maxFailures; failed++) {
      const walked = program.call('walk', { specVersion: run.version, ignored: [...run.ignored], ...left });
      if (!('failure' in walked)) return take(walked.value, own, objectOf(group[0]?.modules));
      // The walk was stopped: once more, without the rule that was at work.
      const asked = program.call('atWork', null);
      const name = 'value' in asked && typeof asked.value === 'string' ? asked.value.slice(0, maxText) : '';
      report(name === '' ? 'A plugin' : `The rule ${JSON.stringify(name)}`, walked.failure);
      const rest = without(left, name);
      if (rest === null) return;
      left = rest;
    }
  }

  /** Takes what a walk answers. It comes from an author, as everything in a sandbox does. */
  function take(value: unknown, own: PluginRules, modules: Readonly<JsonObject>): void {
    const names = new Set([
      ...own.rules.map(({ plugin, name }) => `${plugin}/${name}`),
      ...own.assertions.map((rule) => String(rule['assertionId'])),
    ]);
    const answer = objectOf(value);
    for (const one of listOf(answer['failures'])) {
      const [name, failure] = listOf(one);
      report(`The rule ${JSON.stringify(String(name).slice(0, maxText))}`, toFailure(failure, modules));
    }
    for (const one of listOf(answer['findings']).slice(0, maxFindings + 1)) {
      const [ruleId, severity, message, suggest, reference, place] = listOf(one);
      const [path, pointer, reportOnKey] = listOf(place);
      if (typeof ruleId !== 'string' || !names.has(ruleId) || typeof message !== 'string') continue;
      const absoluteRef = typeof path === 'string' && tree.paths.has(path) ? path : run.document.source.absoluteRef;
      findings.push({
        ruleId,
        severity: severity === 'error' ? 'error' : 'warn',
        message: message.slice(0, maxMessage),
        suggest: listOf(suggest).map((text) => String(text).slice(0, maxText)),
        ...(typeof reference === 'string' && { reference: reference.slice(0, maxText) }),
        location: [
          {
            source: { absoluteRef },
            ...(typeof pointer === 'string' && { pointer }),
            reportOnKey: reportOnKey === true,
          },
        ],
      });
    }
  }
}

const maxText = 200;
const maxMessage = 2000;

function without({ rules, assertions }: PluginRules, name: string): PluginRules | null {
  const left = {
    rules: rules.filter((rule) => `${rule.plugin}/${rule.name}` !== name),
    assertions: assertions.filter((rule) => rule['assertionId'] !== name),
  };
  const count = left.rules.length + left.assertions.length;
  return count === 0 || count === rules.length + assertions.length ? null : left;
}

/** The files of a document and where its references lead, as Redocly resolves them. */
async function treeOf({ document, tree, version }: PluginRun): Promise<{ data: object; paths: Set<string> }> {
  const types = normalizeTypes(getTypes(version), {});
  const resolved = await resolveDocument({
    rootDocument: document,
    rootType: types['Root']!,
    externalRefResolver: tree.resolver,
  });
  const documents = new Set([document, ...[...resolved.values()].flatMap((one) => one.document ?? [])]);
  const { refer, nodes } = createTable();
  const files = [...documents].map(({ source, parsed }) => [source.absoluteRef, refer(parsed)]);
  const refs = [...resolved].map(
    ([id, { resolved: isResolved, document: target, nodePointer, node, error, chain }]) => [
      id,
      target?.source.absoluteRef ?? null,
      nodePointer ?? null,
      refer(node),
      isResolved ? null : (error?.message ?? ''),
      chain?.map((hop) => [refer(hop.node), hop.location.source.absoluteRef, hop.location.pointer]) ?? null,
    ],
  );
  return {
    data: { files, refs, nodes: nodes() },
    paths: new Set([...documents].map(({ source }) => source.absoluteRef)),
  };
}
