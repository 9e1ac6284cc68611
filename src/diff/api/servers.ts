import { own, isObject } from '../../model/json.ts';
import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import { itemsOf, memberOf, placeAt, type Place, type Side, membersOf } from '../side.ts';
import { fromItems, textAt, type Operation, shapeOf } from './operations.ts';
import { createTell, reportPart, reportTexts, type Tell } from './report-part.ts';
import type { Pointers } from '../report.ts';
import type { Both, Unit, Walk } from '../walk.ts';

/** One URL under which an operation is served, without its path. */
interface Server {
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
function coversUrl(wide: string, url: string): boolean {
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

/**
 * Compares the URLs under which an operation is served. Clients are configured with one of them: a
 * list that has none of the old ones breaks them all. Where a part of the URLs moved between servers
 * and path, they are compared as a whole.
 */
export function compareServers(walk: Walk, parent: Unit, before: Operation, after: Operation): void {
  const [old, current] = [serversOf(walk.before, before), serversOf(walk.after, after)];
  const [from, to] = [shapeOf(before.path), shapeOf(after.path)];
  const isMoved = from !== to;
  const isSame = old.place && current.place && walk.same(old.place.value, current.place.value);
  if (isSame && !isMoved) return;
  const at = { before: old.pointer, after: current.pointer };
  if (isMoved) {
    const message = `${after.name} was ${before.name}; its servers changed, too, so that its URL is the same.`;
    const places = { before: before.place.pointer, after: after.place.pointer };
    reportPart(parent, 'safe', 'operation-path-moved', message, { before: before.path, after: after.path, at: places });
  }
  const whole = (servers: readonly Server[], path: string) =>
    isMoved ? servers.map((one) => ({ ...one, url: one.url + path, written: one.url + path })) : servers;
  const sets = { old: whole(old.servers, from), current: whole(current.servers, to) };
  const key = [...sets.old, '|', ...sets.current].map((one) => (typeof one === 'string' ? one : one.written)).join();
  if (old.place && current.place && !isSame)
    walk.below(parent, `server texts ${old.pointer} | ${current.pointer}`, (unit) =>
      compareTexts(walk, unit, old.place!, current.place!),
    );
  const moved = isMoved ? `${from} ${to}` : '';
  walk.below(parent, `servers ${old.pointer} | ${current.pointer} | ${moved} | ${key}`, (unit) => {
    walk.spend((old.servers.length * current.servers.length) / 10);
    compareUrls(unit, [sets.old, sets.current], at);
  });
}

function compareUrls(unit: Unit, [old, current]: Both<readonly Server[]>, at: Pointers): void {
  const tell = createTell(unit, { code: 'server', subject: 'The server', at });
  const isStated = (servers: readonly Server[]) => servers.some(({ url }) => url !== '');
  const removed = isStated(old) ? old.filter(({ url }) => !current.some((other) => coversUrl(other.url, url))) : [];
  const added = isStated(current) ? current.filter(({ url }) => !old.some((one) => coversUrl(one.url, url))) : [];
  const isThere = ({ url }: Server) => current.some((other) => coversUrl(url, other.url) || isRelated(url, other.url));
  const names = (servers: readonly Server[]) => [...new Set(servers.map(({ written }) => written))].join(', ');
  if (removed.length === old.length && isStated(current) && !removed.some(isThere)) {
    const [before, after] = [names(old), names(current)];
    const all = createTell(unit, { code: 'servers', subject: 'The servers', at });
    return all('breaking', 'replaced', `are ${after} instead of ${before}`, before, after);
  }
  for (const server of removed) {
    const says = isThere(server) ? 'is no longer stated as such' : 'was removed';
    tell('risky', 'removed', `${server.written} ${says}`, server.written);
  }
  // A document that names none may leave them to its readers, but not those of some operations.
  const judgement = !isStated(old) && at.after?.startsWith('/paths/') === true ? 'risky' : 'safe';
  for (const { written } of added) tell(judgement, 'added', `${written} was added`, null, written);
  if (removed.length + added.length === 0) compareWritten(unit, tell, [old, current], at);
}

/** Compares the defaults of variables, and slashes at the end. */
function compareWritten(unit: Unit, tell: Tell, [old, current]: Both<readonly Server[]>, at: Pointers): void {
  const [from, to] = [old, current].map((servers) => servers.filter(({ isDefault }) => isDefault));
  for (const { url, written, template } of from!) {
    const other = to!.find((one) => one.template === template) ?? to!.find((one) => one.url === url);
    if (other === undefined && !current.some((one) => one.url === url))
      tell('safe', 'removed', `${written} is only one of those with variables`, written);
    if (other === undefined || other.written === written) continue;
    const instead = `${other.written} instead of ${written}`;
    const usual = createTell(unit, { code: 'server', subject: `By default, the server ${template}`, at });
    if (other.url !== url) usual('risky', 'default-changed', `is ${instead}`, written, other.written);
    else if (url !== '' && written.endsWith('/') !== other.written.endsWith('/'))
      tell('safe', 'written', `is written ${instead}`, written, other.written);
  }
  for (const { url, written, template } of to!)
    if (!from!.some((one) => one.template === template) && !old.some((one) => one.url === url))
      tell('safe', 'added', `${written} was one of those with variables`, null, written);
}

/** Whether one of two URLs is the other one without scheme and host. */
function isRelated(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.startsWith('/') && !short.startsWith('//') && long.includes('//') && long.endsWith(short);
}

function compareTexts(walk: Walk, unit: Unit, old: Place, current: Place): void {
  const others = new Map(itemsOf(walk.after, current).map((one) => [textAt(walk.after, one, 'url'), one]));
  for (const before of itemsOf(walk.before, old)) {
    const url = textAt(walk.before, before, 'url');
    const after = others.get(url);
    if (after === undefined) continue;
    const places = { before, after };
    reportTexts(walk, unit, places, { subject: `the server ${url}`, role: 'server', keys: ['name', 'description'] });
    const variables = new Map(membersOf(walk.after, memberOf(walk.after, after, 'variables')));
    for (const [name, variable] of membersOf(walk.before, memberOf(walk.before, before, 'variables'))) {
      const other = variables.get(name);
      const subject = `variable ${JSON.stringify(name)} of the server ${url}`;
      if (other)
        reportTexts(walk, unit, { before: variable, after: other }, { subject, role: 'server', keys: ['description'] });
    }
  }
}
