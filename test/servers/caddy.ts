import { existsSync } from 'node:fs';

/** Where it is; undefined: nowhere. */
export const caddyProgram: string | undefined = ['/usr/bin/caddy', '/usr/local/bin/caddy', '/usr/sbin/caddy'].find(
  (path) => existsSync(path),
);

/** Whether there is a Caddy on this machine. */
export const hasCaddy = caddyProgram !== undefined;
