import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { userCacheFolder } from '../../config/environment.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { LockedContract } from '../../model/graph/lock.ts';
import { parseProof } from '../../model/transparency/checkpoint.ts';
import { parsePolicy, type Policy } from '../../model/transparency/policy.ts';
import { openFolderCache } from '../../store/cache.ts';
import { openCheckedLog, verifyProof } from '../log/check-log.ts';
import { keysOf, readLogState } from '../log/log-state.ts';
import { openContractSource } from './contract-source.ts';

/** Beside `contracts.lock`: which logs and witnesses its contracts must have. */
const policyName = 'contracts.policy';

/**
 * Checks that contracts are in the public logs of their registries with the digests that the lock has: by the
 * proof that was kept, which needs no network, else by one from the registry. `isFetched`: whether a contract
 * came from the registry just now; for the others nothing is asked, unless there is a `contracts.policy`. Rejects
 * with `refused` for what does not hold. Private contracts are in no log, so a policy refuses them.
 */
export async function checkContracts(
  folder: string,
  contracts: readonly LockedContract[],
  { trusted, isFetched }: { trusted: string | undefined; isFetched: (contract: LockedContract) => boolean },
): Promise<void> {
  const policy = await readPolicy(folder);
  const cache = openFolderCache(join(userCacheFolder(), 'stele', 'contracts'), { sizeLimit: 2 ** 29 });
  for (const [registry, some] of Map.groupBy(contracts, (each) => each.registry)) {
    const seen = readLogState(registry);
    const keys = seen && keysOf(seen);
    const source = openContractSource(registry, trusted);
    let log: ReturnType<typeof openCheckedLog> | null = null;
    for (const contract of some) {
      const name = `/${contract.contract}@${contract.version}`;
      const place = `proofs/${hexOf(digestOf(`${registry}${name}`))}`;
      const kept = keys && (await cache.get(place).catch(() => null));
      if (kept && parseProof(String(kept)) !== null) {
        verifyProof({ registry, keys, policy }, contract, String(kept));
        continue;
      }
      if (policy === null && !isFetched(contract)) continue;
      try {
        log ??= openCheckedLog(registry, (path) => source.file(path), policy);
        const opened = await log;
        if (opened === null) break;
        const proof = await source.file(`${name}?proof`);
        // A host that only serves files answers with the document.
        if (proof !== null && parseProof(String(proof)) !== null) {
          await opened.check(contract, String(proof));
          await cache.put(place, proof).catch(() => undefined);
        } else if (policy !== null)
          throw new RegistryError(
            'refused',
            `${registry} has no proof that ${name.slice(1)} is in its public log, and ${policyName} asks for one.`,
          );
      } catch (error) {
        // The bytes came out of the cache, and are those of the lock.
        if (policy === null && isRegistryError(error, 'unreachable')) break;
        throw error;
      }
    }
  }
}

async function readPolicy(folder: string): Promise<Policy | null> {
  const file = join(folder, policyName);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new RegistryError('malformed', `${file} cannot be read: ${error.message}`);
  });
  return text === null ? null : parsePolicy(text, policyName);
}
