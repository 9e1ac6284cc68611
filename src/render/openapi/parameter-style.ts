import { own, isObject } from '../../model/json.ts';
import { entriesOf, objectOf, textOf } from '../json-value.ts';
import type { Parameter } from './operation-view.ts';

/**
 * How a parameter is written in a request (RFC 6570, and what OpenAPI adds to it). Values inside of
 * lists and objects are JSON unless they are texts.
 */

/** How the items of a list are joined. Null: each is a parameter of its own. */
type Joint = string | null;

const oldJoints: Readonly<Record<string, Joint>> = { ssv: '%20', tsv: '%09', pipes: '%7C', multi: null };
const joints: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

interface Style {
  style: string;
  isExploded: boolean;
  joint: Joint;
  encode(value: unknown): string;
}

function styleOf({ place, from }: Parameter): Style {
  const style = textOf(from['style']) || (place === 'query' || place === 'cookie' ? 'form' : 'simple');
  const isOld = from['schema'] === undefined && from['content'] === undefined;
  const old = own(oldJoints, textOf(from['collectionFormat'])) ?? ',';
  const isMulti = from['collectionFormat'] === 'multi';
  const isExploded = isOld ? isMulti : (from['explode'] ?? style === 'form') === true;
  const joint = isExploded ? null : isOld ? old : (own(joints, style) ?? ',');
  return { style, isExploded, joint, encode: from['allowReserved'] === true ? encodeSome : encode };
}

/** `name=value`, as often as the style wants it, joined with `&`. */
export function queryText(parameter: Parameter, value: unknown): string {
  const { style, joint, encode: write } = styleOf(parameter);
  const name = encode(parameter.name);
  const isJson = parameter.from['content'] !== undefined;
  if (parameter.place === 'querystring') return isObject(value) ? pairs(value, '=', '&', write) : write(value);
  if (isJson || typeof value !== 'object' || value === null) return `${name}=${write(value)}`;
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
export function memberText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value);
}

function encode(value: unknown): string {
  return encodeURIComponent(memberText(value).toWellFormed());
}

/** Percent-encodes a text for a query, but keeps reserved characters that mean nothing there. */
function encodeSome(value: unknown): string {
  return encode(value).replace(/%(?:3A|2F|3F|40|24|2C|3B)/g, decodeURIComponent);
}

/** The fields of a property of a form, by its encoding. */
export function formFields(name: string, value: unknown, encoding: unknown): [string, string][] {
  const { style, explode } = objectOf(encoding);
  if (Array.isArray(value) && explode !== false) return value.map((item) => [name, memberText(item)]);
  if (Array.isArray(value))
    return [
      [name, value.map(memberText).join(style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',')],
    ];
  if (style === 'deepObject' && isObject(value))
    return entriesOf(value).map(([key, member]) => [`${name}[${key}]`, memberText(member)]);
  return [[name, memberText(value)]];
}
