import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { formatNote, formatVerifierKey } from '../../../src/model/transparency/note.ts';
import { tilePath, tilesOf } from '../../../src/model/transparency/tree.ts';
import { publicLogOf } from '../../../src/registry/transparency/public-log.ts';
import { createLoggedWorld, put } from './logged.ts';

// Debian's golang-go and golang-golang-x-mod-dev.
const hasGo = existsSync('/usr/bin/go') && existsSync('/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog');

test.skipIf(!hasGo)(
  `Go's checksum database code agrees with checkpoint, leaves and proofs${hasGo ? '' : ' (skipped: there is no go)'}`,
  async () => {
    const { registry } = createLoggedWorld();
    for (let at = 0; at < 280; at++) await put(registry, `@acme/apis/pay@1.${at}.0`);
    const log = (await publicLogOf(registry))!;
    await log.update();
    await put(registry, '@acme/apis/pay@2.0.0');
    await log.update();
    const folder = mkdtempSync(join(tmpdir(), 'stele-log-'));
    try {
      const checkpoint = await log.checkpoint();
      writeFileSync(join(folder, 'key'), `${formatVerifierKey(log.signer())}\n`);
      writeFileSync(join(folder, 'checkpoint'), formatNote(checkpoint.note));
      for (const name of tilesOf(checkpoint.size)) {
        const path = join(folder, tilePath(name));
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, (await log.tile(name))!);
      }
      const program = fileURLToPath(new URL('go/main.go', import.meta.url));
      const env = {
        ...process.env,
        GO111MODULE: 'off',
        GOPATH: '/usr/share/gocode',
        GOCACHE: join(tmpdir(), 'stele-go-cache'),
        GOFLAGS: '',
      };
      expect(execFileSync('/usr/bin/go', ['run', program, folder], { env, encoding: 'utf8' })).toBe(
        `${checkpoint.size} leaves\n`,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
