import { isResourceGlob } from '../../model/access.ts';
import { cut } from '../../model/escape.ts';
import { isSlug, parseCoordinate, slugFrom } from '../../model/address.ts';
import { isLabel, labelFromVersion } from '../../model/label.ts';
import { joinPointer } from '../../model/pointer.ts';
import { explainErrors } from '../../model/schema-errors.ts';
import { asSentence } from '../../model/states.ts';
import { type ErrorObject, Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type RegistryError, malformed } from '../../model/errors.ts';
import {
  type DescribedSchema,
  type Description,
  type DescribedOperation,
  type DescribedParameter,
} from './api-description.ts';
import addFormats from 'ajv-formats';

/** A string format with its error message. */
export interface StringFormat {
  isValid(text: string): boolean;
  /** Follows the place: "must be …", with a valid suggestion if one can be made from the text. */
  explain(text: string): string;
}

/**
 * By the name of their schema, or the format that it states. The patterns in the description use only syntax that Python, Go and
 * Java support too; these check everything.
 */
const formats: Readonly<Record<string, StringFormat>> = {
  Line: {
    isValid: (text) => /\S/.test(text),
    explain: () => 'must be one line of text: no control characters, and not blank',
  },
  Slug: {
    isValid: isSlug,
    explain: (text) => `must be 1 to 63 of a-z, 0-9 and single hyphens between them${instead(slugFrom(text))}`,
  },
  Label: {
    isValid: isLabel,
    explain: (text) =>
      `must be the label of a version: 1 to 128 of A-Z a-z 0-9 . _ + -, first and last a letter or digit, not "latest"${instead(labelFromVersion(text))}`,
  },
  RulesetCoordinate: {
    isValid: (text) => parseCoordinate(text)?.coordinate.type === 'rulesets',
    explain: () => 'must be a ruleset, such as "@acme/rulesets/style" or "@acme/rulesets/style@^1"',
  },
  ResourceGlob: {
    isValid: isResourceGlob,
    explain: () =>
      'must be a type and a name: apis, schemas, rulesets, sites or * before the slash, a-z, 0-9, - and * after it, such as "apis/pay-*"',
  },
  Replacement: {
    isValid: (text) => isLabel(text) || parseCoordinate(text) !== null,
    explain: () =>
      'must be a version of this resource, such as "2.0.0", or a coordinate, such as "@acme/apis/payments@2"',
  },
  // What is compared must be on clocks: not 23:59:60, nor in the year 10000 of another zone.
  'date-time': {
    isValid: (text) => Date.parse(text) < Date.UTC(10_000),
    explain: () => 'must be a time until the year 9999, such as "2026-05-12T09:30:00Z"',
  },
};

function instead(text: string | null): string {
  return text === null ? '' : `; ${JSON.stringify(text)} would do`;
}

/** One deviation from the description (an extension member, RFC 9457 §3). */
interface Fault {
  /** JSON Pointer into the body. */
  pointer?: string;
  parameter?: string;
  /** Follows the place: "is missing", "must be …". */
  detail: string;
}

/** What is wrong with a value. A format with a name says it in its own words. */
function faultsIn(errors: readonly ErrorObject[], value: unknown): Fault[] {
  const named = errors.map((error) => {
    const { format = '' } = error.parentSchema as { format?: string };
    const isNamed = typeof error.data === 'string' && Object.hasOwn(formats, format);
    return isNamed ? { ...error, keyword: 'format', message: formats[format]!.explain(error.data as string) } : error;
  });
  return explainErrors(named, value).map(({ pointer, says, missing }) => {
    const place = missing === null ? pointer : joinPointer(pointer, missing);
    return { pointer: cut(place, 1000), detail: missing === null ? says : 'is missing' };
  });
}

type Validator = ReturnType<typeof createValidator>;

const small = 65_536;
const maxFaults = 20;

const validators = new WeakMap<Description, Validator>();

/** Returns the validator of a description. It is made once, because compiling the schemas takes long. */
export function validatorOf(description: Description): Validator {
  return validators.getOrInsertComputed(description, () => createValidator(description));
}

