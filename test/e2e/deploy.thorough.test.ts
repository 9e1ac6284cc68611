import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { caddyProgram, hasCaddy } from '../servers/caddy.ts';
import { hasNginx, nginxProgram } from '../servers/nginx.ts';
import { answers, freePort } from '../servers/ports.ts';
import { runStele, serveStele } from './stele.ts';

const run = promisify(execFile);
const folder = new URL('../../deploy/', import.meta.url);
const unit = new URL('stele.service', folder);
const hasBwrap = existsSync('/usr/bin/bwrap');
const hasSystemd = existsSync('/usr/bin/systemd-analyze');

describe('deployed', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'stele-deploy-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  test.skipIf(!hasBwrap)(
    `it publishes and answers on a read-only root, without rights${hasBwrap ? '' : ' (skipped: bwrap is not installed)'}`,
    async () => {
      const data = join(home, 'data');
      await mkdir(data);
      const document = join(home, 'api.json');
      await writeFile(
        document,
        JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1.0.0' }, paths: {} }),
      );
      const env = { STELE_DATA: data };
      const { stdout } = await runStele(
        ['keys', 'create', '--org', 'acme', '--name', 'a', '--scope', 'publish', '--json'],
        { cwd: home, env },
      );
      const { secret } = JSON.parse(stdout) as { secret: string };

      const walls = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', data, data];
      const rights = ['--unshare-user', '--uid', '65534', '--gid', '65534', '--cap-drop', 'ALL', '--die-with-parent'];
      const served = await serveStele([], { cwd: home, env, within: ['/usr/bin/bwrap', ...walls, ...rights] });
      const published = await runStele(['publish', document, '@acme/apis/a', '--registry', served.url], {
        cwd: home,
        env: { STELE_KEY: secret },
      });
      expect(published).toMatchObject({ code: 0 });
      const headers = { Authorization: `Bearer ${secret}` };
      const answer = await fetch(`${served.url}/@acme/apis/a`, { headers });
      expect(await answer.json()).toMatchObject({ info: { title: 'A' } });
      // It ends bwrap, which takes the server along.
      await served.stop();
    },
  );

  test.skipIf(!hasSystemd)(
    `the unit is one that systemd takes${hasSystemd ? '' : ' (skipped: systemd-analyze is not installed)'}`,
    async () => {
      // It names a program that is not installed here.
      const text = readFileSync(unit, 'utf8').replace(/^(ExecStart(?:Post)?=)\S+/gm, '$1/bin/true');
      const path = join(home, 'stele.service');
      await writeFile(path, text);
      expect(await run('systemd-analyze', ['verify', path])).toEqual({ stdout: '', stderr: '' });
      // 2.8 of 10 is what the sandbox needs: namespaces, mounts inside them, netlink. More than 3 ends with 1.
      const judged = await run('systemd-analyze', ['security', '--offline=true', '--threshold=30', '--no-pager', path]);
      expect(judged.stdout).toContain('Overall exposure level');
    },
  );

  /** The example of nginx in front of a port, without a certificate, and with folders and a port that any user has. */
  async function writeNginx(upstream: number, port: number): Promise<string> {
    const example = readFileSync(new URL('nginx.conf', folder), 'utf8')
      .replace(/^ *(?:ssl_|http2 ).*$/gm, '')
      .replace(/listen +\S+ ssl.*;/g, `listen 127.0.0.1:${port};`)
      .replace('server 127.0.0.1:7700', `server 127.0.0.1:${upstream}`)
      .replace('/var/cache/nginx/stele', join(home, 'cache'));
    const path = join(home, 'nginx.conf');
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${join(home, kind)};`)
      .join(' ');
    const text = `pid ${join(home, 'pid')}; error_log stderr; events {} http { access_log off; ${paths} ${example} }`;
    await writeFile(path, text);
    return path;
  }

  test.skipIf(!hasNginx)(`nginx takes its example${hasNginx ? '' : ' (skipped: nginx is not installed)'}`, async () => {
    const { stderr } = await run(nginxProgram!, ['-t', '-c', await writeNginx(7700, await freePort())]);
    expect(stderr).toContain('test is successful');
    expect(stderr).not.toContain('warn');
  });

  test.skipIf(!hasNginx)(
    `nginx never shows from its cache what became private, also while Stele is restarted${hasNginx ? '' : ' (skipped: nginx is not installed)'}`,
    async () => {
      let isPublic = true;
      const stele = createServer((_, response) => {
        const lifetime = isPublic ? 'public, max-age=1, must-revalidate' : 'private, no-store';
        response.writeHead(isPublic ? 200 : 404, { 'Cache-Control': lifetime, Connection: 'close' }).end('{}');
      }).listen(0, '127.0.0.1');
      await once(stele, 'listening');
      const port = await freePort();
      const path = await writeNginx((stele.address() as AddressInfo).port, port);
      const nginx = spawn(nginxProgram!, ['-c', path, '-g', 'daemon off; master_process off;'], { stdio: 'ignore' });
      const ended = once(nginx, 'exit');
      try {
        while (!(await answers(port))) await delay(20);
        const ask = async () => (await fetch(`http://127.0.0.1:${port}/@acme/apis/a`)).status;
        expect(await ask()).toBe(200);
        isPublic = false;
        while ((await ask()) === 200) await delay(20);
        stele.close();
        await once(stele, 'close');
        expect(await ask()).toBe(502);
      } finally {
        stele.close();
        nginx.kill();
        await ended;
      }
    },
  );

  test.skipIf(!hasCaddy)(`Caddy takes its example${hasCaddy ? '' : ' (skipped: Caddy is not installed)'}`, async () => {
    const given = ['validate', '--adapter', 'caddyfile', '--config', fileURLToPath(new URL('Caddyfile', folder))];
    // As it is, and as compose.yaml sets it.
    for (const env of [{}, { STELE_SITE: ':8080', STELE_NODES: 'one:7700 two:7700' }]) {
      const { stdout } = await run(caddyProgram!, given, { env: { ...process.env, HOME: home, ...env } });
      expect(stdout).toContain('Valid configuration');
    }
  });

  test('Stele takes the example of a configuration, and the containers set the secret that it reads', async () => {
    const source = new URL('../../src/config.ts', import.meta.url).href;
    const path = join(home, 'registry.config.ts');
    await writeFile(
      path,
      readFileSync(new URL('registry.config.ts', folder), 'utf8').replace(
        "'@stele-registry/stele'",
        JSON.stringify(source),
      ),
    );
    const config = await loadConfig(path, null);
    expect(config).toMatchObject({ proxies: 1, store: { kind: 's3', credentials: null } });
    const secret = 'STELE_SECRET_KEY';
    expect(JSON.stringify(config.secretKey)).toContain(secret);
    for (const name of ['compose.yaml', 'kubernetes/bucket/registry.config.yaml'])
      expect(readFileSync(new URL(name, folder), 'utf8')).toContain(secret);
  });
});
