import { Command } from 'commander';
import type { Coordinate } from '../model/address.ts';
import type { connectionState } from '../model/connection.ts';
import { insteadOf, notFound } from '../model/errors.ts';
import { nameOf, resourceRef } from '../model/resource.ts';
import type { FollowedRepository } from '../sync/owners/describe-followed.ts';
import { requireCoordinate, withStore, type CommonOptions } from './command-context.ts';
import { openRegistryAt, type Client } from './registry-client.ts';
import { shownState } from '../model/states.ts';
import { complain, print, printJson } from './output.ts';
import type { Generation } from '../store/records.ts';

/** One change of a resource, as the record's history and `GET /v1/audit` return it. */
type Change = Pick<Generation<unknown>, 'generation' | 'at' | 'actor' | 'origin' | 'action'>;

/**
 * `stele log COORDINATE`: prints the history of a resource, newest first, and verifies its chain.
 */
export function logCommand(): Command {
  return new Command('log')
    .description('Print the history of a resource: who changed what, and when.')
    .argument('<coordinate>', '@org/type/slug')
    .option('--registry <url>', 'URL of a running registry; uses the key in STELE_KEY')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { coordinate } = requireCoordinate(name);
      const { type, slug, org } = coordinate;
      const { json = false, registry: url } = command.optsWithGlobals<CommonOptions & { registry?: string }>();
      if (url !== undefined) {
        const client = await openRegistryAt(url, org);
        const all = client.demandAll<Change>(`/v1/audit?resource=${encodeURIComponent(`${type}/${slug}`)}&`);
        return printTrail(all, client, coordinate, json);
      }
      // From the log itself, whose entries are verified as they are read.
      const { workHere } = await import('./manage/client-here.ts');
      return withStore(command, async (registry) =>
        workHere(registry, org, (client) =>
          printTrail(registry.refs.history(resourceRef(coordinate)), client, coordinate, json),
        ),
      );
    });
}

async function printTrail(
  all: AsyncIterable<Change>,
  { demand, demandAll }: Client,
  { type, slug, org }: Coordinate,
  json: boolean,
): Promise<void> {
  const changes: Change[] = [];
  let count = 0;
  for await (const { generation, at, actor, origin, action } of all) {
    count++;
    if (json) changes.push({ generation, at, actor, origin, action });
    else print([generation, at, actor, origin ?? '-', action].join('\t'));
  }
  if (count === 0) {
    const repositories = await Array.fromAsync(demandAll<FollowedRepository>('/v1/repositories?'));
    return printRejected(repositories, nameOf({ org, type, slug }), json);
  }
  const found = await demand('GET', `/v1/${type}/${slug}/connection`).catch(insteadOf('not_found', null));
  const { state, detail, since } = (found ?? {}) as Standing;
  const connection = found && { state, detail, since };
  if (json) printJson({ changes, connection });
  else if (connection !== null) complain(formatStanding(connection));
}

/** Prints why a resource of which nothing was ever published is not there. Throws `not_found` if no repository has it. */
function printRejected(repositories: readonly FollowedRepository[], name: string, json: boolean): void {
  const all = repositories.flatMap(({ repository, rejected = [] }) =>
    rejected.map((document) => ({ repository, ...document })),
  );
  const rejected = all.find(({ resource }) => resource === name);
  if (rejected === undefined) throw notFound(`${name} does not exist.`);
  process.exitCode = 1;
  if (json) return printJson({ changes: [], connection: null, rejected });
  const { outcome, repository, path, since, detail } = rejected;
  print([outcome, since ?? '-', `${repository} ${path}`, detail ?? '-'].join('\t'));
  complain(`No version of ${name} was published yet.`);
}

type Standing = Pick<ReturnType<typeof connectionState>, 'state' | 'detail' | 'since'>;

function formatStanding({ state, detail, since }: Standing): string {
  const why = detail === null ? '' : `: ${detail}`;
  return `connection ${shownState(state).text}${since === null ? '' : ` since ${since}`}${why}`;
}
