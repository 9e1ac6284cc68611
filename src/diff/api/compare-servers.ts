import { reportPart } from './report-part.ts';
import { shapeOf, type Operation } from './operations.ts';
import { coversUrl, serversOf, type Server } from './servers.ts';
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
  walk.below(
    parent,
    `servers ${old.pointer} | ${current.pointer} | ${isMoved ? `${from} ${to}` : ''} | ${key}`,
    (unit) => compareUrls(unit, sets.old, sets.current, at),
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
  const [before, after] = [from![0]?.written ?? null, to![0]?.written ?? null];
  if (before !== null && after !== null && !from!.some(({ url }) => to!.some((other) => other.url === url))) {
    const message = `By default, the server is ${after} instead of ${before}.`;
    return reportPart(unit, 'risky', 'server-default-changed', message, { before, after, at });
  }
  for (const { url, written } of from!) {
    const other = to!.find((one) => one.url === url);
    if (other === undefined || written.endsWith('/') === other.written.endsWith('/')) continue;
    if (url === '') continue;
    const message = `The server is written ${other.written} instead of ${written}.`;
    reportPart(unit, 'safe', 'server-written', message, { before: written, after: other.written, at });
  }
}

/** Whether one of two URLs is the other one without scheme and host. */
function isRelated(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.startsWith('/') && !short.startsWith('//') && long.includes('//') && long.endsWith(short);
}
