/**
 * The static build in nginx with the rules that come with it, beside nginx that serves the same bytes from the same folder with no rules, in
 * alternating rounds of wrk. Each server has core 0 in turn.
 *
 *   node scripts/bench/twin.ts [--rounds 5] [--seconds 2]
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv } from 'zx';
import { freePort } from '../../test/servers/ports.ts';
import { quantile } from '../load/quantile.ts';
import { reportResults } from './results.ts';
import { makeDocument, measure, mediansOf, openWire, showRate, type Rate, type Server } from './wire.ts';

const rounds = Number(argv['rounds'] ?? 5);
const seconds = Number(argv['seconds'] ?? 2);
const sizes = { '5 KB': 5e3, '100 KB': 1e5 };

await using wire = await openWire({
  url: 'https://bench.test',
  organizations: { bench: { defaults: { visibility: 'public' } } },
});
for (const [at, bytes] of Object.values(sizes).entries()) {
  await writeFile(join(wire.folder, 'document.json'), makeDocument(bytes));
  await wire.stele('publish', 'document.json', `@bench/apis/of-${at}`, '--version', '1.0.0');
}
const site = join(wire.folder, 'site');
await wire.stele('build', '--out', site);
const common = 'access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100;';
const ruled = await serve(
  'ruled',
  `${common} include ${site}/rules/nginx-http.conf;`,
  `include ${site}/rules/nginx-server.conf;`,
);
const bare = await serve('bare', `${common} default_type application/json;`, '');
const rates = new Map<string, Rate[]>();
for (let round = 0; round < rounds; round++)
  for (const at of Object.values(sizes).keys())
    for (const server of [ruled, bare]) {
      // Both send the file of the JSON: the rules choose it by the header, and nginx alone has it by its name.
      const url = `${server.url}/@bench/apis/of-${at}@1.0.0.json`;
      const name = `${server.name} ${at}`;
      rates.set(name, [...(rates.get(name) ?? []), await measure(server, { url }, { seconds })]);
    }
const pairs = Object.keys(sizes).map((size, at) => {
  const [ours, its] = [mediansOf(rates.get(`ruled ${at}`)!), mediansOf(rates.get(`bare ${at}`)!)];
  return { ratio: ours.wall / its.wall, seen: `${size} ${showRate(ours)}, bare ${showRate(its)}` };
});
const value = quantile(
  pairs.map(({ ratio }) => ratio),
  0,
);
await reportResults([{ row: 'twin', value, seen: `the lower of: ${pairs.map(({ seen }) => seen).join('; ')}` }]);

async function serve(name: string, http: string, rules: string): Promise<Server> {
  const port = await freePort();
  const file = join(wire.folder, `${name}.conf`);
  const lines = [
    `daemon off; master_process off; worker_processes 1; pcre_jit on; pid ${wire.folder}/${name}.pid; error_log ${wire.folder}/${name}.log;`,
    `events { worker_connections 1024; } http { ${http}`,
    `server { listen 127.0.0.1:${port}; root ${site}; ${rules} } }`,
  ];
  await writeFile(file, lines.join('\n'));
  return wire.serve(name, ['nginx', '-c', file], `http://127.0.0.1:${port}/@bench/apis/of-0@1.0.0.json`);
}
