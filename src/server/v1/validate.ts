import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RegistryError } from '../../model/errors.ts';
import type { Description, Operation, Parameter, Schema } from './api-description.ts';
import { explainErrors, type Alternatives, type Fault } from './faults.ts';
import { formats } from './string-formats.ts';

/** Validates requests against the description. */
export interface Validator {
  /** Whether these path parameters have the right form. */
  isPath(operation: Operation, values: Readonly<Record<string, string>>): boolean;
  /** The parameters in this place, with defaults. Throws `malformed` and names each invalid one. */
  readParameters(
    operation: Operation,
    place: 'query' | 'header',
    given: ReadonlyMap<string, string>,
  ): Record<string, unknown>;
  /**
   * Validates the body and fills in defaults. Throws `malformed` with a pointer to each fault; for
   * a body of more than `small` bytes, only to the first.
   */
  checkBody(operation: Operation, value: unknown, size: number): void;
}

const small = 65_536;
const maxFaults = 20;

const validators = new WeakMap<Description, Validator>();

/** Returns the validator of a description. It is made once, because compiling the schemas takes long. */
export function validatorOf(description: Description): Validator {
  const validator = validators.get(description) ?? createValidator(description);
  validators.set(description, validator);
  return validator;
}

function createValidator(description: Description): Validator {
  const document = withForms(description.document);
  const pointers = pointersIn(document);
  const options = { strict: false, useDefaults: true, verbose: true, meta: false, validateSchema: false } as const;
  const [first, all] = [false, true].map((allErrors) => {
    const ajv = new Ajv2020({ ...options, allErrors });
    addFormats.default(ajv);
    for (const [name, { isValid }] of Object.entries(formats)) ajv.addFormat(name, isValid);
    return ajv.addSchema(document, 'management');
  }) as [Ajv2020, Ajv2020];
  const compiled = new Map<string, ValidateFunction>();

  function compile(ajv: Ajv2020, pointer: string): ValidateFunction {
    const key = `${ajv === all ? 'all' : 'first'} ${pointer}`;
    const compiledBefore = compiled.get(key);
    if (compiledBefore) return compiledBefore;
    const uri = pointer.split('/').map(encodeURIComponent).join('/');
    const validate = ajv.compile({ $ref: `management#${uri}` });
    compiled.set(key, validate);
    return validate;
  }

  function alternativesOf(ajv: Ajv2020): Alternatives {
    return {
      document,
      validate(parent, keyword, index, value) {
        const validate = compile(ajv, `${pointers.get(parent)}/${keyword}/${index}`);
        return validate(value) ? [] : (validate.errors ?? []);
      },
    };
  }

  function readParameter(operation: string, parameter: Parameter, text: string): { value: unknown; faults: Fault[] } {
    const value = readText(parameter.schema['type'], text);
    const key = `parameter ${operation} ${parameter.in} ${parameter.name}`;
    const cached = compiled.get(key);
    const reference = parameter.schema['$ref'];
    const schema = typeof reference === 'string' ? { $ref: `management${reference}` } : parameter.schema;
    const validate = cached ?? all.compile(schema);
    compiled.set(key, validate);
    if (validate(value)) return { value, faults: [] };
    const faults = explainErrors(validate.errors ?? [], alternativesOf(all)).map(({ detail }) => ({
      parameter: parameter.name,
      detail,
    }));
    return { value, faults };
  }

  return {
    isPath({ id, parameters }, values) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      return inPath.every((parameter) => readParameter(id, parameter, values[parameter.name]!).faults.length === 0);
    },
    readParameters(operation, place, given) {
      const parameters = operation.parameters.filter((parameter) => parameter.in === place);
      const values: Record<string, unknown> = {};
      const faults: Fault[] = [];
      for (const parameter of parameters) {
        const text = given.get(parameter.name);
        if (text === undefined) {
          if (parameter.schema['default'] !== undefined) values[parameter.name] = parameter.schema['default'];
          continue;
        }
        const read = readParameter(operation.id, parameter, text);
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
    checkBody({ body }, value, size) {
      const ajv = size > small ? first : all;
      const validate = compile(ajv, body!.pointer);
      if (validate(value)) return;
      throw faulty('The body is invalid', explainErrors(validate.errors ?? [], alternativesOf(ajv)));
    },
  };
}

/** A copy of the description in which named schemas also check their form. */
function withForms(document: Schema): Schema {
  const copy = structuredClone(document);
  const { schemas } = copy['components'] as { schemas: Record<string, Schema> };
  for (const name of Object.keys(formats)) schemas[name]!['format'] = name;
  return copy;
}

/** The JSON Pointer of each object in a document. */
function pointersIn(document: Schema): Map<Schema, string> {
  const pointers = new Map<Schema, string>();
  const walk = (node: unknown, pointer: string): void => {
    if (typeof node !== 'object' || node === null) return;
    pointers.set(node as Schema, pointer);
    for (const [key, value] of Object.entries(node)) {
      walk(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    }
  };
  walk(document, '');
  return pointers;
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
  return new RegistryError('malformed', `${what}: ${place} ${first!.detail.replace(/[^?]$/, '$&.')}`, {
    extra: { errors: faults.slice(0, maxFaults) },
  });
}
