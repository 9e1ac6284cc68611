import { expect, test } from 'vitest';
import type { Resource } from '../../../src/model/resource.ts';
import type { Site } from '../../../src/site/site.ts';
import { labelsOf } from '../../../src/site/pages/listings.ts';

const links = { path: (path: string) => path } as Parameters<typeof labelsOf>[0]['links'];

const teams = { payments: { title: 'Payments', mail: 'pay@acme.example', onCall: 'https://oncall.example/pay' } };
const registry = { config: { organizations: { acme: { teams } } } } as unknown as Site['registry'];
const site = { links, registry };

test('an owner that is a team has its contacts, and only safe links are shown', () => {
  const stated = {
    system: 'checkout',
    links: [
      { title: 'Runbook', url: 'https://wiki.example/pay' },
      { title: 'x', url: 'javascript:alert(1)' },
      { title: 'y', url: 'https://a.example/"><script>' },
      { title: 'Ask', url: 'mailto:pay@acme.example' },
    ],
  };
  for (const owner of ['payments', '@acme/payments', 'group:default/payments', 'Payments'])
    expect(labelsOf(site, { org: 'acme', owner, ...stated } as Resource)).toMatchObject({
      owner: { name: 'Payments', href: null },
      system: 'checkout',
      contacts: [
        { title: 'pay@acme.example', url: 'mailto:pay@acme.example' },
        { title: 'on call', url: 'https://oncall.example/pay' },
      ],
      links: [stated.links[0], stated.links[3]],
    });
  for (const owner of ['constructor', 'payments!', null])
    expect(labelsOf(site, { org: 'acme', owner } as Resource)).toMatchObject({ contacts: [] });
});

test.each([
  ['Ana <ana@acme.example>', 'Ana', 'mailto:ana@acme.example'],
  ['Payments https://chat.example/pay', 'Payments', 'https://chat.example/pay'],
  ['ana@acme.example', 'ana@acme.example', 'mailto:ana@acme.example'],
  ['Team <Pay>', 'Team <Pay>', null],
  ['javascript:alert(1)', 'javascript:alert(1)', null],
])('the owner %j is asked at its address', (owner, name, href) => {
  expect(labelsOf(site, { org: 'acme', owner } as Resource)).toMatchObject({ owner: { name, href } });
});
