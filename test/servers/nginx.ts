import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers, freePort } from './ports.ts';

/** Where it is; undefined: nowhere. */
export const nginxProgram: string | undefined = ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/sbin/nginx'].find(
  (path) => existsSync(path),
);

/** Whether there is an nginx on this machine. */
export const hasNginx = nginxProgram !== undefined;

/** A real nginx that serves the build in a folder by the rules in it. */
export interface Nginx extends AsyncDisposable {
  port: number;
}

/** Starts nginx on a port of its own, with no module but those that are built in. Fails with what nginx says of the rules. */
export async function startNginx(root: string): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'stele-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const lines = [
    `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/log warn;`,
    'events { worker_connections 256; }',
    `http { access_log off; ${temporary.join(' ')}`,
    `  include ${root}/rules/nginx-http.conf;`,
    `  server { listen 127.0.0.1:${port}; root ${root}; include ${root}/rules/nginx-server.conf; }`,
    '}',
  ];
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'nginx.conf'), lines.join('\n'));
  const child = spawn(nginxProgram!, ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'log')], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  for (let tries = 0; !(await answers(port)); tries++) {
    if (child.exitCode !== null || tries > 200)
      throw new Error(`nginx does not run: ${await readFile(join(folder, 'log'), 'utf8').catch(String)}`);
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