function createValidator(description: Description) {
  const document = withForms(description.document);
  const options = { strict: false, useDefaults: true, verbose: true, meta: false, validateSchema: false } as const;
  const validating = (allErrors: boolean): Ajv2020 => {
    const ajv = new Ajv2020({ ...options, allErrors });
    addFormats.default(ajv);
    const { validate: isWritten } = ajv.formats['date-time'] as { validate: (text: string) => boolean };
    for (const [name, { isValid }] of Object.entries(formats))
      ajv.addFormat(name, name === 'date-time' ? (text) => isWritten(text) && isValid(text) : isValid);
    return ajv.addSchema(document, 'management');
  };
  const all = validating(true);
  let first: Ajv2020 | null = null;
  // It keeps what it has compiled.
  const compile = (ajv: Ajv2020, pointer: string): ValidateFunction =>
    ajv.getSchema(`management#${pointer.split('/').map(encodeURIComponent).join('/')}`)!;

  function readParameter({ name, schema }: DescribedParameter, text: string): { value: unknown; faults: Fault[] } {
    const value = readText(schema['type'], text);
    const reference = schema['$ref'];
    const validate = typeof reference === 'string' ? all.getSchema(`management${reference}`)! : all.compile(schema);
    if (validate(value)) return { value, faults: [] };
    return { value, faults: faultsIn(validate.errors ?? [], value).map(({ detail }) => ({ parameter: name, detail })) };
  }

  return {
    /** Whether these path parameters have the right form. */
    isPath({ parameters }: DescribedOperation, values: Readonly<Record<string, string>>): boolean {
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      return inPath.every((parameter) => readParameter(parameter, values[parameter.name]!).faults.length === 0);
    },
    /** The parameters in this place, with defaults. Throws `malformed` and names each invalid one. */
    readParameters(
      operation: DescribedOperation,
      place: 'query' | 'header',
      given: ReadonlyMap<string, string>,
    ): Record<string, unknown> {
      const parameters = operation.parameters.filter((parameter) => parameter.in === place);
      const values: Record<string, unknown> = {};
      const faults: Fault[] = [];
      for (const parameter of parameters) {
        const text = given.get(parameter.name);
        if (text === undefined) {
          if (parameter.schema['default'] !== undefined) values[parameter.name] = parameter.schema['default'];
          continue;
        }
        const read = readParameter(parameter, text);
        values[parameter.name] = read.value;
        faults.push(...read.faults);
      }
      if (place === 'query') {
        for (const name of given.keys()) {
          if (!parameters.some((parameter) => parameter.name === name)) {
            faults.push({ parameter: name.slice(0, 100), detail: 'is not a parameter of this operation' });
          }
        }
      }
      if (faults.length > 0) throw faulty('A parameter is invalid', faults);
      return values;
    },
    /**
     * Validates the body and fills in defaults. Throws `malformed` with a pointer to each fault; for
     * a body of more than `small` bytes, only to the first.
     */
    checkBody({ body }: DescribedOperation, value: unknown, size: number): void {
      const ajv = size > small ? (first ??= validating(false)) : all;
      const validate = compile(ajv, body!.pointer);
      if (validate(value)) return;
      throw faulty('The body is invalid', faultsIn(validate.errors ?? [], value));
    },
  };
}

/** A copy of the description in which named schemas also check their form. */
function withForms(document: DescribedSchema): DescribedSchema {
  const components = document['components'] as { schemas: Record<string, DescribedSchema> };
  const schemas = { ...components.schemas };
  for (const name of Object.keys(formats)) if (name in schemas) schemas[name] = { ...schemas[name], format: name };
  return { ...document, components: { ...components, schemas } };
}

/**
 * Converts a parameter to its schema's type; returns the text if that is impossible. `?name` alone
 * means true.
 */
function readText(type: unknown, text: string): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && ['', 'true', 'false'].includes(text)) return text !== 'false';
  return text;
}

function faulty(what: string, faults: readonly Fault[]): RegistryError {
  const [first] = faults;
  const place = first!.parameter ?? (first!.pointer || 'the body');
  return malformed(`${what}: ${place} ${asSentence(first!.detail)}`, { extra: { errors: faults.slice(0, maxFaults) } });
}
