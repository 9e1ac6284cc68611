import { Command } from 'commander';
import { formatCoordinate, type Coordinate, type Selector } from '../model/address.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import { findResource } from '../registry/find-resource.ts';
import { verify, type Verified } from '../registry/verify.ts';
import { requireCoordinate, withRegistry, type CommonOptions } from './command-context.ts';
import { complain, print, printJson, withProgress } from './output.ts';

/** `stele verify COORDINATE`: derives a version, or all of them, again from its commit and compares. */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('Derive a version again from its commit and compare the two.')
    .argument('<coordinate>', '@org/type/slug[@version]')
    .option('--all', 'every version')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { coordinate, selector } = requireCoordinate(name);
      const { json = false, all } = command.optsWithGlobals<CommonOptions & { all?: boolean }>();
      const verified = await withRegistry(command, (registry) =>
        withProgress(`Verifying ${name}`, async (say) => {
          if (!all) return [await verify(registry, coordinate, selector)];
          const each: Outcome[] = [];
          const selectors = await everyVersion(registry, coordinate);
          for (const [index, one] of selectors.entries()) {
            say(`Verifying ${name}: ${index + 1} of ${selectors.length}`);
            each.push(await verifyOne(registry, coordinate, one));
            if (!json) tell(each.at(-1)!);
          }
          return each;
        }),
      );
      if (verified.some(({ outcome }) => outcome !== 'same' && outcome !== 'recoded')) process.exitCode = 1;
      if (json) return printJson({ versions: verified });
      if (all) complain(summarize(verified));
      else verified.forEach(tell);
    });
}

/** A version that was derived again, or one that cannot be. */
type Outcome = Verified | { outcome: 'refused'; coordinate: string; version: string; detail: string };

type Version = Extract<Selector, { kind: 'version' }>;

async function everyVersion(registry: Registry, coordinate: Coordinate): Promise<Version[]> {
  const resource = await findResource(registry, coordinate);
  if (resource === null) throw new RegistryError('not_found', `There is no ${formatCoordinate(coordinate)}.`);
  return resource.versions
    .filter(({ status }) => status.state !== 'withdrawn')
    .map(({ label }) => ({ kind: 'version', version: label }));
}

/** One of many: what cannot be verified does not keep the others. */
async function verifyOne(registry: Registry, coordinate: Coordinate, selector: Version): Promise<Outcome> {
  try {
    return await verify(registry, coordinate, selector);
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const { version } = selector;
    return { outcome: 'refused', coordinate: formatCoordinate(coordinate), version, detail: error.message };
  }
}

function tell(verified: Outcome): void {
  const named = `${verified.coordinate}@${verified.version}`;
  if (verified.outcome === 'refused') {
    print(`refused ${named}`);
    return complain(verified.detail);
  }
  const { outcome, published, derived, compilers } = verified;
  print(`${outcome} ${named} ${published}`);
  const others = `${compilers[0]} published it, this is ${compilers[1]}.`;
  if (outcome === 'recoded') complain(`Same document, packed by another compiler: ${others}`);
  if (outcome === 'recompiled')
    complain(`Same input, but another compiler makes something else of it: ${others} Verify with the former.`);
  if (outcome === 'different')
    complain(derived === null ? 'The commit gives a document that is refused.' : `The commit gives ${derived}.`);
}

function summarize(verified: readonly Outcome[]): string {
  const equal = verified.filter(({ outcome }) => outcome === 'same').length;
  return `${equal} of ${verified.length} equal`;
}
