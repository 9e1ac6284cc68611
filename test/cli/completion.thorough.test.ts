import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionFor, shells } from '../../src/cli/completion-command.ts';
import { createProgram } from '../../src/cli/program.ts';

/** What a real shell offers after a command line, of which the last word is still typed. */

let folder: string;
const fileOf = (shell: string) => join(folder, `stele.${shell}`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stele-completion-'));
  const program = await createProgram();
  for (const shell of shells) writeFileSync(fileOf(shell), completionFor(shell, program));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How each shell is asked. */
const askers: Record<(typeof shells)[number], (words: readonly string[]) => string[]> = {
  bash: (words) => [
    '--norc',
    '-c',
    `source ${fileOf('bash')}; COMP_WORDS=(${words.map(quote).join(' ')}); COMP_CWORD=${words.length - 1}; _stele; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: (words) => [
    '-f',
    '-c',
    `compdef() { }; _files() { }; _describe() { print -rl -- "\${(@)all%%:*}" }; source ${fileOf('zsh')}; words=(${words.map(quote).join(' ')}); CURRENT=${words.length}; _stele`,
  ],
  fish: (words) => ['--no-config', '-c', `source ${fileOf('fish')}; complete -C ${quote(words.join(' '))}`],
};

function quote(word: string): string {
  return `'${word}'`;
}

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0;
}

describe.each(shells)('%s', (shell) => {
  test.skipIf(!isInstalled(shell))('offers commands, subcommands, options and values', async () => {
    const offered = async (...words: string[]) => {
      const { stdout, stderr } = await promisify(execFile)(shell, askers[shell](['stele', ...words]));
      expect(stderr).toBe('');
      // A shell filters what was typed by itself; fish adds descriptions.
      const all = stdout.split('\n').map((line) => line.split('\t')[0]!);
      return all.filter((word) => word.startsWith(words.at(-1)!));
    };
    expect(await offered('')).toEqual(expect.arrayContaining(['publish', 'keys', 'webhooks', 'serve']));
    expect(await offered('pub')).toEqual(['publish']);
    expect(await offered('keys', '')).toEqual(expect.arrayContaining(['create', 'list', 'revoke']));
    expect(await offered('keys', '')).not.toContain('publish');
    expect(await offered('keys', 'create', '--')).toEqual(expect.arrayContaining(['--org', '--scope', '--json']));
    expect(await offered('keys', 'create', '--')).not.toContain('--dry-run');
    expect(await offered('keys', 'create', '--scope', '')).toEqual(
      expect.arrayContaining(['read', 'publish', 'admin']),
    );
    expect(await offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    // After a file and a coordinate, options are still those of the command.
    expect(await offered('publish', 'pay.yaml', '@acme/apis/pay', '--dry')).toEqual(['--dry-run']);
  });
});
