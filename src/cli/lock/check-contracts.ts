import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, hexOf } from '../../model/digest.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { LockedContract } from '../../model/lock.ts';
import { parseProof, parsePolicy, type Policy } from '../../model/transparency/checkpoint.ts';
import { openCheckedLog, verifyProof, type CheckedLog } from '../log/check-log.ts';
import { keysOf, readLogState } from '../log/log-state.ts';
import { openCache, sha256Of } from './contract-cache.ts';
import { coordinateIn, openContractSource, type ContractSource } from './contract-source.ts';

/** Beside `contracts.lock`: which logs and witnesses its contracts must have. */
const policyName = 'contracts.policy';

interface CheckOptions {
  /** The registry that gets the key. */
  trusted: string | undefined;
  /** Whether a contract came from the registry just now. For the others nothing is asked, unless there is a `contracts.policy`. */
  isFetched: (contract: LockedContract) => boolean;
  /** Whether its bytes were here before: then a registry that does not answer is no fault. */
  isHere?: (contract: LockedContract) => boolean;
}

/**
 * Checks that contracts are in the public logs of their registries with the digests that the lock has, and that their bytes
 * are those that the manifest with that digest names: by what was kept, which needs no network, else by what the registry
 * sends. Rejects with `refused` for what does not hold, and for a public contract that is not in the log of a registry that
 * has one. Private contracts are in no log, so a policy refuses them.
 */
export async function checkContracts(
  folder: string,
  contracts: readonly LockedContract[],
  { trusted, isFetched, isHere = () => false }: CheckOptions,
): Promise<void> {
  const policy = await readPolicy(folder);
  const cache = openCache();
  for (const [registry, some] of Map.groupBy(contracts, (each) => each.registry)) {
    const seen = readLogState(registry);
    const keys = seen && keysOf(seen);
    const source = openContractSource(registry, trusted);
    let log: ReturnType<typeof openCheckedLog> | null = null;
    for (const contract of some) {
      const place = `proofs/${hexOf(digestOf(`${registry}/${contract.contract}@${contract.version}`))}`;
      const kept = keys && (await cache.get(place).catch(() => null));
      if (kept && parseProof(String(kept)) !== null) {
        verifyProof({ registry, keys, policy }, contract, String(kept));
        if (isFetched(contract)) await checkBytes(contract, trusted);
        continue;
      }
      if (policy === null && !isFetched(contract)) continue;
      try {
        log ??= openCheckedLog(registry, (path) => source.file(path), policy);
        const opened = await log;
        if (opened === null) break;
        await checkBytes(contract, trusted);
        const proof = await prove(opened, source, contract);
        if (proof !== null) await cache.put(place, Buffer.from(proof)).catch(() => undefined);
        else if (policy !== null)
          throw refused(`${registry} has no proof that ${contract.contract}@${contract.version} is in its public log, and ${policyName} asks for one.`); // prettier-ignore
      } catch (error) {
        // The bytes came out of the cache, and are those of the lock.
        if (policy === null && isHere(contract) && isRegistryError(error, 'unreachable')) break;
        throw error;
      }
    }
  }
}

/** Checks that the lock has the bytes that the manifest of its digest names. */
async function checkBytes(contract: LockedContract, trusted: string | undefined): Promise<void> {
  const sha256 = await sha256Of(contract, trusted);
  if (sha256 === contract.sha256) return;
  const { path, version, registry } = contract;
  throw refused(`contracts.lock says that ${path} is sha256:${contract.sha256}, and ${contract.contract}@${version} at ${registry} is sha256:${sha256}. Add it again, and find out who wrote the lock.`); // prettier-ignore
}

/**
 * The proof that a contract is in a log, as text. A host that serves files has none: the leaves themselves are read then.
 * Null for a private contract.
 */
async function prove(log: CheckedLog, source: ContractSource, contract: LockedContract): Promise<string | null> {
  const { version, registry } = contract;
  const name = `${contract.contract}@${version}`;
  const sent = String((await source.file(`/${name}?proof`)) ?? '');
  // A host that serves files answers with the document.
  if (parseProof(sent) !== null) {
    await log.check(contract, sent);
    return sent;
  }
  if (!(await source.isPublic(coordinateIn(contract), version))) return null;
  const proof = await log.find(contract);
  if (proof !== null) return proof;
  throw refused(`${name} is public, and not in the public log of ${registry}. Ask who runs the registry.`);
}

function refused(message: string): RegistryError {
  return new RegistryError('refused', message);
}

async function readPolicy(folder: string): Promise<Policy | null> {
  const file = join(folder, policyName);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new RegistryError('malformed', `${file} cannot be read: ${error.message}`);
  });
  return text === null ? null : parsePolicy(text, policyName);
}
