// What rulesets use of @stoplight/spectral-functions, with its messages.
const { namesOfParts } = require('stele:names');
const { failuresOf } = require('stele:schema');

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const print = (value) => {
  if (value === undefined) return 'undefined';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'Array[]' : 'Object{}';
  return JSON.stringify(value);
};
const subject = '#{{print("property")}}';
// Nothing, and not an empty list: rules of others ask `if (pattern(…))`.
const when = (is, message) => (is ? [{ message }] : undefined);
const both = (one, other) => (one && other ? [...one, ...other] : (one ?? other));

const cases = {
  flat: (d) => `[a-z][a-z${d}]*`,
  camel: (d) => `[a-z][a-z${d}]*(?:[A-Z${d}](?:[a-z${d}]+|$))*`,
  pascal: (d) => `[A-Z][a-z${d}]*(?:[A-Z${d}](?:[a-z${d}]+|$))*`,
  kebab: (d) => `[a-z][a-z${d}]*(?:-[a-z${d}]+)*`,
  cobol: (d) => `[A-Z][A-Z${d}]*(?:-[A-Z${d}]+)*`,
  snake: (d) => `[a-z][a-z${d}]*(?:_[a-z${d}]+)*`,
  macro: (d) => `[A-Z][A-Z${d}]*(?:_[A-Z${d}]+)*`,
};

function regexOf(pattern) {
  if (pattern instanceof RegExp) return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(pattern) ?? [];
  return source === undefined ? new RegExp(pattern) : new RegExp(source, flags.replace(/[gy]/g, ''));
}

function choice(value, { properties }, isExclusive) {
  if (!isObject(value) || properties.length < 2) return;
  const present = Object.keys(value).filter((key) => properties.includes(key));
  if (present.length === 0) {
    const shown = properties.length > 4 ? properties.slice(0, 3) : properties;
    const more = properties.length > 4 ? `" or ${properties.length - 3} other properties` : '"';
    return [{ message: `At least one of "${shown.join('" or "')}${more} must be defined` }];
  }
  return when(isExclusive && present.length > 1, `Just one of "${present.join('" and "')}" must be defined`) ?? [];
}

const compare = (a, b) => {
  if (!Number.isNaN(Number(a)) && !Number.isNaN(Number(b))) return Math.sign(Number(a) - Number(b));
  return typeof a === 'string' && typeof b === 'string' ? a.localeCompare(b) : 0;
};

