/**
 * How many files `stele build --lean` writes: a registry of many APIs with some versions each, against the 20,000 files that Cloudflare takes. The
 * versions are those of one API, published for real; the other APIs are records of the same versions under other names.
 *
 *   node scripts/lean.ts [--apis 1000] [--versions 10]
 *
 * Exits with 1 if there are more files than the host takes, or if one is larger.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { argv } from 'zx';
import { parseCoordinate } from '../src/model/address.ts';
import { resourceRef, type Resource } from '../src/model/resource.ts';
import { openSite } from '../test/e2e/browser/site.ts';
import { build, filesIn, openFolder } from '../test/site/build/build-world.ts';

const apis = Number(argv['apis'] ?? 1000);
const versions = Number(argv['versions'] ?? 10);
/** What Cloudflare takes: files on its free plan, and bytes of each. */
const most = { files: 20_000, bytes: 25 * 1024 * 1024 };

await using site = await openSite({ organizations: { acme: { name: 'Acme' } } });
await using folder = await openFolder();
for (let at = 0; at < versions; at++) await site.publish('@acme/apis/api-0', 'api.json', documentOf(`1.${at}.0`));
const first = (await site.registry.refs.read<Resource>(resourceRef(parseCoordinate('@acme/apis/api-0')!.coordinate)))!;
const change = { actor: 'operator:lean', origin: null, action: 'copy' };
for (let at = 1; at < apis; at++) {
  const record = { ...first.value, slug: `api-${at}`, name: `Orders ${at}` };
  await site.registry.refs.update<Resource>(resourceRef(record), () => ({ value: record, change }));
}
const started = process.cpuUsage();
const built = await build(site.registry, join(folder.path, 'site'), { host: 'cloudflare', isLean: true });
const { user, system } = process.cpuUsage(started);
// Hosts are told to leave the list of the build out.
const paths = (await filesIn(join(folder.path, 'site'))).filter((path) => path !== '.stele-build.json');
const sizes = await Promise.all(paths.map(async (path) => (await stat(join(folder.path, 'site', path))).size));
const largest = Math.max(...sizes);
const places = Map.groupBy(paths, (path) => path.split('/')[0]!);
console.log(`${apis} APIs with ${versions} versions each: ${paths.length} files, ${(built.bytes / 1e6).toFixed(0)} MB`);
console.log(`the largest: ${(largest / 1e6).toFixed(1)} MB; ${((user + system) / 1e6).toFixed(0)} s of processor time`);
for (const [name, all] of places) if (all.length > 5) console.log(`  ${name}: ${all.length}`);
process.exit(paths.length <= most.files && largest <= most.bytes ? 0 : 1);

function documentOf(version: string): string {
  const content = { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' } } } } };
  const get = { operationId: 'getOrder', summary: 'Get an order', responses: { 200: { description: 'One', content } } };
  return JSON.stringify({ openapi: '3.1.0', info: { title: 'Orders', version }, paths: { '/orders': { get } } });
}
