import { parseJson } from '../../model/json.ts';
import { asTitle } from '../../model/states.ts';
import {
  ownDescription,
  resolveInDescription,
  type DescribedOperation,
  type DescribedSchema,
} from './api-description.ts';

/** A field of a form. */
export interface Field {
  /** JSON Pointer into the body: `/status/reason`; a query parameter: `?force`. */
  name: string;
  label: string;
  hint?: string;
  kind: 'line' | 'text' | 'yaml' | 'select' | 'check' | 'checks' | 'lines' | 'date' | 'document' | 'file' | 'password';
  options?: readonly { value: string; text: string; hint?: string }[];
  isRequired?: boolean;
  /** Whether empty means null; else it is left out. */
  isNullable?: boolean;
  /** What a text stands for, if that is not the text: of options, and of YAML without any. */
  values?: Readonly<Record<string, unknown>>;
  placeholder?: string;
  /** Lines of a long text. */
  rows?: number;
  maxLength?: number;
  /** What a new form starts with. */
  initial?: string | readonly string[];
  write?: (value: unknown) => string;
}

/** What was typed into the fields, by their names. */
export type Typed = Readonly<Record<string, readonly string[]>>;

/** Reads a text that stands for more than a text, for the field of this name. Throws `malformed`. */
export type ReadText = (text: string, name: string) => unknown;

/** The body that is asked for: what was typed into its fields, and what is fixed. Throws what `read` does. */
export function bodyFrom(
  fields: readonly Field[],
  typed: Typed,
  fixed: object = {},
  read: ReadText = parseJson,
): Record<string, unknown> {
  const body = structuredClone(fixed) as Record<string, unknown>;
  for (const field of fields) {
    if (!field.name.startsWith('/')) continue;
    const value = valueOf(field, typed[field.name] ?? [], read);
    if (value !== undefined) put(body, field.name.slice(1).split('/'), value);
  }
  return body;
}

/** The query parameters that a form asks for. */
export function queryFrom(fields: readonly Field[], typed: Typed): Record<string, string> {
  const given = fields.filter(({ name }) => name.startsWith('?') && (typed[name]?.[0] ?? '') !== '');
  return Object.fromEntries(given.map(({ name }) => [name.slice(1), typed[name]![0]!]));
}

function valueOf(
  { name, kind, isNullable = false, values = {} }: Field,
  typed: readonly string[],
  read: ReadText,
): unknown {
  const [first = ''] = typed;
  if (kind === 'yaml') return first.trim() === '' ? values[''] : read(first, name);
  if (kind === 'check') return first !== '';
  if (kind === 'checks') return typed.length === 0 && isNullable ? null : typed;
  if (kind === 'lines') {
    const lines = typed
      .join('\n')
      .split(/[\n,]/)
      .flatMap((line) => line.trim() || []);
    return lines.length === 0 && isNullable ? null : lines;
  }
  const text = kind === 'text' ? first : first.trim();
  if (text === '' && kind !== 'text') return isNullable ? null : undefined;
  if (kind === 'date') return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  return Object.hasOwn(values, text) ? values[text] : text;
}

function put(body: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (rest.length === 0) body[name!] = value;
  else put((body[name!] ??= {}) as Record<string, unknown>, rest, value);
}

/** Texts for people that differ from the schema's `description`: the extension `x-form`. */
interface FormTexts {
  label?: string;
  /** Default: the `description`. Empty: none. */
  hint?: string;
  placeholder?: string;
  /** What it means to leave the field empty. */
  empty?: string;
  /** By value, in the order in which they are offered. Of values that can be chosen together, what each means. */
  options?: Readonly<Record<string, string>>;
  initial?: string | string[];
  rows?: number;
}

/**
 * A member of an operation's body by its JSON Pointer, as the management API describes it. `isChange`: the form starts
 * with what is stored, so a text that must not be empty is required.
 */
export function describedField({ body }: DescribedOperation, name: string, isChange: boolean): Field {
  let parent: DescribedSchema = {};
  let schema: DescribedSchema = { $ref: `#${body!.pointer}` };
  for (const key of name.slice(1).split('/')) {
    parent = objectWith(schema, key);
    schema = (parent['properties'] as Record<string, DescribedSchema>)[key]!;
  }
  const isRequired = ((parent['required'] ?? []) as string[]).includes(name.split('/').at(-1)!);
  // A member of an object in the body may be left out: the object is sent whole.
  return fieldOf(name, flatten(schema), isRequired, isChange && name.lastIndexOf('/') === 0);
}

/** A query parameter of an operation, such as `?force`; null if the operation has none of that name. */
export function describedParameter({ parameters }: DescribedOperation, name: string): Field | null {
  const parameter = parameters.find((each) => each.name === name.slice(1));
  return parameter ? fieldOf(name, { ...parameter.schema, ...parameter }, false, false) : null;
}

