import {
  ownDescription,
  resolveInDescription,
  type DescribedOperation,
  type DescribedSchema,
} from '../server/v1/api-description.ts';
import type { Field } from './fields.ts';

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
  if (types.includes('array') && rows === undefined) return values.length > 0 ? 'checks' : 'lines';
  if (values.length > 0 || options !== undefined) return 'select';
  if (types.includes('boolean')) return 'check';
  if (schema['format'] === 'date-time') return 'date';
  const isLong = Number(schema['maxLength'] ?? 0) >= 1000 && !schema['pattern'] && !schema['minLength'];
  return rows !== undefined || isLong ? 'text' : 'line';
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
  const last = name.split(/[/?]/).at(-1)!;
  return last.charAt(0).toUpperCase() + last.slice(1);
}
