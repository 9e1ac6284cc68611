import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const src = new URL('../../src/', import.meta.url);

/** The files and packages that a file loads before it runs, with those that these load. */
function loadedBy(file: URL, found = new Set<string>()): Set<string> {
  if (found.has(file.href)) return found;
  found.add(file.href);
  for (const { moduleRequest, entries } of parseSync(file.pathname, readFileSync(file, 'utf8')).module.staticImports) {
    if (entries.length > 0 && entries.every(({ isType }) => isType)) continue;
    if (moduleRequest.value.startsWith('.')) loadedBy(new URL(moduleRequest.value, file), found);
    else found.add(moduleRequest.value);
  }
  return found;
}

test('a command loads what it needs when it runs', () => {
  const loaded = [...loadedBy(new URL('cli/run-command-line.ts', src))].map((name) => name.replace(src.href, ''));
  const rooms = new Set(
    loaded.filter((name) => name.includes('/') && name.endsWith('.ts')).map((name) => name.split('/')[0]),
  );
  expect(rooms).not.toContain('server');
  for (const late of ['open.ts', 'compile/sandbox/sandbox.ts', 'sync/sync.ts', 'site/build/build.ts', 'ora', 'pino'])
    expect(loaded).not.toContain(late);
  expect(loaded.filter((name) => name.endsWith('.ts')).length).toBeLessThan(100);
});
