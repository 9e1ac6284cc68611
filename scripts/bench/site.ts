/**
 * How fast a documentation site is made, beside Eleventy and VitePress, from the same pages: code blocks in six languages, tables and
 * links. First all pages, then again after one page has changed.
 *
 * Eleventy runs twice: as a documentation site has it (`eleventy`: highlighted code, links to files made links to pages, ids of headings, a
 * table of contents, navigation, previous and next, a search index of minisearch, a feed, a sitemap, llms.txt and a Markdown twin of
 * each page), and with highlighted code alone (`bare`), whose links to `.md` files are broken. VitePress has its default theme and local
 * search.
 *
 *   npm install --prefix /tmp/peers-site @11ty/eleventy @11ty/eleventy-plugin-syntaxhighlight @11ty/eleventy-plugin-rss \
 *     markdown-it-anchor minisearch vitepress@1
 *   npm run build
 *   node scripts/bench/site.ts [--peers /tmp/peers-site] [--pages 1000] [--seed 1] [--only stele,eleventy]
 *
 * Stele publishes the folder (`stele sites publish`, which renders, checks and stores it) and writes it as files (`stele build`, without
 * compressed files, which the others do not write either). A changed page is sent to a server that runs (`/v1`), and published: the time ends
 * when readers get it. Processor time is that of the whole process trees, also of sandboxes that are killed at the end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { argv } from 'zx';
import { writeEleventy } from './peers/eleventy.ts';
import { reaper } from './peers/reaper.ts';
import { waitForSnapshots } from './wait-for-snapshot.ts';

const peers = resolve(String(argv['peers'] ?? '/tmp/peers-site'));
const count = Number(argv['pages'] ?? 1000);
const only = argv['only'] === undefined ? null : String(argv['only']).split(',');
const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
if (!existsSync(cli)) throw new Error('There is no build. Run npm run build first.');
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-site-'));
const docs = join(folder, 'docs');

let state = Number(argv['seed'] ?? 1);
/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
}
const words = 'payment refund account token ledger request response customer invoice retry limit webhook event'.split(
  ' ',
);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const sentence = () =>
  `The ${pick(words)} has a ${pick(words)} for each ${pick(words)}, and the ${pick(words)} is kept.`;

const code: Record<string, () => string> = {
  js: () =>
    `const ${pick(words)} = await fetch('/${pick(words)}s', { method: 'POST' });\nif (!${pick(words)}.ok) throw new Error(\`${pick(words)} ${Math.floor(random() * 999)}\`);`,
  json: () =>
    `{\n  "${pick(words)}": "${pick(words)}",\n  "amount": ${Math.floor(random() * 9999)},\n  "isOpen": true\n}`,
  sh: () =>
    `curl -X POST "$BASE/${pick(words)}s" \\\n  -H 'Content-Type: application/json' -d '{"id": ${Math.floor(random() * 99)}}'`,
  python: () =>
    `def ${pick(words)}(amount: int) -> str:\n    """${sentence()}"""\n    return f"{amount} ${pick(words)}"`,
  yaml: () => `${pick(words)}:\n  - name: ${pick(words)}\n    limit: ${Math.floor(random() * 99)} # ${pick(words)}`,
  ts: () => `interface ${pick(words)} {\n  id: number;\n  ${pick(words)}?: readonly string[];\n}`,
};

function pageText(number: number): string {
  const parts = [`# Page ${number} about the ${pick(words)}`];
  for (let section = 1; section <= 5; section++) {
    parts.push(
      `## ${section}. The ${pick(words)} and the ${pick(words)}`,
      Array.from({ length: 4 }, sentence).join(' '),
    );
    const other = Math.floor(random() * count);
    parts.push(`See [page ${other}](../${pathOf(other)}) and **${pick(words)}**, \`${pick(words)}\`.`);
    if (section % 2 === 1) {
      const language = pick(Object.keys(code));
      parts.push(`\`\`\`${language}\n${code[language]!()}\n\`\`\``);
    } else
      parts.push(
        [
          '| field | type | meaning |',
          '| --- | --- | --- |',
          ...Array.from({ length: 4 }, () => `| ${pick(words)} | text | ${pick(words)} |`),
        ].join('\n'),
      );
  }
  return `${parts.join('\n\n')}\n`;
}

function pathOf(number: number): string {
  return `part-${Math.floor(number / 50)}/page-${number}.md`;
}

interface Run {
  seconds: number;
  /** Seconds of processor time of the process and all that it started and waited for. */
  cpu: number;
  /** The same for each command, if there were several. */
  parts?: Run[];
}

