import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkBoundaries, readMap } from './boundaries.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const map = readMap(readFileSync(`${root}src/README.md`, 'utf8'));

describe('the house', () => {
  const sources = readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length))
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }));

  test('keeps its boundaries', () => {
    expect(sources.length).toBeGreaterThan(15);
    expect(checkBoundaries(sources, map)).toEqual([]);
  });

  test('loads the server only for commands that need it: others take as long to start as to answer', () => {
    const texts = new Map(sources.map(({ path, text }) => [path, text]));
    const loaded = new Set(['src/cli/run-command-line.ts']);
    for (const path of loaded)
      for (const [, from = ''] of (texts.get(path) ?? '').matchAll(
        /^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm,
      ))
        loaded.add(from.startsWith('.') ? posix.join(posix.dirname(path), from) : from);
    expect(loaded).toContain('src/cli/program.ts');
    expect([...loaded].filter((name) => name === 'express' || name.startsWith('src/server/login/'))).toEqual([]);
  });

  test('asks the policy about reading in one file only', () => {
    const asking = sources.filter(({ text }) => /isAllowed\([^)]*'read'/.test(text)).map(({ path }) => path);
    expect(asking).toEqual(['src/registry/readable.ts']);
  });

  test('remembers between calls only what test/module-memories.yaml lists', () => {
    const memories = parse(readFileSync(`${root}test/module-memories.yaml`, 'utf8')) as Record<string, object>;
    const listed = Object.entries(memories).flatMap(([file, names]) =>
      Object.keys(names).map((name) => `${file} ${name}`),
    );
    const found = sources.flatMap(({ path, text }) => memoriesIn(text).map((name) => `${path} ${name}`));
    expect(found.toSorted()).toEqual(listed.toSorted());
  });

  test('has the top level that its card names', () => {
    const named = [
      'src',
      'content',
      'templates',
      'scripts',
      'deploy',
      'test',
      'docs',
      'node_modules',
      'dist',
      'coverage',
    ];
    const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'registry.config.ts', 'LICENSE'];
    files.push('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md');
    const extra = readdirSync(root).filter(
      (name) => !name.startsWith('.') && !named.includes(name) && !files.includes(name) && !name.endsWith('.tgz'),
    );
    expect(extra).toEqual([]);
  });
});

