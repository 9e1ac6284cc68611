import { isObject, type JsonObject } from '../model/json.ts';
import { storedKinds } from '../model/kinds.ts';

/** A kind of document that Stele does not store, and how to recognize it. */
interface OtherKind {
  /** As in "This is …". */
  name: string;
  /** How the text begins, behind comments. */
  text?: RegExp;
  /** A member of the root. Its value is the version if `hasVersion`. */
  member?: string;
  hasVersion?: true;
  /** What else holds for the root. */
  root?: (root: Readonly<JsonObject>) => boolean;
}

const others: readonly OtherKind[] = [
  { name: 'AsyncAPI', member: 'asyncapi', hasVersion: true },
  { name: 'Arazzo', member: 'arazzo', hasVersion: true },
  { name: 'an OpenAPI Overlay', member: 'overlay', hasVersion: true },
  { name: 'Swagger', member: 'swaggerVersion', hasVersion: true },
  { name: 'OpenRPC', member: 'openrpc', hasVersion: true },
  { name: 'Smithy', member: 'smithy', hasVersion: true },
  { name: 'a Postman collection', member: 'info', root: ({ info }) => isObject(info) && isPostman(info) },
  { name: 'an Insomnia export', member: '__export_format' },
  { name: 'an Insomnia collection', member: 'type', root: ({ type }) => startsWith(type, 'collection.insomnia.rest/') },
  { name: 'a Google discovery document', member: 'discoveryVersion' },
  { name: 'an HTTP archive (HAR)', member: 'log', root: ({ log }) => isObject(log) && Array.isArray(log['entries']) },
  { name: 'the result of a GraphQL introspection', member: '__schema' },
  {
    name: 'the result of a GraphQL introspection',
    member: 'data',
    root: ({ data }) => isObject(data) && '__schema' in data,
  },
  { name: 'an Avro schema', member: 'fields', root: ({ type, fields }) => type === 'record' && Array.isArray(fields) },
  { name: 'a Backstage entity', member: 'apiVersion', root: (root) => startsWith(root['apiVersion'], 'backstage.io/') },
  { name: 'a Kubernetes manifest', member: 'apiVersion', root: ({ kind }) => typeof kind === 'string' },
  { name: 'RAML', text: /^#%RAML\b/ },
  { name: 'API Blueprint', text: /^FORMAT:\s*1A\b/i },
  { name: 'WSDL', text: /^<(?:\w+:)?(?:definitions|description)\b[^>]*\/wsdl\b/ },
  { name: 'WADL', text: /^<(?:\w+:)?application\b[^>]*wadl/ },
  { name: 'an XML schema', text: /^<(?:\w+:)?schema\b[^>]*XMLSchema/ },
  { name: 'OData metadata', text: /^<(?:\w+:)?Edmx\b/ },
  { name: 'HTML', text: /^<(?:!doctype html|html\b)/i },
  { name: 'XML', text: /^<[?!a-z]/i },
  { name: 'Protocol Buffers', text: /^(?:syntax|edition)\s*=\s*["']\w+["']\s*;/ },
  { name: 'Protocol Buffers', text: /^(?:package [\w.]+;|message \w+ \{)/ },
  {
    name: 'GraphQL',
    text: /^(?:extend )?(?:(?:type|interface|input|enum|union) \w+[^:;{=]{0,200}[{=]|scalar \w+\s|directive @\w+|schema\s*\{)/,
  },
  { name: 'TypeSpec', text: /^import "@typespec\// },
];

function startsWith(value: unknown, prefix: string): boolean {
  return typeof value === 'string' && value.startsWith(prefix);
}

function isPostman(info: Readonly<JsonObject>): boolean {
  return '_postman_id' in info || startsWith(info['schema'], 'https://schema.getpostman.com/');
}

/**
 * Names the kind of a document that Stele does not store: "This is AsyncAPI 3.0.0. …". Null if it
 * is unknown. `value`: undefined if the text does not parse.
 */
export function sayOtherKind(text: string, value: unknown): string | null {
  const name = nameOtherKind(text, value);
  return name === null ? null : `This is ${name}. Stele stores ${storedKinds}.`;
}

function nameOtherKind(text: string, value: unknown): string | null {
  if (isObject(value)) {
    const kind = others.find(
      ({ member, root }) => member !== undefined && Object.hasOwn(value, member) && (root?.(value) ?? true),
    );
    if (kind !== undefined) {
      const version = kind.hasVersion === true ? value[kind.member!] : undefined;
      const isShown = (typeof version === 'string' && /^[\w.+-]{1,30}$/.test(version)) || typeof version === 'number';
      return isShown ? `${kind.name} ${version}` : kind.name;
    }
  }
  const start = beginningOf(text);
  return others.find((kind) => kind.text?.test(start) === true)?.name ?? null;
}

/** The longest beginning that is looked at. */
const longest = 4000;

/** Text that may precede the first word: the prolog of XML, and comments. */
const preamble = /^(?:<\?xml[^>]*\?>|<!--.*?-->|\/\/[^\n]*|\/\*.*?\*\/|""".*?"""|#(?!%RAML)[^\n]*)/s;

function beginningOf(text: string): string {
  let start = text.slice(0, longest).trimStart();
  while (preamble.test(start)) start = start.replace(preamble, '').trimStart();
  return start;
}