/** Runs commands one after the other. Throws if one fails. */
async function run(commands: readonly (readonly string[])[], cwd: string): Promise<Run> {
  const parts: Run[] = [];
  for (const [command, ...args] of commands) {
    const times = join(folder, 'times');
    const child = spawn('python3', ['-c', reaper, times, join(folder, 'out'), command!, ...args], {
      cwd,
      env: { ...process.env, NODE_ENV: 'production' },
    });
    const [status] = (await once(child, 'exit')) as [number];
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${await readFile(join(folder, 'out'), 'utf8')}`);
    const [seconds, cpu] = (await readFile(times, 'utf8')).trim().split(' ').map(Number);
    parts.push({ seconds: seconds!, cpu: cpu! });
  }
  const sum = (of: (part: Run) => number) => parts.reduce((total, part) => total + of(part), 0);
  return { seconds: sum(({ seconds }) => seconds), cpu: sum(({ cpu }) => cpu), ...(parts.length > 1 && { parts }) };
}

const { execPath } = process;
const stele = join(folder, 'stele');
const tools: Record<string, { cwd: string; commands: string[][]; prepare(): Promise<void>; out: string }> = {
  stele: {
    cwd: stele,
    out: join(stele, 'site'),
    commands: [
      [execPath, cli, 'sites', 'publish', '@acme/sites/handbook', docs, '--public', '--config', 'config.mjs'],
      [execPath, cli, 'build', '--out', 'site', '--precompressed', 'none', '--config', 'config.mjs'],
    ],
    async prepare() {
      await writeFile(join(stele, 'config.mjs'), `export default { url: 'https://bench.test' };`);
      await mkdir(join(stele, 'small'));
      await writeFile(join(stele, 'small', 'index.md'), '# Small\n\n```json\n{}\n```\n');
      await writeFile(join(stele, 'small', 'plain.md'), '# Plain\n');
      const other = ['@acme/sites/other', 'small', '--config', 'config.mjs', '--data', 'other'];
      await run([[execPath, cli, 'sites', 'publish', ...other]], stele);
      await waitForSnapshots(homedir(), ['all', 'code']);
    },
  },
  eleventy: {
    cwd: join(folder, 'eleventy'),
    out: join(folder, 'eleventy', '_site'),
    commands: [[execPath, join(peers, 'node_modules/@11ty/eleventy/cmd.cjs'), '--quiet']],
    prepare: () => writeEleventy(join(folder, 'eleventy'), docs, 'whole'),
  },
  bare: {
    cwd: join(folder, 'bare'),
    out: join(folder, 'bare', '_site'),
    commands: [[execPath, join(peers, 'node_modules/@11ty/eleventy/cmd.cjs'), '--quiet']],
    prepare: () => writeEleventy(join(folder, 'bare'), docs, 'bare'),
  },
  vitepress: {
    cwd: join(folder, 'vitepress'),
    out: join(folder, 'vitepress', 'docs', '.vitepress', 'dist'),
    commands: [[execPath, join(peers, 'node_modules/vitepress/bin/vitepress.js'), 'build', 'docs']],
    async prepare() {
      const at = join(folder, 'vitepress');
      await writeFile(join(at, 'package.json'), '{"type":"module"}');
      await mkdir(join(at, 'docs/.vitepress'), { recursive: true });
      await writeFile(
        join(at, 'docs/.vitepress/config.js'),
        `export default { title: 'Handbook', ignoreDeadLinks: true, themeConfig: { search: { provider: 'local' } } };`,
      );
    },
  },
};

/** Seconds of processor time of a running process and all that it started. */
async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (stat === '') return 0;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).split(' ');
  const all = await Promise.all(children.filter(Boolean).map((child) => cpuOf(Number(child))));
  return all.reduce((sum, each) => sum + each, own);
}

/** Sends a changed page to a registry that serves the published site, several times. The median. */
async function publishChange(): Promise<Run> {
  const more = ['--config', 'config.mjs', '--json'];
  const made = spawn(
    execPath,
    [cli, 'keys', 'create', '--org', 'acme', '--name', 'bench', '--scope', 'admin', ...more],
    { cwd: stele },
  );
  let text = '';
  for await (const chunk of made.stdout) text += String(chunk);
  const { secret } = JSON.parse(text) as { secret: string };
  const server = spawn(execPath, [cli, 'serve', '--port', '0', ...more], {
    cwd: stele,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    let url = '';
    for await (const line of createInterface(server.stdout)) {
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
      if (url !== '') break;
    }
    const at = `${url}/v1/sites/handbook`;
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' };
    const runs: Run[] = [];
    for (let round = 0; round < 7; round++) {
      const [path, page] = [...pages][round * 3]!;
      const started = performance.now();
      const before = await cpuOf(server.pid!);
      const body = `${page}\nSentence ${round}.\n`;
      const file = { ...headers, 'Content-Type': 'application/octet-stream' };
      const saved = await fetch(`${at}/files/${path}`, { method: 'PUT', headers: file, body });
      const published = await fetch(`${at}/publish`, { method: 'POST', headers, body: '{}' });
      if (saved.status !== 200 || published.status !== 201) throw new Error(await published.text());
      const shown = await fetch(`${url}/sites/acme/handbook/${path.replace(/\.md$/, '')}`, { headers });
      if (!(await shown.text()).includes(`Sentence ${round}.`)) throw new Error('Readers do not see the change.');
      runs.push({ seconds: (performance.now() - started) / 1000, cpu: (await cpuOf(server.pid!)) - before });
    }
    // The first starts the sandbox.
    const middle = (of: (run: Run) => number) =>
      runs
        .slice(1)
        .map(of)
        .sort((a, b) => a - b)[3]!;
    return { seconds: middle(({ seconds }) => seconds), cpu: middle(({ cpu }) => cpu) };
  } finally {
    server.kill();
    await once(server, 'exit');
  }
}

async function writePages(to: string, changed: number | null = null): Promise<void> {
  for (const [path, text] of pages) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await writeFile(join(to, path), path === pathOf(changed ?? -1) ? `${text}\nOne more sentence.\n` : text);
  }
}

const pages = new Map(Array.from({ length: count }, (_, number) => [pathOf(number), pageText(number)] as const));
pages.set('index.md', '# Handbook\n\nStart [here](part-0/page-0.md).\n');
const show = ({ seconds, cpu, parts = [] }: Run): string =>
  [`${seconds.toFixed(2)} s, ${cpu.toFixed(2)} s of processor time`, ...parts.map((part) => `  ${show(part)}`)].join(
    '\n',
  );
try {
  await writePages(docs);
  const first: Record<string, Run> = {};
  const again: Record<string, Run> = {};
  for (const [name, { cwd, commands, prepare, out }] of Object.entries(tools)) {
    if (only !== null && !only.includes(name)) continue;
    await mkdir(cwd, { recursive: true });
    if (name !== 'stele') await symlink(join(peers, 'node_modules'), join(cwd, 'node_modules'));
    await prepare();
    const own = name === 'vitepress' ? join(cwd, 'docs') : docs;
    await writePages(own);
    first[name] = await run(commands, cwd);
    const files = (await readdir(out, { recursive: true })).filter((path) => path.endsWith('.html'));
    console.log(`${name}, ${files.length} pages: ${show(first[name])}`);
    await writePages(own, 7);
    again[name] = name === 'stele' ? await publishChange() : await run(commands, cwd);
    console.log(`${name}, one page changed: ${show(again[name])}`);
  }
  const { stele: ours, ...others } = first;
  if (ours)
    for (const [name, other] of Object.entries(others))
      for (const kind of ['seconds', 'cpu'] as const) {
        const one = again['stele']![kind] / other[kind];
        console.log(
          `${kind}: ${(ours[kind] / other[kind]).toFixed(2)} × ${name}; one changed page ${one.toFixed(3)} ×`,
        );
      }
} finally {
  await rm(folder, { recursive: true, force: true });
}