/** The variables of a module that can remember something between calls. */
function memoriesIn(text: string): string[] {
  const container =
    /^(?:new (?:Weak(?:Map|Set)|LRUCache)\b|new (?:Map|Set)\b[^(]*\(\)|(?:\[\]|\{\});|(?:createOnce|memoize|createWaitingPlaces)\()/;
  return [...text.matchAll(/^(?:export )?(let|const) (\w+)(?:: (?:[^=\n]|=>)+?)?(?: =(?!>) ?(.*))?$/gm)]
    .filter(
      ([, kind, name, value = '']) => kind === 'let' || (!/^no(?:ne$|[A-Z])/.test(name!) && container.test(value)),
    )
    .map(([, , name]) => name!);
}

test('a new memory of a module is found, a constant is not', () => {
  const memories = ['let last = 0;', 'const seen = new Map<string, () => void>();', 'export const all: string[] = [];'];
  expect(memories.flatMap(memoriesIn)).toEqual(['last', 'seen', 'all']);
  expect(memoriesIn("const names = new Set(['a']);\nconst none: string[] = [];\n  let inside = 0;")).toEqual([]);
});

describe('the checker', () => {
  function check(path: string, text: string): string[] {
    return checkBoundaries([{ path, text }], map);
  }

  test.each([
    [
      'src/model/a.ts',
      `import { createHash } from 'node:crypto'; import type { B } from './b.ts'; export const a: B = 1;`,
    ],
    [
      'src/store/objects.ts',
      `import type { Bucket } from './bucket.ts'; import { digestOf } from '../model/digest.ts';`,
    ],
    ['src/store/fs.ts', `import { open } from 'node:fs/promises'; import { assertKey } from './bucket.ts';`],
    ['src/registry/publish.ts', `import type { Compiler } from '../compile/compile.ts'; import PQueue from 'p-queue';`],
    ['src/server/app.ts', `import express from 'express'; import { read } from '../registry/read.ts';`],
    ['src/server/v1/documents.ts', `import { createUpload } from '../../source/upload.ts';`],
    [
      'src/open.ts',
      `import { openFsBucket } from './store/fs.ts'; const { createS3Bucket } = await import('./store/s3.ts');`,
    ],
    ['src/config/environment.ts', `export const env = process.env;`],
    ['src/cli/serve/serve-command.ts', `import { openRegistry } from '../../open.ts';`],
    ['src/compile/lint.ts', `// process.env and export default are only words here\nexport const a = 'process.env';`],
  ])('has nothing against %s', (path, text) => {
    expect(check(path, text)).toEqual([]);
  });

  test.each([
    ['src/model/a.ts', `import { readFile } from 'node:fs';`, 'model is pure'],
    ['src/model/a.ts', `import { parse } from 'yaml';`, 'model is pure'],
    ['src/model/a.ts', `import type { Bucket } from '../store/bucket.ts';`, 'model may not import ports'],
    ['src/model/a.ts', `export { a } from '../store/objects.ts';`, 'model may not import store'],
    ['src/model/a.ts', `export * from '../store/objects.ts';`, 'model may not import store'],
    ['src/model/a.ts', `type A = import('../store/objects.ts').Objects;`, 'model may not import store'],
    ['src/model/a.ts', `import schema from '../../content/a.json' with { type: 'json' };`, 'imports content/a.json'],
    ['src/store/bucket.ts', `import { readFile } from 'node:fs';`, 'a port is an interface'],
    [
      'src/store/objects.ts',
      `import type { Registry } from '../registry/registry.ts';`,
      'store may not import registry',
    ],
    ['src/store/objects.ts', `import { openFsBucket } from './fs.ts';`, 'store may not import adapters'],
    ['src/store/s3.ts', `import { openFsBucket } from './fs.ts';`, 'adapters may not import adapters'],
    ['src/source/tree.ts', `import { compile } from '../compile/bundle.ts';`, 'source may not import compile'],
    ['src/registry/publish.ts', `import { openFsBucket } from '../store/fs.ts';`, 'registry may not import adapters'],
    ['src/sync/receive-hook.ts', `import { createGitHub } from '../hosts/github.ts';`, 'sync may not import adapters'],
    ['src/registry/publish.ts', `const app = await import('../server/app.ts');`, 'registry may not import server'],
    ['src/server/app.ts', `import { openMirror } from '../source/mirror.ts';`, 'server may not import source'],
    ['src/server/app.ts', `import { openRegistry } from '../open.ts';`, 'server may not import open'],
    ['src/server/app.ts', `import { createS3Bucket } from '../store/s3.ts';`, 'server may not import adapters'],
    [
      'src/cli/serve/serve-command.ts',
      `import { openFsBucket } from '../../store/fs.ts';`,
      'cli may not import adapters',
    ],
    ['src/registry/read.ts', `import type { Request } from 'express';`, 'express, which is not its to import'],
    [
      'src/registry/read.ts',
      `import { Ajv2020 } from 'ajv/dist/2020.js';`,
      'ajv/dist/2020.js, which is not its to import',
    ],
    ['src/registry/read.ts', `import addFormats from 'ajv-formats';`, 'ajv-formats, which is not its to import'],
    ['src/server/lint.ts', `import { bundle } from '@redocly/openapi-core';`, 'which is not its to import'],
    ['src/sync/sync.ts', `import { simpleGit } from 'simple-git';`, 'which is not its to import'],
    ['src/compile/tree.ts', `import git from 'isomorphic-git';`, 'which is not its to import'],
    ['src/server/app.ts', `const port = process.env.PORT;`, 'reads process.env'],
    ['src/server/app.ts', `const port = process['env']['PORT'];`, 'reads process.env'],
    ['src/server/app.ts', `const port = globalThis.process.env.PORT;`, 'reads process.env'],
    ['src/server/app.ts', `const { env } = process;`, 'reads process.env'],
    ['src/server/app.ts', `const { pid, ...rest } = process;`, 'reads process.env'],
    ['src/server/app.ts', `import { env } from 'node:process';`, 'reads process.env'],
    ['src/server/app.ts', `export default {};`, 'default export'],
    ['src/server/app.ts', `const app = 1; export { app as default };`, 'default export'],
    ['src/server/app.ts', `const name = 'x'; await import(name);`, 'computed name'],
    ['src/server/utils.ts', ``, 'named for nothing'],
    ['src/helpers/a.ts', ``, 'named for nothing'],
    ['src/other/a.ts', ``, 'in no room'],
    ['src/server/app.ts', `import { a } from '../../test/a.ts';`, 'outside src/'],
    ['src/server/app.ts', `import { a } from '../other/a.ts';`, 'may not import that'],
  ])('finds what is wrong with %s: %s', (path, text, finding) => {
    expect(check(path, text)).toEqual(expect.arrayContaining([expect.stringContaining(finding)]));
  });

  test('finds layers that import each other', () => {
    const found = checkBoundaries(
      [
        { path: 'src/site/page.ts', text: `import { a } from '../registry/a.ts';` },
        { path: 'src/registry/a.ts', text: `import { b } from '../site/page.ts';` },
      ],
      map,
    );
    expect(found).toContain('site/ is part of an import cycle');
    expect(found).toContain('registry/ is part of an import cycle');
  });

  test('finds files of one room that import each other', () => {
    const found = checkBoundaries(
      [
        { path: 'src/store/a.ts', text: `import type { B } from './b.ts';` },
        { path: 'src/store/b.ts', text: `import { a } from './a.ts';` },
        { path: 'src/store/c.ts', text: `import { a } from './a.ts';` },
      ],
      map,
    );
    expect(found).toEqual(['src/store/a.ts is part of an import cycle', 'src/store/b.ts is part of an import cycle']);
  });

  test('finds a room that a row may import and no row describes', () => {
    expect(() => readMap('| `a/` | x | b |')).toThrow('a may import b, which has no row');
  });

  test('refuses what it cannot read', () => {
    expect(() => check('src/model/a.ts', 'import { from')).toThrow('src/model/a.ts does not parse');
  });
});
