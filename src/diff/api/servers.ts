import { own, isObject } from '../../model/json.ts';
import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import { itemsOf, memberOf, placeAt, type Place, type Side } from '../side.ts';
import { fromItems, textAt, type Operation } from './operations.ts';

/** One URL under which an operation is served, without its path. */
export interface Server {
  /** As it is compared: scheme and host in lower case, without a usual port and a last slash. `{}` is any value. */
  url: string;
  written: string;
  /** Its server as the document has it. */
  template: string;
  /** Whether its variables have their defaults. */
  isDefault: boolean;
}

export interface Servers {
  servers: readonly Server[];
  /** Where they are stated. Null: nowhere, or in OpenAPI 2.0. */
  place: Place | null;
  pointer: string;
}

/** The servers of an operation: its own, its path's, or the document's. Without any, there is one at `/`. */
export function serversOf(side: Side, operation: Operation): Servers {
  const { servers, ...where } =
    side.dialect.name === '2.0' ? swaggerServers(side, operation) : statedServers(side, operation);
  return {
    servers: servers.length > 0 ? servers : [{ url: '', written: '/', template: '/', isDefault: true }],
    ...where,
  };
}

function statedServers(side: Side, operation: Operation): Servers {
  const place =
    memberOf(side, operation.place, 'servers') ?? fromItems(side, operation, 'servers') ?? placeAt(side, ['servers']);
  const servers = itemsOf(side, place).flatMap((server) => {
    const url = textAt(side, server, 'url');
    return url === '' ? [] : writeOut(url, objectOf(objectOf(server.value)['variables']));
  });
  return { servers, place, pointer: place?.pointer ?? '' };
}

function swaggerServers(side: Side, operation: Operation): Servers {
  const [host = '', base = ''] = ['host', 'basePath'].map((key) => textOf(side.document[key]));
  const written = memberOf(side, operation.place, 'schemes') ?? placeAt(side, ['schemes']);
  const stated = listOf(written?.value).map(textOf);
  const schemes = stated.length > 0 || host === '' ? stated : ['https'];
  // Where the host is not said, it is that of the document.
  const urls =
    schemes.length > 0 ? schemes.map((one) => `${one}://${host || '{host}'}${base}`) : [base].filter(Boolean);
  const pointer = host !== '' ? '/host' : base !== '' ? '/basePath' : (written?.pointer ?? '');
  return { servers: urls.flatMap((url) => writeOut(url, {})), place: null, pointer };
}

/** URLs of one server. A list of values that would make more is compared as it is written. */
const maxUrls = 100;

/** The URLs of a server: one for each listed value of its variables. */
function writeOut(template: string, variables: Readonly<Record<string, unknown>>): Server[] {
  let all = [{ url: '', isDefault: true }];
  for (const [part] of template.matchAll(/\{[^{}]*\}|[{}]|[^{}]+/g)) {
    const variable = part.length > 2 && part.startsWith('{') ? own(variables, part.slice(1, -1)) : undefined;
    const standard = isObject(variable) ? textOf(variable['default']) : '';
    const values = isObject(variable) ? [...new Set(listOf(variable['enum']).map(textOf))] : [];
    const add = (text: string, isDefault: boolean) =>
      all.map((one) => ({ url: one.url + text, isDefault: one.isDefault && isDefault }));
    if (!part.startsWith('{')) all = add(part, true);
    else if (values.length === 0) all = [...add('{}', false), ...(standard === '' ? [] : add(standard, true))];
    else if (values.length * all.length > maxUrls) all = add(`{${values.sort().join('|')}}`, false);
    else all = values.flatMap((value) => add(value, value === standard));
  }
  return all.map(({ url, isDefault }) => ({ url: normalUrl(url), written: url, template, isDefault }));
}

const usualPorts: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443' };

function normalUrl(url: string): string {
  const [, scheme = '', host = '', path = url] = /^(?:([a-z][a-z\d+.-]*):)?\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  const short = path.replace(/\/$/, '');
  if (host === '') return short;
  const [kind, name] = [scheme.toLowerCase(), host.toLowerCase()];
  return `${kind}${kind && ':'}//${name.replace(/:(\d+)$/, (end, port) => (own(usualPorts, kind) === port ? '' : end))}${short}`;
}

/** Whether a URL is one of those that another one allows, whose `{}` are any value. */
export function coversUrl(wide: string, url: string): boolean {
  if (wide === url) return true;
  const [first, ...parts] = wide.split('{}');
  if (parts.length === 0 || !url.startsWith(first!)) return false;
  const last = parts.pop()!;
  let at = first!.length;
  for (const part of parts) {
    const found = url.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return url.length - last.length >= at && url.endsWith(last);
}
