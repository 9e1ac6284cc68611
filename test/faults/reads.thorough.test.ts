import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../server/http.ts';
import { openServed, type Served } from '../server/served.ts';
import { deploy, png, writeSite } from '../sites/server/site-world.ts';
import { createFaultyPorts, unheardDuring } from './faulty-ports.ts';

/** Every kind of read, while each call of each port rejects in turn. */
const ports = createFaultyPorts();
const host = 'docs.acme.test';
let served: Served;

beforeAll(async () => {
  const rateLimit = { key: 1_000_000, address: 1_000_000, failures: 1_000_000 };
  served = await openServed({ rateLimit, sites: { hosts: { [host]: '@acme/sites/handbook' } } }, { ports });
  const files = { 'index.md': '# Home', 'guide.md': '# Guide\n\n```api\n@acme/apis/pay\n```', 'logo.png': png };
  await writeSite(served.registry, files);
  await deploy(served.registry);
});
afterAll(() => served[Symbol.asyncDispose]());

const pay = '/@acme/apis/pay';
const targets = `
  / /healthz /readyz /metrics /search?q=pay /account /docs/ /.well-known/api-catalog /none
  /sitemap.xml /robots.txt /llms.txt /problems/not_found /feeds/@acme.atom /feeds${pay}.atom
  /@acme /@acme/apis /@acme/apis/empty ${pay} ${pay}@1.1.0 ${pay}@1 ${pay}@1.0.3 ${pay}.yaml
  ${pay}@1.1.0/versions ${pay}@1.1.0/report ${pay}@1.1.0/provenance ${pay}@1.1.0/embed ${pay}@1.1.0/try
  ${pay}@1.1.0/diff ${pay}/diff?from=1.0.0&to=1.1.0 /sites/acme/handbook/ /sites/acme/handbook/none
  /v2/ /v2/acme/apis/pay/tags/list /v2/acme/apis/pay/manifests/1.1.0 /v2/acme/apis/pay/manifests/none
`;
const atHost = ['/', '/guide', '/guide.md', '/logo.png', '/none', '/search.json', '/sitemap.xml', '/?q=home'];
const asked = [
  ...targets
    .trim()
    .split(/\s+/)
    .map((target) => ['registry.test', target]),
  ...atHost.map((target) => [host, target]),
] as [string, string][];

test.each(asked)('%s%s', async (name, target) => {
  for (const accept of ['text/html', 'application/json'])
    for (const isBug of [false, true])
      for (let call = 1; ; call++) {
        // What is kept by this process would hide the ports.
        await served.registry.cache.clear();
        ports.failAt(call, isBug);
        const headers = [
          ['Accept', accept],
          ['Cookie', 'a=b'],
          ['Authorization', `Bearer ${served.values['acme']}`],
        ] as const;
        let status = 0;
        const unheard = await unheardDuring(async () => {
          ({ status } = await ask(served.port, { target: target.replace(/^/, `http://${name}`), headers }));
        });
        const hasFailed = ports.hasFailed();
        ports.failAt(null, false);
        expect({ accept, isBug, call, unheard }).toEqual({ accept, isBug, call, unheard: [] });
        expect(status).toBeGreaterThan(199);
        if (!hasFailed) break;
      }
});
