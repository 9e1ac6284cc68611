import { own, isObject } from '../../model/json.ts';
import { entriesOf, objectOf, textOf, dereference } from '../json-value.ts';
import type { Example } from '../schema/example.ts';
import { type Parameter, isJson, type Media } from './operation-view.ts';
import { sampleOf, smallIn } from '../schema/sample-value.ts';
import type { Schemas } from '../schema/schemas.ts';
import { xmlSample } from '../schema/xml-sample.ts';

/**
 * How a parameter is written in a request (RFC 6570, and what OpenAPI adds to it). Values inside of
 * lists and objects are JSON unless they are texts.
 */

/** How the items of a list are joined. Null: each is a parameter of its own. */
type Joint = string | null;

const oldJoints: Readonly<Record<string, Joint>> = { ssv: '%20', tsv: '%09', pipes: '%7C', multi: null };
const joints: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

function styleOf({ place, from }: Parameter) {
  const style = textOf(from['style']) || (place === 'query' || place === 'cookie' ? 'form' : 'simple');
  const isOld = from['schema'] === undefined && from['content'] === undefined;
  const old = own(oldJoints, textOf(from['collectionFormat'])) ?? ',';
  const isMulti = from['collectionFormat'] === 'multi';
  const isExploded = isOld ? isMulti : (from['explode'] ?? style === 'form') === true;
  const joint: Joint = isExploded ? null : isOld ? old : (own(joints, style) ?? ',');
  return { style, isExploded, joint, encode: from['allowReserved'] === true ? encodeSome : encode };
}

/** `name=value`, as often as the style wants it, joined with `&`. */
export function queryText(parameter: Parameter, value: unknown): string {
  const { style, joint, encode: write } = styleOf(parameter);
  const name = encode(parameter.name);
  const isContent = parameter.from['content'] !== undefined;
  if (parameter.place === 'querystring') return isObject(value) ? pairs(value, '=', '&', write) : write(value);
  if (isContent || typeof value !== 'object' || value === null) return `${name}=${write(value)}`;
  if (Array.isArray(value))
    return joint === null
      ? value.map((item) => `${name}=${write(item)}`).join('&')
      : `${name}=${value.map(write).join(joint)}`;
  if (style === 'deepObject')
    return entriesOf(value)
      .map(([key, member]) => `${encode(`${parameter.name}[${key}]`)}=${write(member)}`)
      .join('&');
  return joint === null ? pairs(value, '=', '&', write) : `${name}=${pairs(value, joint, joint, write)}`;
}

/** A parameter as text in the path. */
export function pathText(parameter: Parameter, value: unknown): string {
  const { style, isExploded, joint, encode: write } = styleOf(parameter);
  const name = encode(parameter.name);
  const between = joint ?? ',';
  if (style === 'matrix') {
    if (!isExploded || typeof value !== 'object' || value === null) return `;${name}=${joined(value, between, write)}`;
    return Array.isArray(value)
      ? value.map((item) => `;${name}=${write(item)}`).join('')
      : `;${pairs(value, '=', ';', write)}`;
  }
  if (style === 'label') {
    const point = isExploded ? '.' : ',';
    return `.${isObject(value) && isExploded ? pairs(value, '=', point, write) : joined(value, point, write)}`;
  }
  return isObject(value) && isExploded ? pairs(value, '=', ',', write) : joined(value, between, write);
}

/** A parameter as text in a header or a cookie, which are not encoded. */
export function plainText(parameter: Parameter, value: unknown): string {
  if (parameter.from['content'] !== undefined && typeof value !== 'string') return JSON.stringify(value);
  const { isExploded } = styleOf(parameter);
  const isPairs = isObject(value) && isExploded && parameter.place === 'header';
  return isPairs ? pairs(value, '=', ',', memberText) : joined(value, ',', memberText);
}

function joined(value: unknown, joint: string, write: (value: unknown) => string): string {
  if (Array.isArray(value)) return value.map(write).join(joint);
  return isObject(value) ? pairs(value, joint, joint, write) : write(value);
}

function pairs(value: unknown, equals: string, joint: string, write: (value: unknown) => string): string {
  return entriesOf(value)
    .map(([key, member]) => `${write(key)}${equals}${write(member)}`)
    .join(joint);
}

/** A value in a list or an object: a text as it is, anything else as JSON. */
function memberText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value);
}

function encode(value: unknown): string {
  return encodeURIComponent(memberText(value).toWellFormed());
}

/** Percent-encodes a text for a query, but keeps reserved characters that mean nothing there. */
function encodeSome(value: unknown): string {
  return encode(value).replace(/%(?:3A|2F|3F|40|24|2C|3B)/g, decodeURIComponent);
}

function formFields(name: string, value: unknown, encoding: unknown): [string, string][] {
  const { style, explode } = objectOf(encoding);
  if (style === 'deepObject') return deepFields(name, value);
  if (Array.isArray(value) && explode !== false) return value.map((item) => [name, memberText(item)]);
  if (Array.isArray(value))
    return [
      [name, value.map(memberText).join(style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',')],
    ];
  return [[name, memberText(value)]];
}

/** `name[key][0]` for each value in an object or a list: OpenAPI says it of plain members alone, and servers read it so. */
function deepFields(name: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[name, memberText(value)]];
  const members = Array.isArray(value)
    ? value.map((item, at): [string, unknown] => [String(at), item])
    : entriesOf(value);
  return members.flatMap(([key, member]) => deepFields(`${name}[${key}]`, member));
}

/** A field of a form. `file`: the name of the file that it has instead of a value. */
export interface FormField {
  name: string;
  value: string;
  file: string | null;
  /** Media type of the field. Null: text. One without a file is JSON. */
  type: string | null;
}

