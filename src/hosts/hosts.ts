import type { Config } from '../config.ts';
import type { Host } from './host.ts';

/** Every host that the configuration allows to speak with. */
export function createHosts(_config: Config): readonly Host[] {
  return [];
}
