import { Command } from 'commander';
import type { Coordinate } from '../model/address.ts';
import { connectionState } from '../model/connection.ts';
import { RegistryError } from '../model/errors.ts';
import { nameOf, resourceRef, type Resource } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { FollowedRepository } from '../sync/owners/describe-followed.ts';
import { openRegistryAt, type RegistryClient } from './registry-client.ts';
import { requireCoordinate, withStore, type CommonOptions } from './command-context.ts';
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
      const { json = false, registry: url } = command.optsWithGlobals<CommonOptions & { registry?: string }>();
      const show = (trail: Trail) => printTrail(trail, coordinate, json);
      if (url === undefined) return withStore(command, (opened) => show(trailHere(opened, coordinate)));
      return show(trailAt(await openRegistryAt(url, coordinate.org), coordinate));
    });
}

/** What is known of a resource, in the data folder or in a running registry. */
interface Trail {
  changes: AsyncIterable<Change>;
  /** Null: it has no connection. */
  connection(): Promise<Standing | null>;
  /** Those of its organization. */
  repositories(): Promise<FollowedRepository[]>;
}

function trailHere(registry: Registry, coordinate: Coordinate): Trail {
  return {
    changes: registry.refs.history<Resource>(resourceRef(coordinate)),
    connection: () => connectionOf(registry, coordinate),
    async repositories() {
      const { describeRepositories } = await import('../sync/owners/describe-followed.ts');
      return describeRepositories(registry, coordinate.org);
    },
  };
}

function trailAt(registry: RegistryClient, { type, slug }: Coordinate): Trail {
  return {
    changes: registry.demandAll<Change>(`/v1/audit?resource=${encodeURIComponent(`${type}/${slug}`)}&`),
    async connection() {
      const { status, body } = await registry.ask('GET', `/v1/${type}/${slug}/connection`);
      return status === 200 ? standingOf(body as unknown as Standing) : null;
    },
    repositories: () => Array.fromAsync(registry.demandAll<FollowedRepository>('/v1/repositories?')),
  };
}

async function printTrail(trail: Trail, coordinate: Coordinate, json: boolean): Promise<void> {
  const changes: Change[] = [];
  let count = 0;
  for await (const { generation, at, actor, origin, action } of trail.changes) {
    count++;
    if (json) changes.push({ generation, at, actor, origin, action });
    else print([generation, at, actor, origin ?? '-', action].join('\t'));
  }
  if (count === 0) return printRejected(await trail.repositories(), nameOf(coordinate), json);
  const connection = await trail.connection();
  if (json) printJson({ changes, connection });
  else if (connection !== null) complain(formatStanding(connection));
}

/** Prints why a resource of which nothing was ever published is not there. Throws `not_found` if no repository has it. */
function printRejected(repositories: readonly FollowedRepository[], name: string, json: boolean): void {
  const all = repositories.flatMap(({ repository, rejected = [] }) =>
    rejected.map((document) => ({ repository, ...document })),
  );
  const rejected = all.find(({ resource }) => resource === name);
  if (rejected === undefined) throw new RegistryError('not_found', `${name} does not exist.`);
  process.exitCode = 1;
  if (json) return printJson({ changes: [], connection: null, rejected });
  const { outcome, repository, path, since, detail } = rejected;
  print([outcome, since ?? '-', `${repository} ${path}`, detail ?? '-'].join('\t'));
  complain(`No version of ${name} was published yet.`);
}

/** Returns the state of the resource's connection; null without a connection. */
async function connectionOf(registry: Registry, coordinate: Coordinate): Promise<Standing | null> {
  const { findResource } = await import('../registry/lives.ts');
  const resource = await findResource(registry, coordinate);
  if (!resource?.connection) return null;
  const { connection } = resource;
  const { readConnection } = await import('../sync/connect.ts');
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  return standingOf(connectionState(repository?.value ?? null, document));
}

type Standing = Pick<ReturnType<typeof connectionState>, 'state' | 'detail' | 'since'>;

/** Keeps only the three members that are printed. */
function standingOf({ state, detail, since }: Standing): Standing {
  return { state, detail, since };
}

function formatStanding({ state, detail, since }: Standing): string {
  const why = detail === null ? '' : `: ${detail}`;
  return `connection ${shownState(state).text}${since === null ? '' : ` since ${since}`}${why}`;
}
