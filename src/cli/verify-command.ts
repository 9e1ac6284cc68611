import { Command } from 'commander';
import { formatCoordinate, type Coordinate, type Selector } from '../model/address.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import { findResource } from '../registry/find-resource.ts';
import { verify, type Verified } from '../registry/verify.ts';
import { requireCoordinate, withRegistry, type CommonOptions } from './command-context.ts';
import { complain, print, withProgress } from './output.ts';

/** `stele verify COORDINATE`: derives a version, or all of them, again from its commit and compares. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('Derive a version again from its commit and compare the two.')
    .argument('<coordinate>', '@org/type/slug[@version]')
    .option('--all', 'every version')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { coordinate, selector } = requireCoordinate(name);
      const { json = false, all } = command.optsWithGlobals<CommonOptions & { all?: boolean }>();
      const outcomes = await withRegistry(command, (registry) =>
        withProgress(`Verifying ${name}`, async (say) => {
          if (!all) return [tell(await verify(registry, coordinate, selector), json)];
          const told: Outcome[] = [];
          const selectors = await everyVersion(registry, coordinate);
          for (const [index, each] of selectors.entries()) {
            say(`Verifying ${name}: ${index + 1} of ${selectors.length}`);
            told.push(await verifyOne(registry, coordinate, each, json));
          }
          return told;
        }),
      );
      if (all) complain(summarize(outcomes));
      if (outcomes.some((outcome) => outcome !== 'same' && outcome !== 'recoded')) process.exitCode = 1;
    });
}

type Outcome = Verified['outcome'] | 'refused';

async function everyVersion(registry: Registry, coordinate: Coordinate): Promise<Selector[]> {
  const resource = await findResource(registry, coordinate);
  if (resource === null) throw new RegistryError('not_found', `There is no ${formatCoordinate(coordinate)}.`);
  return resource.versions
    .filter(({ status }) => status.state !== 'withdrawn')
    .map(({ label }) => ({ kind: 'version', version: label }));
}

/** One of many: what cannot be verified does not keep the others. */
async function verifyOne(
  registry: Registry,
  coordinate: Coordinate,
  selector: Selector,
  json: boolean,
): Promise<Outcome> {
  try {
    return tell(await verify(registry, coordinate, selector), json);
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const named = formatCoordinate(coordinate, selector);
    print(json ? JSON.stringify({ coordinate: named, outcome: 'refused', detail: error.message }) : `refused ${named}`);
    complain(error.message);
    return 'refused';
  }
}

function tell(verified: Verified, json: boolean): Outcome {
  const { outcome, coordinate, version, published, derived, compilers } = verified;
  print(json ? JSON.stringify(verified) : `${outcome} ${coordinate}@${version} ${published}`);
  const others = `${compilers[0]} published it, this is ${compilers[1]}.`;
  if (outcome === 'recoded') complain(`Same document, packed by another compiler: ${others}`);
  if (outcome === 'recompiled')
    complain(`Same input, but another compiler makes something else of it: ${others} Verify with the former.`);
  if (outcome === 'different')
    complain(derived === null ? 'The commit gives a document that is refused.' : `The commit gives ${derived}.`);
  return outcome;
}

function summarize(outcomes: readonly Outcome[]): string {
  const equal = outcomes.filter((outcome) => outcome === 'same').length;
  return `${equal} of ${outcomes.length} equal`;
}