/** The schema without references. Keywords beside a reference win. */
function resolve(schema: DescribedSchema): DescribedSchema {
  if (schema['$ref'] === undefined) return schema;
  const { $ref: _, ...own } = schema;
  const target = resolve(resolveInDescription(ownDescription().document, schema) as DescribedSchema);
  return { ...target, ...own, 'x-form': { ...(target['x-form'] as object), ...(own['x-form'] as object) } };
}

/** The alternative of a schema that has this member. */
function objectWith(schema: DescribedSchema, key: string): DescribedSchema {
  const whole = resolve(schema);
  const alternatives = (whole['oneOf'] as DescribedSchema[] | undefined)?.map(resolve) ?? [whole];
  return alternatives.find(({ properties }) => Object.hasOwn((properties ?? {}) as object, key))!;
}

/** `T or null` as one schema with the types of both. */
function flatten(schema: DescribedSchema): DescribedSchema {
  const whole = resolve(schema);
  const alternatives = (whole['anyOf'] as DescribedSchema[] | undefined)?.map(resolve);
  if (alternatives === undefined) return whole;
  const value = alternatives.find(({ type }) => type !== 'null')!;
  const texts = { ...(value['x-form'] as object), ...(whole['x-form'] as object) };
  const { anyOf: _, ...own } = whole;
  return { ...value, ...own, type: [value['type'] ?? [], 'null'].flat(), 'x-form': texts };
}

function fieldOf(name: string, schema: DescribedSchema, isRequired: boolean, isChange: boolean): Field {
  const types = [schema['type'] ?? []].flat();
  const items = resolve((schema['items'] ?? {}) as DescribedSchema);
  const texts: FormTexts = { ...(items['x-form'] as object), ...(schema['x-form'] as object) };
  const values = (schema['enum'] ?? items['enum'] ?? []) as (string | null)[];
  const isNullable = types.includes('null') || values.includes(null);
  const kind = kindOf(types, schema, values, texts);
  const mustStay = isChange && !isNullable && Number(schema['minLength'] ?? 0) > 0;
  const { label = labelFrom(name), hint = schema['description'] as string | undefined, rows } = texts;
  const [example] = (schema['examples'] ?? items['examples'] ?? []) as string[];
  const placeholder = texts.empty ?? texts.placeholder ?? (kind === 'date' ? undefined : example);
  const initial = texts.initial ?? (schema['default'] === undefined ? undefined : initialOf(schema['default']));
  return {
    name,
    label,
    kind,
    ...(hint && { hint: hint.replaceAll('`', '') }),
    ...(isNullable && { isNullable }),
    ...((isRequired || mustStay) && { isRequired: true }),
    ...(schema['maxLength'] !== undefined && { maxLength: schema['maxLength'] as number }),
    ...(placeholder !== undefined && { placeholder }),
    ...(rows !== undefined && { rows }),
    ...(initial !== undefined && { initial }),
    ...(kind === 'select' || kind === 'checks' ? choicesOf(kind, values, texts, isNullable) : {}),
    ...(kind === 'yaml' && { values: { '': isNullable ? null : types.includes('array') ? [] : {} } }),
    ...(types.includes('boolean') && kind === 'select' && { values: { true: true, false: false } }),
    ...(types.includes('integer') && {
      values: Object.fromEntries(Object.keys(texts.options ?? {}).map((value) => [value, Number(value)])),
    }),
  };
}

function kindOf(
  types: readonly unknown[],
  schema: DescribedSchema,
  values: readonly unknown[],
  { options, rows }: FormTexts,
): Field['kind'] {
  const isLists = types.includes('array');
  if (rows !== undefined && (isLists || types.includes('object'))) return 'yaml';
  if (isLists) return values.length > 0 ? 'checks' : 'lines';
  if (values.length > 0 || options !== undefined) return 'select';
  if (types.includes('boolean')) return 'check';
  if (schema['format'] === 'date-time') return 'date';
  const isLong = Number(schema['maxLength'] ?? 0) >= 1000 && !schema['pattern'] && !schema['minLength'];
  return isLong ? 'text' : 'line';
}

function choicesOf(
  kind: 'select' | 'checks',
  values: readonly (string | null)[],
  { options = {}, empty = 'none' }: FormTexts,
  isNullable: boolean,
): Pick<Field, 'options'> {
  const all = Object.keys(options).length > 0 ? Object.keys(options) : values.filter((value) => value !== null);
  if (kind === 'checks')
    return { options: all.map((value) => ({ value, text: value, ...(options[value] && { hint: options[value] }) })) };
  const chosen = all.map((value) => ({ value, text: options[value] ?? value }));
  return { options: isNullable ? [{ value: '', text: empty }, ...chosen] : chosen };
}

function initialOf(value: unknown): string {
  return value === true ? 'yes' : value === false ? '' : String(value);
}

/** `/status/reason`: Reason. */
function labelFrom(name: string): string {
  return asTitle(name.split(/[/?]/).at(-1)!);
}
