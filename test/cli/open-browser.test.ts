import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openInBrowser } from '../../src/cli/open-browser.ts';

test('what a registry says opens as a page, and never as a file, a share or an option', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-open-'));
  const script = '#!/bin/sh\nprintf "%s\\n" "$*" >> "$(dirname "$0")/opened"\n';
  for (const name of ['open', 'xdg-open']) await writeFile(join(folder, name), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
  const others = [
    'file:///etc/passwd',
    String.raw`\\\\evil.test\\x.exe`,
    '--help',
    'javascript:alert(1)',
    'calc.exe',
    '',
  ];
  for (const url of [...others, 'https://acme.test/device?code=A']) openInBrowser(url);
  const opened = () => readFile(join(folder, 'opened'), 'utf8').catch(() => '');
  await expect.poll(opened).toBe('https://acme.test/device?code=A\n');
  await rm(folder, { recursive: true });
});
