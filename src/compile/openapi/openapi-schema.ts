import { Validator } from '@seriousme/openapi-schema-validator';
import type { ValidateFunction } from 'ajv';
import { appendErrors } from '../schema/ajv-append-errors.ts';
import { findTwinsByText } from '../schema/ajv-unique-items.ts';
import { errorsOf } from '../schema/ajv-errors.ts';
import { explainErrors, type SchemaFinding } from '../schema/schema-findings.ts';

export type OpenapiVersion = '2.0' | '3.0' | '3.1' | '3.2';

interface Compiles {
  getAjvValidator(version: string): ValidateFunction;
}

findTwinsByText();
const stopping = new Validator({ verbose: true }) as unknown as Compiles;
const exhaustive = new Validator({
  allErrors: true,
  verbose: true,
  code: { process: appendErrors },
}) as unknown as Compiles;
const keptFindings = 200;
/** Characters of a document that is too large to look for all its errors. */
export const largeText = 300_000;

/**
 * Validates a document against the OpenAPI Initiative's JSON Schema of its version. Returns all
 * findings, or only the first for a large document, where they could exhaust the memory. Empty if
 * the document is valid.
 */
export function validateOpenapi(document: unknown, version: OpenapiVersion, textLength: number): SchemaFinding[] {
  let errors = errorsOf(stopping.getAjvValidator(version), document);
  if (errors.length === 0) return [];
  if (textLength < largeText) errors = errorsOf(exhaustive.getAjvValidator(version), document);
  return explainErrors(errors, document).slice(0, keptFindings);
}
