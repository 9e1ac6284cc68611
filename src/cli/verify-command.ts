import { Command } from 'commander';
import { formatCoordinate, type Coordinate, type Selector } from '../model/address.ts';
import { isSandboxLost } from '../compile/compile.ts';
import { isRegistryError, malformed, notFound } from '../model/errors.ts';
import { requireRegistry } from './registry-client.ts';
import type { Registry } from '../registry/registry.ts';
import type { Verified } from '../registry/verify.ts';
import { requireCoordinate, withStore, type CommonOptions } from './command-context.ts';
import { notChecked } from './process-end.ts';
import { complain, print, printJson, withProgressUnless } from './output.ts';

/**
 * `stele verify COORDINATE`: rebuilds one version, or all, from its commit and compares. With `--log` it walks the public
 * log of a registry.
 */
export function verifyCommand(): Command {
  return new Command('verify')
    .description('Rebuild a version from its commit and compare it with the published one.')
    .argument('[coordinate]', '@org/type/slug[@version]')
    .option('--all', 'verify every version')
    .option('--log <url>', 'check the whole public log of this registry, and that it serves what the log says')
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const { log } = command.optsWithGlobals<CommonOptions & { log?: string }>();
      if ((name === undefined) === (log === undefined))
        throw malformed('Name a version, such as @acme/apis/pay@1.4.0, or a registry with --log.');
      if (name === undefined) return verifyWholeLog(command, log!);
      const { coordinate, selector } = requireCoordinate(name);
      const { json = false, all } = command.optsWithGlobals<CommonOptions & { all?: boolean }>();
      const verified = await withStore(command, (registry) =>
        withProgressUnless(json, `Verifying ${name}`, async (say) => {
          const { verify } = await import('../registry/verify.ts');
          if (!all) return [await verify(registry, coordinate, selector)];
          const each: Outcome[] = [];
          const selectors = await everyVersion(registry, coordinate);
          for (const [index, one] of selectors.entries()) {
            say(`Verifying ${name}: ${index + 1} of ${selectors.length}`);
            each.push(await verifyOne(registry, coordinate, one));
            if (!json) printOutcome(each.at(-1)!);
          }
          return each;
        }),
      );
      const outcomes = new Set(verified.map(({ outcome }) => outcome));
      const isUnchecked = outcomes.delete('unchecked');
      outcomes.delete('same');
      outcomes.delete('recoded');
      if (outcomes.size > 0 || isUnchecked) process.exitCode = outcomes.size > 0 ? 1 : notChecked;
      if (json) return printJson({ versions: verified });
      const equal = verified.filter(({ outcome }) => outcome === 'same');
      if (all) complain(`${equal.length} of ${verified.length} identical`);
      else verified.forEach(printOutcome);
    });
}

async function verifyWholeLog(command: Command, url: string): Promise<void> {
  const { json = false } = command.optsWithGlobals<CommonOptions>();
  const registry = requireRegistry(url);
  const verified = await withProgressUnless(json, 'Verifying the public log', async (say) => {
    const { verifyLog } = await import('./log/verify-log.ts');
    return verifyLog(registry, say);
  });
  if (verified.wrong.length > 0) process.exitCode = 1;
  if (json) return printJson(verified);
  for (const each of verified.wrong) print(`different ${each}`);
  for (const each of verified.gone) print(`not served ${each}`);
  const { origin, leaves, same, gone, wrong } = verified;
  complain(
    `${origin}: ${leaves} leaves, ${same} versions as the log says, ${gone.length} not served, ${wrong.length} different`,
  );
}

/** The result for one version. `refused`: it cannot be verified. `unchecked`: it took too long here. */
type Outcome = Verified | { outcome: 'refused' | 'unchecked'; coordinate: string; version: string; detail: string };

type Version = Extract<Selector, { kind: 'version' }>;

async function everyVersion(registry: Registry, coordinate: Coordinate): Promise<Version[]> {
  const { findResource } = await import('../registry/lives.ts');
  const resource = await findResource(registry, coordinate);
  if (resource === null) throw notFound(`${formatCoordinate(coordinate)} does not exist.`);
  return resource.versions
    .filter(({ status }) => status.state !== 'withdrawn')
    .map(({ label }) => ({ kind: 'version', version: label }));
}

/** Verifies one of many versions; an error does not stop the others. */
async function verifyOne(registry: Registry, coordinate: Coordinate, selector: Version): Promise<Outcome> {
  const { verify } = await import('../registry/verify.ts');
  try {
    return await verify(registry, coordinate, selector);
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const { version } = selector;
    const outcome = isSandboxLost(error) ? 'unchecked' : 'refused';
    return { outcome, coordinate: formatCoordinate(coordinate), version, detail: error.message };
  }
}

function printOutcome(verified: Outcome): void {
  const named = `${verified.coordinate}@${verified.version}`;
  if ('detail' in verified) {
    print(`${verified.outcome} ${named}`);
    return complain(verified.detail);
  }
  const { outcome, published, derived, compilers } = verified;
  print(`${outcome} ${named} ${published}`);
  const others = `${compilers[0]} published it, this is ${compilers[1]}.`;
  if (outcome === 'recoded') complain(`The documents are the same, but compressed differently: ${others}`);
  if (outcome === 'recompiled')
    complain(`The input is the same, but the compilers differ: ${others} Verify with ${compilers[0]}.`);
  if (outcome === 'different')
    complain(derived === null ? 'The document in the commit is now rejected.' : `The commit produces ${derived}.`);
}
