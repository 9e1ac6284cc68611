import { detectSpec } from '@redocly/openapi-core';
import { createFitsSurely, type Follow, type Reading } from './fits-surely.ts';

/** What Redocly's rules about examples hand to their validator. */
export interface ValidateOptions {
  schemaLoc: { source: { absoluteRef: string } };
  resolve: (
    reference: { $ref: string },
    from: string,
  ) => { node: unknown; location?: { source: { absoluteRef: string } } | undefined };
  allowAdditionalProperties: boolean;
  ajvContext?: { apiContext?: 'request' | 'response' };
  specVersion: ReturnType<typeof detectSpec>;
}

export type Validate = (
  this: object,
  data: unknown,
  schema: unknown,
  options: ValidateOptions,
) => { valid: boolean; errors: unknown[] };

type Fits = ReturnType<typeof createFitsSurely>;

let original: Promise<Validate> | null = null;

/**
 * Lets Redocly's rules about examples pass over those that fit for sure, without compiling a
 * validator for each: that takes most of the time that its recommended rules need. All others are
 * left to Redocly, so that its findings stay the same. Changes its validator for the whole process,
 * once. Returns the validator as it was.
 */
export function passOverFitting(): Promise<Validate> {
  return (original ??= change());
}

async function change(): Promise<Validate> {
  // Redocly does not export its validator.
  const { AjvValidator } = (await import(
    new URL('rules/ajv.js', import.meta.resolve('@redocly/openapi-core')).href
  )) as { AjvValidator: { prototype: { validate: Validate } } };
  const { validate } = AjvValidator.prototype;
  const made = new WeakMap<object, Map<string, Fits>>();
  AjvValidator.prototype.validate = function (data, schema, options) {
    const { schemaLoc, resolve, allowAdditionalProperties, ajvContext, specVersion } = options;
    const follow: Follow = (reference, file) => {
      const { node, location } = resolve(reference, file);
      return location === undefined ? null : { schema: node, file: location.source.absoluteRef };
    };
    const reading: Omit<Reading, 'follow'> = {
      dialect: specVersion === 'oas2' || specVersion === 'oas3_0' ? 'draft4' : '2020',
      isOpen: allowAdditionalProperties,
      context: ajvContext?.apiContext ?? null,
    };
    const kinds = made.get(this) ?? new Map<string, Fits>();
    made.set(this, kinds);
    const kind = JSON.stringify(reading);
    const fits = kinds.get(kind) ?? createFitsSurely({ ...reading, follow });
    kinds.set(kind, fits);
    if (fits(schema, schemaLoc.source.absoluteRef, data)) return { valid: true, errors: [] };
    return validate.call(this, data, schema, options);
  };
  return validate;
}
