import { isObject, type JsonObject } from '../../model/json.ts';
import {
  type FitsSurely,
  type Follow,
  type Placed,
  keywordsOf,
  type Schema,
  createFitsSurely,
  type Reading,
} from './fits-surely.ts';
import type { Config, detectSpec } from '@redocly/openapi-core';
import { changeRule } from './redocly.ts';

const maxProperties = 100_000;

/**
 * Cuts a schema down to what these values do not fit, so that ajv reports the same errors and
 * compiles a small part of it. The result has no references: ajv would keep it under the name of
 * the whole schema. Null: the whole schema is needed.
 */
export function cutToMisfits(
  root: Placed,
  values: readonly unknown[],
  { understand, fits, follow }: FitsSurely & { follow: Follow },
): Schema | 'fits' | null {
  const understood = understand(root);
  if (understood === 'unknown') return null;
  // ajv reports that it cannot compile the schema, whatever the value is.
  if (understood === 'nullable') return values.length === 0 ? 'fits' : { nullable: true, enum: [null] };
  if (values.every((value) => fits(root, value) === true)) return 'fits';
  let steps = 0;
  const whole = cut(root, values);
  return whole === null || JSON.stringify(whole).includes('"$ref"') ? null : whole;

  function cut({ schema, file }: Placed, below: readonly unknown[]): Schema | null {
    if (!isObject(schema)) return null;
    if (below.every((value) => fits({ schema, file }, value) === true)) return flagsOf(schema);
    if (typeof schema['$ref'] === 'string') {
      const target = follow(schema as { $ref: string }, file);
      return target && cut(target, below);
    }
    const { properties, items, additionalProperties: rest, ...kept } = keywordsOf(schema);
    const objects = below.filter(isObject);
    if (isObject(properties)) {
      const parts: Schema = {};
      kept['properties'] = parts;
      for (const [name, part] of Object.entries(properties)) {
        if (++steps > maxProperties) return null;
        const named = objects.map((each) => each[name]).filter((value) => value !== undefined);
        const left = cut({ schema: part, file }, named);
        if (left === null) return null;
        parts[name] = left;
      }
    }
    if (isObject(rest)) {
      const isNamed = (name: string) => isObject(properties) && Object.hasOwn(properties, name);
      const unnamed = objects.flatMap((each) =>
        Object.keys(each).flatMap((name) => (isNamed(name) ? [] : [each[name]])),
      );
      const left = cut({ schema: rest, file }, unnamed);
      if (left === null) return null;
      kept['additionalProperties'] = left;
    } else if (rest !== undefined) kept['additionalProperties'] = rest;
    // How ajv names twins depends on the type of the items.
    if (schema['uniqueItems'] === true) kept['items'] = items ?? {};
    else if (items !== undefined) {
      const left = cut({ schema: items, file }, below.filter(Array.isArray).flat(1));
      if (left === null) return null;
      kept['items'] = left;
    }
    return { ...kept, ...flagsOf(schema) };
  }
}

/** Whether a property is required depends on them. */
function flagsOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key === 'readOnly' || key === 'writeOnly'));
}

/** What Redocly hands to a rule with a node. */
interface Context {
  location: Location;
  resolve(reference: { $ref: string }, from?: string): { node: unknown; location?: Location | undefined };
  specVersion: ReturnType<typeof detectSpec>;
}

interface Location {
  source: { absoluteRef: string };
}

type Leave = (mediaType: JsonObject, context: Context) => void;
type Visitor = Record<string, { MediaType: { skip: unknown; leave: Leave } }>;
type Rule = (options: { allowAdditionalProperties?: boolean }) => Visitor;

/**
 * Lets Redocly's rule about the examples of media types pass over those that fit for sure, without
 * compiling a validator for each: that takes most of the time that its recommended rules need. For
 * the others the rule gets those parts of the schema that they do not fit, if they can be told, so
 * that its findings stay the same.
 */
export function passOverFitting(config: Config): Config {
  return changeRule<Rule>(config, 'no-invalid-media-type-examples', quicken);
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
function valuesIn({ example, examples }: JsonObject, resolve: Context['resolve']): unknown[] | null {
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

function valuesOf(example: unknown): [unknown?] {
  if (!isObject(example)) return [];
  const { dataValue, value } = example;
  const given = dataValue === undefined ? value : dataValue;
  return given === undefined ? [] : [given];
}
