import { Command } from 'commander';
import type { Coordinate } from '../model/address.ts';
import { connectionState } from '../model/connection.ts';
import { RegistryError } from '../model/errors.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import { readConnection } from '../sync/connect.ts';
import type { Registry } from '../registry/registry.ts';
import { findResource } from '../registry/find-resource.ts';
import { askRegistry, demandAll } from './registry-client.ts';
import { requireCoordinate, withRegistry, type CommonOptions } from './command-context.ts';
import { complain, print } from './output.ts';

/** One change of a resource, as the ref's history and `GET /v1/audit` tell it. */
interface Change {
  generation: number;
  at: string;
  actor: string;
  origin: string | null;
  action: string;
}

/** `stele log COORDINATE`: the history of a resource's ref, newest first, its chain checked on the way. */
export function logCommand(): Command {
  return new Command('log')
    .description('Print who changed a resource, when, and how.')
    .argument('<coordinate>')
    .option('--registry <url>', 'ask a running registry over HTTP, with the key in STELE_KEY')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { coordinate } = requireCoordinate(name);
      const { json = false, registry } = command.optsWithGlobals<CommonOptions & { registry?: string }>();
      const count =
        registry === undefined
          ? await withRegistry(command, ({ refs }) => tell(refs.history<Resource>(resourceRef(coordinate)), json))
          : await tell(demandAll<Change>(registry, auditPath(coordinate)), json);
      const told =
        registry === undefined
          ? await withRegistry(command, (opened) => connectionOf(opened, coordinate))
          : await connectionAt(registry, coordinate);
      if (told !== null) complain(told);
      if (count === 0) throw new RegistryError('not_found', `There is no ${name}.`);
    });
}

/** How the resource's connection stands, in one line; null where it has none. */
async function connectionOf(registry: Registry, coordinate: Coordinate): Promise<string | null> {
  const resource = await findResource(registry, coordinate);
  if (!resource?.connection) return null;
  const { connection } = resource;
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  return describe(connectionState(repository?.value ?? null, document));
}

/** The same, of a running registry. */
async function connectionAt(registry: string, { type, slug }: Coordinate): Promise<string | null> {
  const { status, body } = await askRegistry(registry, 'GET', `/v1/${type}/${slug}/connection`);
  return status === 200 ? describe(body as unknown as Standing) : null;
}

type Standing = ReturnType<typeof connectionState>;

function describe({ state, detail, since }: Standing): string {
  const why = detail === null ? '' : `: ${detail}`;
  return `connection ${state}${since === null ? '' : ` since ${since}`}${why}`;
}

function auditPath({ type, slug }: Coordinate): string {
  return `/v1/audit?resource=${encodeURIComponent(`${type}/${slug}`)}&`;
}

/** Prints each change on a line; answers how many there were. */
async function tell(changes: AsyncIterable<Change>, json: boolean): Promise<number> {
  let lines = 0;
  for await (const { generation, at, actor, origin, action } of changes) {
    const told = { generation, at, actor, origin, action };
    print(json ? JSON.stringify(told) : [generation, at, actor, origin ?? '-', action].join('\t'));
    lines++;
  }
  return lines;
}
