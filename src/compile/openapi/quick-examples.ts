import { isObject } from '../../model/json.ts';
import type { Config, detectSpec } from '@redocly/openapi-core';
import { cutToMisfits } from './cut-schema.ts';
import { createFitsSurely, type FitsSurely, type Reading } from './fits-surely.ts';

const name = 'no-invalid-media-type-examples';

/** What Redocly hands to a rule with a node. */
interface Context {
  location: Location;
  resolve(reference: { $ref: string }, from?: string): { node: unknown; location?: Location | undefined };
  specVersion: ReturnType<typeof detectSpec>;
}

interface Location {
  source: { absoluteRef: string };
}

type Leave = (mediaType: Record<string, unknown>, context: Context) => void;
type Visitor = Record<string, { MediaType: { skip: unknown; leave: Leave } }>;
type Rule = (options: { allowAdditionalProperties?: boolean }) => Visitor;

/**
 * Lets Redocly's rule about the examples of media types pass over those that fit for sure, without
 * compiling a validator for each: that takes most of the time that its recommended rules need. For
 * the others the rule gets those parts of the schema that they do not fit, if they can be told, so
 * that its findings stay the same.
 */
export function passOverFitting(config: Config): Config {
  config.plugins = config.plugins.map((plugin) => {
    const rule = plugin.rules?.oas3?.[name] as unknown as Rule | undefined;
    if (rule === undefined) return plugin;
    const oas3 = { ...plugin.rules!.oas3, [name]: quicken(rule) };
    return { ...plugin, rules: { ...plugin.rules, oas3 } } as unknown as typeof plugin;
  });
  return config;
}

function quicken(rule: Rule): Rule {
  return (options) => {
    const isOpen = options.allowAdditionalProperties === true;
    const visitor = rule(options);
    const quick = Object.entries(visitor).map(([parent, { MediaType }]) => {
      const side = parent === 'Response' ? 'response' : 'request';
      return [parent, { MediaType: { ...MediaType, leave: leaveUnless(MediaType.leave, side, isOpen) } }];
    });
    return Object.fromEntries(quick) as Visitor;
  };
}

function leaveUnless(leave: Leave, context: Reading['context'], isOpen: boolean): Leave {
  let reader: FitsSurely | null = null;
  return (mediaType, given) => {
    const { specVersion, location, resolve } = given;
    const follow: Reading['follow'] = (reference, file) => {
      const target = resolve(reference, file);
      return target.location === undefined ? null : { schema: target.node, file: target.location.source.absoluteRef };
    };
    reader ??= createFitsSurely({ dialect: specVersion === 'oas3_0' ? 'draft4' : '2020', isOpen, context, follow });
    const values = valuesIn(mediaType, resolve);
    if (values === null) return leave(mediaType, given);
    const schema = cutToMisfits({ schema: mediaType['schema'], file: location.source.absoluteRef }, values, {
      ...reader,
      follow,
    });
    if (schema !== 'fits') leave(schema === null ? mediaType : { ...mediaType, schema }, given);
  };
}

/** The examples of a media type, as Redocly finds them. Null: some have to be looked for. */
function valuesIn({ example, examples }: Record<string, unknown>, resolve: Context['resolve']): unknown[] | null {
  if (example !== undefined) return valuesAt(example, resolve);
  const verdicts = Object.values(isObject(examples) ? examples : {}).map((each) =>
    valuesAt(each, resolve)?.flatMap((target) => valuesOf(target)),
  );
  return verdicts.includes(undefined) ? null : (verdicts.flat() as unknown[]);
}

/** An example, or what its reference leads to: nothing is not checked. */
function valuesAt(example: unknown, resolve: Context['resolve']): [unknown?] | null {
  if (!isObject(example) || typeof example['$ref'] !== 'string') return [example];
  const { node, location } = resolve(example as { $ref: string });
  if (location === undefined) return [];
  return node === undefined ? null : [node];
}

/** The value of one of several examples. */
function valuesOf(example: unknown): [unknown?] {
  if (!isObject(example)) return [];
  const { dataValue, value } = example;
  const given = dataValue === undefined ? value : dataValue;
  return given === undefined ? [] : [given];
}
