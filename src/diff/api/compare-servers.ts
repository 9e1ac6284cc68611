import { reportPart } from './report-part.ts';
import type { Operation } from './pair-operations.ts';
import { serversOf } from './operation-parts.ts';
import type { Unit, Walk } from '../walk.ts';

/**
 * Compares the URLs under which an operation is served. Clients are configured with one of them: a
 * list that has none of the old ones breaks them all.
 */
export function compareServers(walk: Walk, parent: Unit, before: Operation, after: Operation): void {
  const [old, current] = [serversOf(walk.before, before), serversOf(walk.after, after)];
  const strip = ({ urls }: { urls: string[] }) => urls.map((url) => url.replace(/\/$/, ''));
  const [from, to] = [strip(old), strip(current)];
  if (from.join('\n') === to.join('\n')) return;
  walk.below(parent, `servers ${old.pointer} | ${current.pointer} | ${from.join()} | ${to.join()}`, (unit) => {
    const at = { before: old.pointer, after: current.pointer };
    const removed = from.filter((url) => !to.includes(url));
    const added = to.filter((url) => !from.includes(url));
    const isReplaced = removed.length === from.length && from.length > 0 && to.length > 0;
    if (isReplaced) {
      const message = `The servers are ${to.join(', ')} instead of ${from.join(', ')}.`;
      return reportPart(unit, 'breaking', 'servers-replaced', message, {
        before: from.join(', '),
        after: to.join(', '),
        at,
      });
    }
    for (const url of removed)
      reportPart(unit, 'risky', 'server-removed', `The server ${url} was removed.`, { before: url, at });
    for (const url of added)
      reportPart(unit, 'safe', 'server-added', `The server ${url} was added.`, { after: url, at });
  });
}