const functions = {
  truthy: (value) => when(!value, `${subject}must be truthy`),
  falsy: (value) => when(Boolean(value), `${subject}must be falsy`),
  defined: (value) => when(value === undefined, `${subject}must be defined`),
  undefined: (value) => when(value !== undefined, `${subject}must be undefined`),
  pattern(value, { match, notMatch }) {
    if (typeof value !== 'string') return;
    return both(
      when(
        match !== undefined && !regexOf(match).test(value),
        `${print(value)} must match the pattern ${print(String(match))}`,
      ),
      when(
        notMatch !== undefined && regexOf(notMatch).test(value),
        `${print(value)} must not match the pattern ${print(String(notMatch))}`,
      ),
    );
  },
  casing(value, { type, disallowDigits, separator }) {
    if (typeof value !== 'string' || value === '') return;
    if (value.length === 1 && separator?.allowLeading === true && value === separator.char) return;
    const word = cases[type](disallowDigits === true ? '' : '0-9');
    const between = separator?.char === undefined ? null : `[${separator.char.replace(/[\\\]^-]/g, '\\$&')}]`;
    const whole =
      between === null ? word : `${separator.allowLeading === true ? `${between}?` : ''}${word}(?:${between}${word})*`;
    return when(!new RegExp(`^${whole}$`).test(value), `must be ${type} case`);
  },
  enumeration: (value, { values }) =>
    value === undefined || (typeof value === 'object' && value !== null) || values.includes(value)
      ? undefined
      : [{ message: `${print(value)} must be equal to one of the allowed values: ${values.map(print).join(', ')}` }],
  length(value, { min, max }) {
    const size =
      typeof value === 'number'
        ? value
        : typeof value === 'string' || Array.isArray(value)
          ? value.length
          : isObject(value)
            ? Object.keys(value).length
            : null;
    if (size === null) return;
    return both(
      when(size < min, `${subject}must be longer than ${min}`),
      when(size > max, `${subject}must be shorter than ${max}`),
    );
  },
  xor: (value, options) => choice(value, options, true),
  or: (value, options) => choice(value, options, false),
  alphabetical(value, options, context) {
    if (typeof value !== 'object' || value === null) return;
    const keyedBy = options?.keyedBy;
    const listed = Array.isArray(value) ? value : Object.keys(value);
    if (listed.length < 2) return;
    if (keyedBy !== undefined && !listed.every(isObject)) return [{ message: `${subject}must be an object` }];
    const items = keyedBy === undefined ? listed : listed.map((item) => item[keyedBy]);
    if (!items.every((item) => typeof item === 'string' || typeof item === 'number'))
      return [{ message: `${subject}must be one of the allowed types: number, string` }];
    const at = items.findIndex((item, index) => index > 0 && compare(items[index - 1], item) >= 1) - 1;
    if (at < 0) return;
    if (keyedBy !== undefined) return [{ message: 'properties must follow the alphabetical order' }];
    const path = [...(context?.path ?? []), Array.isArray(value) ? at : items[at]];
    return [{ message: `${print(items[at])} must be placed after ${print(items[at + 1])}`, path }];
  },
  typedEnum(value, _options, context) {
    if (!isObject(value) || !Array.isArray(value.enum) || value.type === undefined) return;
    const types = [value.type].flat();
    const allowed = new Set(value.nullable === true || value['x-nullable'] === true ? [...types, 'null'] : types);
    const typeOf = (item) => (item === null ? 'null' : Array.isArray(item) ? 'array' : typeof item);
    return value.enum.flatMap((item, at) =>
      allowed.has(typeOf(item)) || (allowed.has('integer') && Number.isInteger(item))
        ? []
        : [
            {
              message: `Enum value ${print(item)} must be "${[...allowed].join(',')}".`,
              path: [...(context?.path ?? []), 'enum', at],
            },
          ],
    );
  },
  schema(value, { schema, dialect, allErrors }, context) {
    if (value === undefined) return [{ message: `${subject}must exist` }];
    const written = String(dialect ?? schema?.$schema ?? '');
    const draft = /2020-12/.test(written)
      ? '2020-12'
      : /2019-09/.test(written)
        ? '2019-09'
        : /draft-?0?4/.test(written)
          ? '4'
          : '7';
    const { $schema: _, ...rest } = isObject(schema) ? schema : {};
    const failures = failuresOf(isObject(schema) ? rest : schema, value, draft);
    // The innermost say what is wrong.
    const inner = failures.filter(
      (one) => !['properties', 'items', 'allOf', '$ref', 'additionalItems', 'prefixItems'].includes(one.keyword),
    );
    const said = inner.map(({ instanceLocation, error }) => ({
      message: error.replace(/\.$/, ''),
      path: [
        ...(context?.path ?? []),
        ...instanceLocation
          .split('/')
          .slice(1)
          .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')),
      ],
    }));
    return allErrors === true ? said : said.slice(0, 1);
  },
  unreferencedReusableObject(value, { reusableObjectsLocation }, context) {
    if (!isObject(value)) return;
    const used = new Set();
    const seen = new Set();
    const open = [context.documentInventory.unresolved];
    while (open.length > 0) {
      const node = open.pop();
      if (typeof node !== 'object' || node === null || seen.has(node)) continue;
      seen.add(node);
      if (typeof node.$ref === 'string') used.add(node.$ref);
      open.push(...Object.values(node));
    }
    return Object.keys(value)
      .filter(
        (name) => ![...used].some((reference) => `${reference}/`.startsWith(`${reusableObjectsLocation}/${name}/`)),
      )
      .map((name) => ({
        message: 'Potential orphaned reusable object has been detected',
        path: [...context.path, name],
      }));
  },
};

for (const [name, fn] of Object.entries(functions)) {
  exports[name] = (value, options, context) => fn(value, options ?? {}, context);
  namesOfParts.set(exports[name], name);
}
