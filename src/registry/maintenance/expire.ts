import { expiringKinds } from '../../model/record-places.ts';
import type { Registry } from '../registry.ts';

const day = 24 * 60 * 60_000;
/** Milliseconds from the start of the process to the first sweep, so that starting stays fast. */
const firstPause = 5 * 60_000;

/** Deletes the records that have expired (design §5). Returns how many keys it deleted. */
export async function expireRecords(registry: Registry): Promise<number> {
  let deleted = 0;
  for (const { kind, days } of expiringKinds()) {
    deleted += await registry.refs.sweep(kind, registry.now().getTime() - days * day);
  }
  return deleted;
}

/** Deletes expired records every day until it is closed. Logs what goes wrong and tries again the next day. */
export function openExpiry(registry: Registry): { close(): void } {
  let timer: NodeJS.Timeout;
  const plan = (pause: number): void => {
    timer = setTimeout(run, pause);
    timer.unref();
  };
  const run = (): void => {
    expireRecords(registry)
      .then((keys) => registry.log('debug', 'expired records deleted', { keys }))
      .catch((error: unknown) => registry.log('warn', 'expired records not deleted', { error: String(error) }))
      .finally(() => plan(day));
  };
  plan(firstPause);
  return { close: () => clearTimeout(timer) };
}
