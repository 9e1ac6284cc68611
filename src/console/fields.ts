import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'yaml';
import { type RegistryError, malformed } from '../model/errors.ts';
import type { Field, Typed } from '../server/v1/described-field.ts';

/** A field as its template shows it. */
export interface ShownField extends Field {
  id: string;
  value: string;
  selected: readonly string[];
  error: string | null;
  /** Whether it is the first that is wrong, where whoever uses the keyboard goes on. */
  isFirstWrong: boolean;
}

/** The first value of a field; empty, if there is none. */
export function firstOf(typed: Typed, name: string): string {
  return typed[name]?.[0] ?? '';
}

/** What was typed, of a posted form. Files are read as text. */
export async function typedIn(form: FormData): Promise<Typed> {
  const typed = new Map<string, string[]>();
  for (const [name, value] of form) {
    if (typeof value === 'string') typed.set(name, [...(typed.get(name) ?? []), value.replaceAll('\r\n', '\n')]);
    // An empty file input does not hide the text that was pasted, and pictures are not text.
    else if (value.size > 0 && !/^(?:image|font|audio|video)\//.test(value.type)) typed.set(name, [await value.text()]);
  }
  return Object.fromEntries(typed);
}

/** Reads YAML, as a form takes it. Throws `malformed`. */
export function readYaml(text: string, name: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    const [detail] = (error as Error).message.split(/:?\n/);
    const errors = [{ pointer: name, detail: `is no YAML: ${detail}` }];
    throw malformed(`What was typed is no YAML: ${detail}`, { extra: { errors } });
  }
}

/** What a form shows of a record: the members that its fields name. */
export function typedFrom(fields: readonly Field[], record: unknown): Typed {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, values = {}, write }) => {
      if (!name.startsWith('/')) return [];
      const value = name
        .slice(1)
        .split('/')
        .reduce<unknown>((node, key) => (node as Record<string, unknown> | null | undefined)?.[key], record);
      if (value === undefined || value === null) return [];
      if (write) return [[name, [write(value)]]];
      if (kind === 'yaml')
        return [[name, [isDeepStrictEqual(value, values['']) ? '' : stringify(value, { lineWidth: 0 }).trimEnd()]]];
      if (Array.isArray(value)) return [[name, kind === 'lines' ? [value.join('\n')] : value.map(String)]];
      if (kind === 'date') return [[name, [String(value).slice(0, 10)]]];
      const named = Object.entries(values).find(([, each]) => each === value)?.[0];
      return [[name, [named ?? (kind === 'check' && value === false ? '' : String(value))]]];
    }),
  );
}

/** The fields with what was typed, and what is wrong with each. */
export function showFields(
  fields: readonly Field[],
  typed: Typed | null,
  errors: ReadonlyMap<string, string>,
): ShownField[] {
  const wrong = fields.find(({ name }) => errors.has(name));
  return fields.map((field) => {
    const initial = [field.initial ?? []].flat();
    const given = typed === null ? initial : (typed[field.name] ?? []);
    const id = `field-${field.name.replace(/[^a-z0-9]+/gi, '-').replace(/^-/, '')}`;
    return {
      ...field,
      id,
      value: given[0] ?? '',
      selected: given,
      error: errors.get(field.name) ?? null,
      isFirstWrong: field === wrong,
    };
  });
}

/** The faults that an error names, by field: `field` in whole sentences, `errors` in words. The rest of them stand above the form. */
export function faultsIn(error: RegistryError, fields: readonly Field[]): ReadonlyMap<string, string> {
  const { field: only } = error.extra;
  if (typeof only === 'string') return new Map([[only, error.message]]);
  const named = (error.extra['errors'] ?? []) as { pointer?: string; parameter?: string; detail: string }[];
  const messages = new Map<string, string>();
  for (const { pointer, parameter, detail } of named) {
    const at = pointer ?? `?${parameter}`;
    const field = fields.find(({ name }) => at === name || at.startsWith(`${name}/`));
    if (field === undefined || messages.has(field.name)) continue;
    // What a schema says, in words of people.
    const like = field.placeholder ? `, such as ${field.placeholder}` : '';
    const words = ` ${detail}`
      .replace(/^ must match pattern .*/s, ` is not written as it must be${like}`)
      .replace(/^ must NOT have fewer than 1 items$/, ': choose at least one')
      .replace(/[^.?]$/, '$&.');
    const place = field.kind === 'yaml' && at !== field.name ? ` at ${at.slice(field.name.length)}` : '';
    messages.set(field.name, field.label + place + words);
  }
  return messages;
}
