import { escapeXml } from '../../model/escape.ts';
import { isObject } from '../../model/json.ts';
import { dereference, entriesOf, listOf, objectOf, textOf } from '../json-value.ts';
import { sampleOf } from './sample-value.ts';
import type { Schemas } from './schemas.ts';

const maxElements = 300;
const deepest = 12;

interface Progress {
  schemas: Schemas;
  left: number;
}

/**
 * A value as XML, with the names, attributes, prefixes and wrappers that its schema says (OpenAPI,
 * "XML object"). `value`: default: one made from the schema. Always well-formed.
 */
export function xmlSample(schemas: Schemas, schema: unknown, value?: unknown): string {
  const shown = value === undefined ? sampleOf(schemas, schema, 'response') : value;
  const progress: Progress = { schemas, left: maxElements };
  const { name } = formOf(schemas, schema, lastName(schema));
  const lines = elements(progress, schema, name, shown, 0);
  const one = lines.filter((line) => !line.startsWith(' ')).length <= 2 && lines.length > 0 && !Array.isArray(shown);
  return ['<?xml version="1.0" encoding="UTF-8"?>', ...(one ? lines : [`<root>`, ...lines, `</root>`])].join('\n');
}

/** The name of a referenced schema, which is that of its element. */
function lastName(schema: unknown): string {
  const reference = textOf(objectOf(schema)['$ref']);
  return reference === '' ? 'root' : reference.slice(reference.lastIndexOf('/') + 1);
}

/** How an element of a schema is written. */
function formOf({ document }: Schemas, schema: unknown, fallback: string) {
  const target = dereference(document, schema) ?? {};
  const { name, prefix, namespace, attribute, wrapped, nodeType } = objectOf(target['xml']);
  const local = xmlName(textOf(name) || fallback);
  const isPrefixed = textOf(prefix) !== '' && xmlName(textOf(prefix)) === prefix;
  const declared = textOf(namespace);
  return {
    target,
    name: isPrefixed ? `${textOf(prefix)}:${local}` : local,
    namespace: declared === '' ? '' : ` xmlns${isPrefixed ? `:${textOf(prefix)}` : ''}="${escapeXml(declared)}"`,
    isAttribute: nodeType === undefined ? attribute === true : nodeType === 'attribute',
    isWrapped: nodeType === undefined ? wrapped === true : nodeType === 'element',
  };
}

/** Characters that no name has become underscores (XML 1.0 §2.3, ASCII only). */
function xmlName(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 100);
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
}

function elements(progress: Progress, schema: unknown, name: string, value: unknown, depth: number): string[] {
  if (progress.left-- <= 0 || depth > deepest) return [];
  const indent = '  '.repeat(depth);
  const { target, namespace, isWrapped } = formOf(progress.schemas, schema, name);
  if (Array.isArray(value)) {
    const item = target['items'];
    const itemName = formOf(progress.schemas, item, name).name;
    const inside = value
      .slice(0, 20)
      .flatMap((one) => elements(progress, item, itemName, one, depth + (isWrapped ? 1 : 0)));
    return isWrapped ? [`${indent}<${name}${namespace}>`, ...inside, `${indent}</${name}>`] : inside;
  }
  if (!isObject(value)) return [`${indent}<${name}${namespace}>${escapeXml(textOf(value))}</${name}>`];
  const properties = propertiesOf(progress.schemas, schema);
  const attributes = new Set<string>();
  const inside = entriesOf(value).flatMap(([key, one]) => {
    const property = properties.get(key);
    const form = formOf(progress.schemas, property, key);
    const isText = typeof one !== 'object' || one === null;
    if (!form.isAttribute || !isText) return elements(progress, property, form.name, one, depth + 1);
    attributes.add(` ${form.name}="${escapeXml(textOf(one))}"`);
    return [];
  });
  const start = `${indent}<${name}${namespace}${[...attributes].join('')}`;
  return inside.length === 0 ? [`${start}/>`] : [`${start}>`, ...inside, `${indent}</${name}>`];
}

function propertiesOf(schemas: Schemas, schema: unknown, depth = 0): Map<string, unknown> {
  const item = dereference(schemas.document, schema) ?? {};
  const parts =
    depth > 3
      ? []
      : [...listOf(item['allOf']), ...listOf(item['oneOf']).slice(0, 1), ...listOf(item['anyOf']).slice(0, 1)];
  const inherited = parts.slice(0, 12).flatMap((part) => [...propertiesOf(schemas, part, depth + 1)]);
  return new Map([...inherited, ...entriesOf(item['properties'])]);
}
