import { Command } from 'commander';
import { resourceRef, type Resource } from '../model/resource.ts';
import { RegistryError } from '../model/errors.ts';
import { requireCoordinate, withRegistry, type CommonOptions } from './context.ts';
import { print } from './output.ts';

/** `stele log COORDINATE`: the history of a resource's ref, newest first, its chain checked on the way. */
export function logCommand(): Command {
  return new Command('log')
    .description('Print who changed a resource, when, and how.')
    .argument('<coordinate>')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { coordinate } = requireCoordinate(name);
      const { json } = command.optsWithGlobals<CommonOptions>();
      const count = await withRegistry(command, async (registry) => {
        let lines = 0;
        for await (const { generation, at, actor, origin, action } of registry.refs.history<Resource>(
          resourceRef(coordinate),
        )) {
          print(
            json
              ? JSON.stringify({ generation, at, actor, origin, action })
              : [generation, at, actor, origin ?? '-', action].join('\t'),
          );
          lines++;
        }
        return lines;
      });
      if (count === 0) throw new RegistryError('not_found', `There is no ${name}.`);
    });
}
