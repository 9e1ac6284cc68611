import { someOf } from '../../../model/errors.ts';
import { isObject } from '../../../model/json.ts';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajv04 from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import { parsePointer } from '../../../model/pointer.ts';
import { mendComparisons } from '../../schema/ajv.ts';
import { type Budget, compileRegex } from './pattern.ts';
import type { Failure, Tools } from './core-function.ts';

mendComparisons();

const dialects: Readonly<Record<string, typeof Ajv>> = {
  draft4: ajv04.default as unknown as typeof Ajv,
  'draft2019-09': Ajv2019 as unknown as typeof Ajv,
  'draft2020-12': Ajv2020 as unknown as typeof Ajv,
};

/** The most failures that one value is reported for. */
const maxFailures = 50;

/** Creates the check, with validators of its own for each run: schemas may have the same `$id`. */
export function createSchemaCheck(budget?: Budget): Tools['schema'] {
  const compiled = new Map<unknown, ValidateFunction>();
  const instances = new Map<string, Ajv>();
  return (options) => {
    const { schema } = options;
    const check = compiled.getOrInsertComputed(schema, () => {
      const dialect = dialectNameOf(options);
      const allErrors = options['allErrors'] === true;
      const ajv = instances.getOrInsertComputed(`${dialect} ${allErrors}`, () => createAjv(dialect, allErrors, budget));
      if (!isObject(schema)) return ajv.compile(schema !== false);
      // The dialect was chosen already; ajv looks for its meta-schema, which is not loaded.
      const { $schema: _, ...rest } = schema;
      // As in Spectral, where ajv does not find the file: the schema checks nothing.
      return ajv.compile(refersElsewhere(schema) ? true : rest);
    });
    return (value, subject) => (check(value) ? [] : failuresOf(check.errors ?? [], subject));
  };
}

/**
 * Creates a validator that follows no references to elsewhere and matches patterns in linear time.
 * Matching is paid from the budget.
 */
export function createAjv(dialect: string, allErrors: boolean, budget?: Budget): Ajv {
  const Dialect = dialects[dialect] ?? Ajv;
  const regExp = Object.assign(
    (source: string) => {
      const { matches } = compileRegex(source, '');
      // ajv keeps one object for all patterns with the same text.
      return { test: (text: string) => matches(text, budget), toString: () => source };
    },
    { code: 'none' },
  ) as unknown as NonNullable<Options['code']>['regExp'];
  const ajv = new Dialect({
    allErrors,
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    unicodeRegExp: false,
    // Most validators are used a few times.
    code: { optimize: false, regExp: regExp! },
  });
  addFormats.default(ajv);
  return ajv;
}

function dialectNameOf({ dialect, schema }: Readonly<Record<string, unknown>>): string {
  if (typeof dialect === 'string' && dialect !== 'auto') return dialect;
  const uri = isObject(schema) ? String(schema['$schema'] ?? '') : '';
  if (uri.includes('draft-04')) return 'draft4';
  return `draft${/2019-09|2020-12/.exec(uri)?.[0] ?? '7'}`;
}

/** Whether a schema has a reference to another file, or by a URL. */
export function refersElsewhere(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(refersElsewhere);
  if (!isObject(schema)) return false;
  const reference = schema['$ref'];
  return (typeof reference === 'string' && !reference.startsWith('#')) || Object.values(schema).some(refersElsewhere);
}

/** Of a choice that nothing matches, the choice alone. */
function mainErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  const isInside = ({ schemaPath }: ErrorObject) =>
    choices.some((choice) => schemaPath !== choice.schemaPath && schemaPath.startsWith(`${choice.schemaPath}/`));
  return errors.filter((error) => error.keyword !== 'if' && !isInside(error)).slice(0, maxFailures);
}

/** The errors of a validator as failures. `subject`: the beginning of a message about the value itself. */
export function failuresOf(errors: readonly ErrorObject[], subject: string): Failure[] {
  return mainErrors(errors).map((error) => failureOf(error, subject));
}

function failureOf({ instancePath, message = 'is not valid', params }: ErrorObject, subject: string): Failure {
  const keys = parsePointer(instancePath).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  const last = keys.at(-1);
  const name =
    last === undefined ? subject : typeof last === 'number' ? `Item ${last} ` : `${JSON.stringify(last)} property `;
  const { additionalProperty, allowedValues } = params as { additionalProperty?: string; allowedValues?: unknown[] };
  const more =
    additionalProperty !== undefined
      ? `: ${JSON.stringify(additionalProperty)}`
      : allowedValues !== undefined
        ? `: ${someOf(allowedValues.map((value) => JSON.stringify(value)))}`
        : '';
  return { message: `${name}${message}${more}`, keys };
}
