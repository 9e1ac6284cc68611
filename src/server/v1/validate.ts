import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RegistryError } from '../../model/errors.ts';
import type { Description, Operation, Parameter } from './api-description.ts';

/** One thing that is not as the description says (RFC 9457 §3: an extension). */
export interface Fault {
  /** JSON Pointer into the body. */
  pointer?: string;
  /** Name of a parameter. */
  parameter?: string;
  detail: string;
}

/** Checks requests against the description. */
export interface Validator {
  /** Whether these values of the path's parameters are of their form. */
  isPath(operation: Operation, values: Readonly<Record<string, string>>): boolean;
  /** The parameters of this place, with their defaults; refuses with `malformed`, naming each. */
  readParameters(
    operation: Operation,
    place: 'query' | 'header',
    given: ReadonlyMap<string, string>,
  ): Record<string, unknown>;
  /** Fills in defaults. Refuses with `malformed`, pointing at each fault; of a body of more than `small` bytes at the first alone. */
  checkBody(operation: Operation, value: unknown, size: number): void;
}

const small = 65_536;
const kept = 20;

export function createValidator({ document }: Description): Validator {
  const options = { strict: false, useDefaults: true } as const;
  const [first, all] = [false, true].map((allErrors) => {
    const ajv = new Ajv2020({ ...options, allErrors });
    addFormats.default(ajv);
    return ajv.addSchema(document, 'management');
  }) as [Ajv2020, Ajv2020];
  const compiled = new Map<string, ValidateFunction>();

  function compile(ajv: Ajv2020, pointer: string): ValidateFunction {
    const key = `${ajv === all ? 'all' : 'first'} ${pointer}`;
    const known = compiled.get(key);
    if (known) return known;
    const uri = pointer.split('/').map(encodeURIComponent).join('/');
    const made = ajv.compile({ $ref: `management#${uri}` });
    compiled.set(key, made);
    return made;
  }

  function readParameter(operation: string, parameter: Parameter, text: string): { value: unknown; faults: Fault[] } {
    const value = parameter.schema['type'] === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    const key = `parameter ${operation} ${parameter.in} ${parameter.name}`;
    const known = compiled.get(key);
    const reference = parameter.schema['$ref'];
    const schema = typeof reference === 'string' ? { $ref: `management${reference}` } : parameter.schema;
    const validate = known ?? all.compile(schema);
    compiled.set(key, validate);
    if (validate(value)) return { value, faults: [] };
    const faults = describe(validate.errors ?? []).map(({ detail }) => ({ parameter: parameter.name, detail }));
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
            faults.push({ parameter: name.slice(0, 100), detail: 'there is no such parameter here' });
          }
        }
      }
      if (faults.length > 0) throw faulty('A parameter is not as it must be', faults);
      return values;
    },
    checkBody({ body }, value, size) {
      const validate = compile(size > small ? first : all, body!.pointer);
      if (!validate(value)) throw faulty('The body is not as it must be', describe(validate.errors ?? []));
    },
  };
}

function faulty(what: string, faults: readonly Fault[]): RegistryError {
  const [first] = faults;
  const place = first!.parameter ?? (first!.pointer || 'the body');
  return new RegistryError('malformed', `${what}: ${place}: ${first!.detail}.`, {
    extra: { errors: faults.slice(0, kept) },
  });
}

/** What ajv found, in words. Of alternatives, what is wrong within them is said, and not that none fits. */
function describe(errors: readonly ErrorObject[]): Fault[] {
  const faults = errors.flatMap((error) => {
    const { keyword, instancePath, params } = error;
    if (keyword === 'oneOf' || keyword === 'anyOf' || params['type'] === 'null') return [];
    if (keyword === 'required') return [at(instancePath, params['missingProperty'] as string, 'is missing')];
    if (keyword === 'additionalProperties') {
      return [at(instancePath, params['additionalProperty'] as string, 'is no member of this object')];
    }
    if (keyword === 'enum')
      return [{ pointer: instancePath, detail: `must be one of ${list(params['allowedValues'])}` }];
    if (keyword === 'const')
      return [{ pointer: instancePath, detail: `must be ${JSON.stringify(params['allowedValue'])}` }];
    return [{ pointer: instancePath, detail: error.message ?? keyword }];
  });
  const unique = new Map(faults.map((fault) => [JSON.stringify(fault), fault]));
  if (unique.size > 0) return [...unique.values()];
  return [{ pointer: errors[0]?.instancePath ?? '', detail: 'fits none of the forms that it may have' }];
}

function at(path: string, name: string, detail: string): Fault {
  return { pointer: `${path}/${name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`, detail };
}

function list(values: unknown): string {
  return (values as unknown[]).map((value) => JSON.stringify(value)).join(', ');
}
