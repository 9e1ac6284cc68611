import type { Config } from '@redocly/openapi-core';
import { isObject, type JsonObject } from '../../model/json.ts';
import { objectOf } from '../../render/json-value.ts';
import { createFitsSurely, isReference, type FitsSurely, type Reading } from './fits-surely.ts';
import { changeRule } from './redocly.ts';

interface Context {
  location: Location;
  resolve(reference: { $ref: string }, from?: string): { node: unknown; location?: Location | undefined };
}

interface Location {
  source: { absoluteRef: string };
}

type Leave = (mediaType: JsonObject, context: Context) => void;
type Visitor = Record<string, { MediaType: { skip: unknown; leave: Leave } }>;
type Rule = (options: { allowAdditionalProperties?: boolean }) => Visitor;

/**
 * Lets Redocly's rule about the examples of media types pass over those that fit for sure, without
 * compiling validators for them: that takes most of the time that its recommended rules need.
 */
export function passOverFitting(config: Config): Config {
  return changeRule<Rule>(config, 'no-invalid-media-type-examples', (rule) => (options) => {
    const isOpen = options.allowAdditionalProperties === true;
    const quick = Object.entries(rule(options)).map(([parent, { MediaType }]) => {
      const side = parent === 'Response' ? 'response' : 'request';
      return [parent, { MediaType: { ...MediaType, leave: leaveUnless(MediaType.leave, side, isOpen) } }];
    });
    return Object.fromEntries(quick) as Visitor;
  });
}

function leaveUnless(leave: Leave, context: Reading['context'], isOpen: boolean): Leave {
  let reader: FitsSurely | null = null;
  return (mediaType, given) => {
    const { location, resolve } = given;
    const follow: Reading['follow'] = (reference, file) => {
      const target = resolve(reference, file);
      return target.location === undefined ? null : { schema: target.node, file: target.location.source.absoluteRef };
    };
    const { fits, refuses } = (reader ??= createFitsSurely({ isOpen, context, follow }));
    const root = { schema: mediaType['schema'], file: location.source.absoluteRef };
    const misfits = valuesIn(mediaType, resolve).filter((value) => !fits(root, value));
    if (misfits.length > 0) leave(refuses(root) ? { ...mediaType, schema: refused } : mediaType, given);
  };
}

/** A small schema that ajv refuses with the same error. */
const refused = { nullable: true, enum: [null] };

/** The examples of a media type, as Redocly finds them. Undefined: one that is not found here. */
function valuesIn({ example, examples }: JsonObject, resolve: Context['resolve']): unknown[] {
  const targetOf = (one: unknown) => (isReference(one) ? resolve(one).node : one);
  if (example !== undefined) return [targetOf(example)];
  const named = Object.values(objectOf(examples)).map(targetOf).filter(isObject);
  return named
    .map(({ dataValue, value }) => (dataValue === undefined ? value : dataValue))
    .filter((value) => value !== undefined);
}
