import { unavailable } from '../../model/errors.ts';
import type { Registry } from '../registry.ts';

/**
 * What a program must know to write to some stores of its format: without it, it would do what another one prevents.
 * Never take one out. `approval`: a version is held, which a program without approvals would publish.
 */
const known = ['approval'] as const;

const prefix = 'needs/';

/** Notes in the store that a program must know this. Noting it again changes nothing. */
export async function noteNeed({ refs }: Pick<Registry, 'refs'>, need: (typeof known)[number]): Promise<void> {
  if ((await refs.read(prefix + need)) !== null) return;
  const change = { actor: 'operator:store', origin: null, action: `need ${need}` };
  await refs.update(prefix + need, (current) => (current === null ? { value: {}, change } : null));
}

/** Rejects with `unavailable` if the store needs something that this program does not know. */
export async function assertNeeds({ refs }: Pick<Registry, 'refs'>): Promise<void> {
  // A log that cannot be read refuses writes itself, and commands say more about it.
  const names = await Array.fromAsync(refs.list(prefix)).catch(() => []);
  const unknown = names.map((name) => name.slice(prefix.length)).find((need) => !known.some((each) => each === need));
  if (unknown === undefined) return;
  const message = `A newer version of Stele wrote this store, and this one does not know ${JSON.stringify(unknown)}: it would publish or show what must not be. Use the newer version, or restore a backup from before.`;
  throw unavailable(message);
}
