import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';

/**
 * The linter finds promises that nobody awaits, but takes `() => void promise` for an answer. Here it
 * reads the files of `src/` that say so once more, without `void`; `npm run lint` reads all as they are.
 */
const root = new URL('../', import.meta.url).pathname;
const run = promisify(execFile);

test(
  `no promise in src is thrown away with 'void': each has a handler for its rejection`,
  { timeout: 300_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stele-promises-'));
    try {
      await cp(join(root, 'src'), join(folder, 'src'), { recursive: true });
      await cp(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'));
      await cp(join(root, 'package.json'), join(folder, 'package.json'));
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
      await writeFile(join(folder, 'src/planted.ts'), planted);
      await writeFile(join(folder, '.oxlintrc.json'), JSON.stringify(settings));
      const names = await readdir(join(folder, 'src'), { recursive: true });
      const changed: string[] = [];
      for (const name of names.filter((each) => each.endsWith('.ts'))) {
        const path = join(folder, 'src', name);
        const text = await readFile(path, 'utf8');
        const without = withoutVoid(path, text);
        if (without === text) continue;
        await writeFile(path, without);
        changed.push(join('src', name));
      }
      const linter = join(root, 'node_modules/.bin/oxlint');
      const { stdout } = await run(linter, ['--type-aware', '--format=unix', ...changed], { cwd: folder }).catch(
        (error: { stdout: string }) => error,
      );
      const found = stdout.split('\n').filter((line) => line.startsWith('src/'));
      expect(found.map((line) => /^([^:]+:\d+)/.exec(line)![1])).toEqual(['src/planted.ts:2', 'src/planted.ts:3']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

const settings = {
  plugins: ['typescript'],
  categories: { correctness: 'off' },
  rules: { 'typescript/no-floating-promises': 'error', 'typescript/no-misused-promises': 'error' },
};

/** Shows that the check can fail. */
const planted = `const work = async (): Promise<void> => undefined;
setTimeout(() => void work(), 0);
export const start = (): void => { void work(); };
`;

function withoutVoid(path: string, text: string): string {
  const starts: number[] = [];
  const visitor = new Visitor({
    UnaryExpression({ operator, start }) {
      if (operator === 'void') starts.push(start);
    },
  });
  visitor.visit(parseSync(path, text).program);
  return starts.reduce((rest, start) => `${rest.slice(0, start)}    ${rest.slice(start + 4)}`, text);
}
