import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { closest, RegistryError } from '../model/errors.ts';
import { isNameOfJavaScript, own } from '../model/json.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../content/schemas/config.json', import.meta.url), 'utf8'),
) as WithDefaults;
const options = {
  discriminator: true,
  useDefaults: true,
  allErrors: true,
  strict: false,
  verbose: true,
  meta: false,
  validateSchema: false,
  // Not worth optimizing: the code checks one object.
  code: { optimize: false },
} as const;
/** By the keys that they check. */
const validators = new Map<string, ValidateFunction>();

interface WithDefaults {
  default?: unknown;
  properties?: Record<string, WithDefaults>;
}

/** Checks a configuration and fills in the defaults of its keys. Throws `malformed`, naming each key. */
export function fillDefaults(value: unknown): Record<string, unknown> {
  const copy = structuredClone(value ?? {}) as Record<string, unknown>;
  const filled = {
    sync: {},
    limits: {},
    quotas: {},
    cache: {},
    rateLimit: {},
    webhooks: {},
    sites: {},
    gc: {},
    pulls: {},
    log: {},
    ...copy,
  };
  const keys = Object.keys(copy);
  assertNames(copy, []);
  if (keys.length > 0) {
    const validate = validators.get(keys.join()) ?? createValidate(keys);
    validators.set(keys.join(), validate);
    if (!validate(copy)) {
      // `required` and `enum` explain better than a discriminator; for a name, the fault in it does.
      const lines = meantErrors(validate.errors ?? [])
        .filter(({ keyword }) => keyword !== 'discriminator' && keyword !== 'propertyNames')
        .map(explainError);
      throw new RegistryError('malformed', `The configuration is invalid: ${[...new Set(lines)].join(' ')}`);
    }
  }
  const whole: Record<string, unknown> = { ...filled, ...copy };
  addDefaults(whole, schema);
  return whole;
}

/**
 * Loads ajv only to check a configuration, and makes the code for these keys alone: either takes
 * longer than many a command. An unknown key needs the others, to say which was meant.
 */
function createValidate(keys: readonly string[]): ValidateFunction {
  const ajv = createRequire(import.meta.url)('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 };
  const { properties } = schema;
  const isKnown = keys.every((key) => Object.hasOwn(properties!, key));
  const allowed = Object.fromEntries(Object.entries(properties!).filter(([key]) => !isKnown || keys.includes(key)));
  return new ajv.Ajv2020(options).compile({ ...schema, properties: allowed });
}

/** Adds the defaults of a schema's properties, as ajv would. */
function addDefaults(value: Record<string, unknown>, { properties = {} }: WithDefaults): void {
  for (const [name, property] of Object.entries(properties)) {
    if (value[name] === undefined && property.default !== undefined) value[name] = structuredClone(property.default);
    const below = value[name];
    if (typeof below === 'object' && below !== null) addDefaults(below as Record<string, unknown>, property);
  }
}

/** Of a value with alternatives, the errors of the one that it comes closest to. */
function meantErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const whole of errors) {
    if (whole.keyword !== 'oneOf') continue;
    const inside = errors.filter(
      ({ schemaPath, instancePath }) =>
        schemaPath.startsWith(`${whole.schemaPath}/`) && `${instancePath}/`.startsWith(`${whole.instancePath}/`),
    );
    const branches = [
      ...Map.groupBy(inside, ({ schemaPath }) => schemaPath.slice(whole.schemaPath.length).split('/')[1]).values(),
    ].sort((one, other) => one.length - other.length);
    if (branches.length > 0) dropped.add(whole);
    for (const error of branches.slice(1).flat()) dropped.add(error);
  }
  return errors.filter((error) => !dropped.has(error));
}

/** Throws `malformed` for a name that every object has, such as `constructor`: a name in a file is a key of an object. */
function assertNames(value: unknown, path: readonly string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, below] of Object.entries(value)) {
    if (!Array.isArray(value) && isNameOfJavaScript(name)) {
      const place = path.join('.') || 'the configuration';
      throw new RegistryError(
        'malformed',
        `The configuration is invalid: ${place} has the key ${JSON.stringify(name)}. Choose another name.`,
      );
    }
    assertNames(below, [...path, name]);
  }
}

/** Keys that are gone, and what to do instead. */
const gone: Readonly<Record<string, string>> = {
  'cache.purge': 'Let a receiver of webhooks.audit purge the CDN.',
  'cache.shared': 'Shared caches keep an answer as long as browsers do.',
  'gc.grace': 'It is a day.',
  'gc.quarantine': 'It is a week.',
  retention: 'Remove it: each kind of record is kept for a fixed time.',
};

/** Formats a validation error as a sentence that names the key. */
function explainError({ instancePath, message, params, parentSchema, propertyName }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll('/', '.') || 'the configuration';
  const key = propertyName === undefined ? place : `${place} has the key ${JSON.stringify(propertyName)}, which`;
  if ('additionalProperty' in params) {
    const written = String(params['additionalProperty']);
    const names = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {});
    const instead = own(gone, [...instancePath.split('/').slice(1), written].join('.'));
    return `${key} has no key ${JSON.stringify(written)}${instead === undefined ? `.${closest(written, names)}` : ` any more. ${instead}`}`;
  }
  const allowed: unknown = params['allowedValues'] ?? ('allowedValue' in params ? [params['allowedValue']] : null);
  if (Array.isArray(allowed)) return `${key} must be ${allowed.map((value) => JSON.stringify(value)).join(' or ')}.`;
  // A regular expression says little to people.
  const example =
    'pattern' in params ? (parentSchema as { examples?: string[] } | undefined)?.examples?.[0] : undefined;
  return `${key} ${example === undefined ? message : `must be written like ${JSON.stringify(example)}`}.`;
}
