import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isThorough, unlessThorough } from '../thorough.ts';
import { runStele, serveStele } from './stele.ts';

const run = promisify(execFile);
const unit = new URL('../../deploy/stele.service', import.meta.url);
const hasBwrap = existsSync('/usr/bin/bwrap');
const hasSystemd = existsSync('/usr/bin/systemd-analyze');

describe('deployed', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'stele-deploy-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  test.skipIf(!hasBwrap || !isThorough)(
    `it publishes and answers on a read-only root, without rights${hasBwrap ? unlessThorough : ' (skipped: bwrap is not installed)'}`,
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
    },
  );
});