/** The body of an example request: a JSON value, fields of a form, another text, or a file by its name. */
export type SampleBody =
  | { kind: 'json'; type: string; value: unknown }
  | { kind: 'form'; fields: [string, string][] }
  | { kind: 'multipart'; fields: FormField[] }
  | { kind: 'text'; type: string; text: string }
  | { kind: 'file'; type: string; file: string };

/** The media types of bodies that samples show, best first. */
const order = [isJson, isForm, isMultipart, isXml, isText, () => true];
const kindOf = (type: string): number => order.findIndex((isOne) => isOne(type));

/** A media type of a body that has a sample. */
export interface BodyType {
  media: Media;
  type: string;
}

/** The media types of a body, the easiest first. Those that would have equal samples are one. */
export function bodyTypes(body: readonly Media[] = []): BodyType[] {
  const all = body.flatMap((media) => media.types.map((type) => ({ media, type, kind: kindOf(type) })));
  const one = all.filter(
    (each, at) => all.findIndex(({ media, kind }) => media === each.media && kind === each.kind) === at,
  );
  return one.toSorted((a, b) => a.kind - b.kind);
}

/** The author's examples of a media type. */
export function examplesOf({ media, type }: BodyType): Example[] {
  return media.examples.filter((example) => kindOf(example.type ?? type) === kindOf(type));
}

/** An example body of this media type, with the author's example if there is one. */
export function sampleBody(schemas: Schemas, { media, type: written }: BodyType): SampleBody {
  // Of all types the one that such a schema is about.
  const isAny = written === '*/*' && typeOfFile(dereference(schemas.document, media.schema) ?? {}) === null;
  const type = isAny ? 'application/json' : written;
  const example = smallIn(media.examples)?.value;
  if (isXml(type) || isText(type)) {
    const text = typeof example === 'string' ? example : bodyText(schemas, media, type, example);
    return { kind: 'text', type, text: text ?? 'text' };
  }
  if (isJson(type)) return { kind: 'json', type, value: example ?? sampleOf(schemas, media.schema) };
  if (!isForm(type) && !isMultipart(type)) return { kind: 'file', type, file: fileName(type) };
  const value = isObject(example) ? example : objectOf(sampleOf(schemas, media.schema));
  const encoding = objectOf(media.encoding);
  if (isForm(type))
    return {
      kind: 'form',
      fields: entriesOf(value).flatMap(([name, one]) => formFields(name, one, own(encoding, name))),
    };
  return { kind: 'multipart', fields: fieldsOf(schemas, media, value) };
}

/** What a body of another media type than JSON looks like; null if nobody can tell. */
export function bodyText(schemas: Schemas, { schema }: Media, type: string, value?: unknown): string | null {
  return isXml(type) && schema !== undefined ? xmlSample(schemas, schema, value) : null;
}

/** Fields in the order of the example. Files are those that the schema says are binary. */
function fieldsOf(schemas: Schemas, { schema, encoding }: Media, value: Record<string, unknown>): FormField[] {
  const properties = objectOf(dereference(schemas.document, schema)?.['properties']);
  return entriesOf(value)
    .slice(0, 30)
    .filter(([name]) => /^[^=\p{Cc}]{1,200}$/u.test(name))
    .flatMap(([name, one]): FormField[] => {
      const given = textOf(objectOf(own(objectOf(encoding), name))['contentType'])
        .split(',')[0]!
        .trim();
      const property = dereference(schemas.document, own(properties, name)) ?? {};
      const item = property['type'] === 'array' ? (dereference(schemas.document, property['items']) ?? {}) : property;
      const binary = textOf(item['contentMediaType']) || typeOfFile(item) || typeOfPart(item, given);
      const media = isMediaType(given) ? given : binary;
      if (binary !== null && isMediaType(media ?? ''))
        return [{ name, value: '', file: fileName(media!), type: media }];
      // Each item of a list is a part of its own.
      return (Array.isArray(one) ? one : [one]).map((part) => ({
        name,
        value: memberText(part),
        file: null,
        // A server that is not told reads a part as text (RFC 7578 §4.4).
        type:
          typeof part !== 'object' || part === null
            ? null
            : isJson(given) && isMediaType(given)
              ? given
              : 'application/json',
      }));
    });
}

function typeOfFile({ type, format }: Record<string, unknown>): string | null {
  return type === 'file' || ['binary', 'base64'].includes(textOf(format)) ? 'application/octet-stream' : null;
}

/** In OpenAPI 3.1 a file may have no schema, only the media type of its part. */
function typeOfPart({ type }: Record<string, unknown>, given: string): string | null {
  return type === undefined && /^(?:image|audio|video)\/|\/(?:octet-stream|pdf|zip)$/.test(given) ? given : null;
}

const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'text/csv': 'csv',
  'text/plain': 'txt',
  'audio/mpeg': 'mp3',
};

function fileName(type: string): string {
  return `upload.${own(extensions, type.toLowerCase()) ?? 'bin'}`;
}

/** Whether it is a media type without parameters (RFC 9110 §8.3.1). */
function isMediaType(text: string): boolean {
  return /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,100}$/.test(text);
}

/** Whether it is a media type of XML (RFC 7303). */
function isXml(type: string): boolean {
  return /^(?:application|text)\/(?:[\w.+-]*\+)?xml\b/i.test(type);
}

function isForm(type: string): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(type);
}

function isMultipart(type: string): boolean {
  return /^multipart\/form-data\b/i.test(type);
}

function isText(type: string): boolean {
  return /^text\//i.test(type) || /^application\/(?:yaml|x-ndjson|graphql)\b/i.test(type);
}
