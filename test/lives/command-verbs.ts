import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import type { Verbs } from './life.ts';

/** Runs a command in this process, with a key. Returns its exit code. */
export async function run(args: readonly string[], key: string, more: Record<string, string> = {}): Promise<number> {
  const before = { ...process.env };
  const write = { out: process.stdout.write, error: process.stderr.write };
  Object.assign(process.env, more, { STELE_KEY: key });
  process.stdout.write = process.stderr.write = () => true;
  try {
    return await runCommandLine(args);
  } finally {
    process.stdout.write = write.out;
    process.stderr.write = write.error;
    process.exitCode = undefined;
    for (const name of ['STELE_KEY', ...Object.keys(more)]) delete process.env[name];
    Object.assign(process.env, before);
  }
}

export const commandVerbs: Verbs = {
  'command for another organization': {
    weight: 3,
    plan(life, draw) {
      const slug = draw.of([...life.resources.values()].filter(({ from }) => from !== null))?.slug;
      const verb = slug === undefined ? 'sites' : draw.of(['sync', 'sites'] as const);
      return {
        says: `run a command for @partner with a key of acme: ${verb}`,
        async ask() {
          const { nodes, turn } = life.world;
          const to = ['--registry', nodes[turn % nodes.length]!.url, '--json'];
          if (verb === 'sync') return run(['sync', `@partner/apis/${slug}`, ...to], life.admin);
          const folder = mkdtempSync(join(tmpdir(), 'stele-life-'));
          try {
            writeFileSync(join(folder, 'index.md'), '# Of the partner\n');
            return await run(['sites', 'publish', '@partner/sites/handbook', folder, ...to], life.admin);
          } finally {
            rmSync(folder, { recursive: true });
          }
        },
        expected: 2,
      };
    },
  },
};
