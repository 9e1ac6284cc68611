import { reportPart, reportTexts } from './report-part.ts';
import { shapeOf, textAt, type Operation } from './operations.ts';
import { coversUrl, serversOf, type Server } from './servers.ts';
import { itemsOf, memberOf, membersOf, type Place } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';

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
  walk.below(
    parent,
    `servers ${old.pointer} | ${current.pointer} | ${isMoved ? `${from} ${to}` : ''} | ${key}`,
    (unit) => {
      walk.spend((old.servers.length * current.servers.length) / 10);
      compareUrls(unit, sets.old, sets.current, at);
    },
  );
}

function compareUrls(
  unit: Unit,
  old: readonly Server[],
  current: readonly Server[],
  at: { before: string; after: string },
): void {
  const isStated = (servers: readonly Server[]) => servers.some(({ url }) => url !== '');
  const removed = isStated(old) ? old.filter(({ url }) => !current.some((other) => coversUrl(other.url, url))) : [];
  const added = isStated(current) ? current.filter(({ url }) => !old.some((one) => coversUrl(one.url, url))) : [];
  const isThere = ({ url }: Server) => current.some((other) => coversUrl(url, other.url) || isRelated(url, other.url));
  const names = (servers: readonly Server[]) => [...new Set(servers.map(({ written }) => written))].join(', ');
  if (removed.length === old.length && isStated(current) && !removed.some(isThere)) {
    const [before, after] = [names(old), names(current)];
    return reportPart(unit, 'breaking', 'servers-replaced', `The servers are ${after} instead of ${before}.`, {
      before,
      after,
      at,
    });
  }
  for (const server of removed) {
    const says = isThere(server) ? 'is no longer stated as such' : 'was removed';
    reportPart(unit, 'risky', 'server-removed', `The server ${server.written} ${says}.`, {
      before: server.written,
      at,
    });
  }
  for (const { written } of added)
    reportPart(unit, 'safe', 'server-added', `The server ${written} was added.`, { after: written, at });
  if (removed.length + added.length === 0) compareWritten(unit, old, current, at);
}

/** Compares the defaults of variables, and slashes at the end. */
function compareWritten(
  unit: Unit,
  old: readonly Server[],
  current: readonly Server[],
  at: { before: string; after: string },
): void {
  const [from, to] = [old, current].map((servers) => servers.filter(({ isDefault }) => isDefault));
  for (const { url, written, template } of from!) {
    const other = to!.find((one) => one.template === template) ?? to!.find((one) => one.url === url);
    if (other === undefined && !current.some((one) => one.url === url)) {
      const message = `The server ${written} is only one of those with variables.`;
      reportPart(unit, 'safe', 'server-removed', message, { before: written, at });
    }
    if (other === undefined || other.written === written) continue;
    const details = { before: written, after: other.written, at };
    if (other.url !== url) {
      const message = `By default, the server ${template} is ${other.written} instead of ${written}.`;
      reportPart(unit, 'risky', 'server-default-changed', message, details);
    } else if (url !== '' && written.endsWith('/') !== other.written.endsWith('/')) {
      const message = `The server is written ${other.written} instead of ${written}.`;
      reportPart(unit, 'safe', 'server-written', message, details);
    }
  }
  for (const { url, written, template } of to!)
    if (!from!.some((one) => one.template === template) && !old.some((one) => one.url === url))
      reportPart(unit, 'safe', 'server-added', `The server ${written} was one of those with variables.`, {
        after: written,
        at,
      });
}

/** Whether one of two URLs is the other one without scheme and host. */
function isRelated(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.startsWith('/') && !short.startsWith('//') && long.includes('//') && long.endsWith(short);
}

/** Compares what people read about servers that are written in the same way. */
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
