import { Command } from 'commander';
import { verify } from '../registry/verify.ts';
import { requireCoordinate, withRegistry, type CommonOptions } from './context.ts';
import { complain, print, withProgress } from './output.ts';

/** `stele verify COORDINATE`: derives a version again from its commit and compares. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('Derive a version again from its commit and compare the two.')
    .argument('<coordinate>', '@org/type/slug[@version]')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { coordinate, selector } = requireCoordinate(name);
      const { json } = command.optsWithGlobals<CommonOptions>();
      const verified = await withRegistry(command, (registry) =>
        withProgress(`Verifying ${name}`, () => verify(registry, coordinate, selector)),
      );
      const { outcome, version, published, derived, compilers } = verified;
      if (json) print(JSON.stringify(verified));
      else print(`${outcome} ${verified.coordinate}@${version} ${published}`);
      if (outcome === 'recoded')
        complain(`Same document, packed by another compiler: ${compilers[0]} published it, this is ${compilers[1]}.`);
      if (outcome === 'different') {
        complain(derived === null ? 'The commit gives a document that is refused.' : `The commit gives ${derived}.`);
        process.exitCode = 1;
      }
    });
}
