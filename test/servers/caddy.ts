import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSync } from 'node:fs';
import { answers, freePort } from './ports.ts';

/** Where it is; undefined: nowhere. */
export const caddyProgram: string | undefined = ['/usr/bin/caddy', '/usr/local/bin/caddy', '/usr/sbin/caddy'].find(
  (path) => existsSync(path),
);

/** Whether there is a Caddy on this machine. */
export const hasCaddy = caddyProgram !== undefined;

/** A real Caddy that serves the build in a folder by the rules in it. */
export interface Caddy extends AsyncDisposable {
  port: number;
}

/** Starts Caddy on a port of its own. Fails with what Caddy says of the rules. */
export async function startCaddy(root: string): Promise<Caddy> {
  const folder = await mkdtemp(join(tmpdir(), 'stele-caddy-'));
  const port = await freePort();
  const lines = [
    '{',
    '\tadmin off',
    '\tauto_https off',
    `\tstorage file_system ${folder}`,
    '}',
    `http://127.0.0.1:${port}, http://registry.test:${port} {`,
    `\troot * ${root}`,
    `\timport ${root}/rules/Caddyfile`,
    '}',
  ];
  await writeFile(join(folder, 'Caddyfile'), lines.join('\n'));
  const log = openSync(join(folder, 'log'), 'w');
  const child = spawn(caddyProgram!, ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
    stdio: ['ignore', log, log],
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
  });
  const ended = once(child, 'exit');
  for (let tries = 0; !(await answers(port)); tries++) {
    if (child.exitCode !== null || tries > 200)
      throw new Error(`Caddy does not run: ${await readFile(join(folder, 'log'), 'utf8').catch(String)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
