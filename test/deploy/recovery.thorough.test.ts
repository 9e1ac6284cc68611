import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsIn } from '../../scripts/docs/read-commands.ts';
import { readDocs } from '../../src/site/docs/docs.ts';
import { runHere } from '../cli/in-process.ts';

/** The page "Disaster recovery", typed from the first command to the last, with what it shows. */

const page = readDocs().find(({ name }) => name === 'recovery')!.markdown;
/** The first block is the one that the page is about, and is not typed yet. */
const steps = [...page.matchAll(/^```sh\n(.*?)^```$(?:(?:(?!```).)*?^```text\n(.*?)^```$)?/gms)].slice(1);

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'stele-drill-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Whether each line that the page shows was printed; `…` is anything. Results and messages may come in another order. */
function shows(shown: string, printed: string): boolean {
  const lines = shown.trim().replaceAll('/home/you', home).split('\n');
  return lines.every((line) => new RegExp(`^${line.split('…').map(RegExp.escape).join('.*')}$`, 'm').test(printed));
}

test(`the drill is what happens`, async () => {
  const author = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@a.test', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@a.test' }; // prettier-ignore
  const env = { ...process.env, ...author, HOME: home, GIT_CONFIG_GLOBAL: '/dev/null' };
  let cwd = home;
  expect(steps.length).toBeGreaterThan(7);
  for (const [, block, shown] of steps) {
    let printed = '';
    for (const command of commandsIn(block!)) {
      const [, args, file] = /^stele ([^>]*?)(?: > (\S+))?$/.exec(command) ?? [];
      if (args === undefined) {
        execFileSync('bash', ['-euc', command], { cwd, env });
        cwd = /^mkdir (\w+) && cd \1/.test(command) ? join(home, 'drill') : cwd;
        continue;
      }
      const ended = await runHere(args.split(' '), { cwd, env: { HOME: home } });
      const isDamaged = shown?.includes(': 1 damaged') === true && command === 'stele fsck';
      expect(ended.code, `${command}\n${ended.stdout}${ended.stderr}`).toBe(isDamaged ? 1 : 0);
      if (file !== undefined)
        execFileSync('tee', [file], { cwd, input: ended.stdout, stdio: ['pipe', 'ignore', 'pipe'] });
      printed += `${ended.stdout}${ended.stderr}`;
    }
    if (shown !== undefined) expect(shows(shown, printed), `${block}\n${printed}---\n${shown}`).toBe(true);
  }
});
