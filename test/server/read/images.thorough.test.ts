import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSite, type OpenSite } from '../../e2e/browser/site.ts';
import { build, filesIn, openFolder } from '../../site/build/build-world.ts';
import { text, files } from './images-world.ts';

/** Images that documents show: part of the version, with its access; others only where the organization names their host. */

let site: OpenSite;
beforeAll(async () => {
  site = await openSite({ organizations: { acme: { images: ['cdn.acme.test'] } } });
  await site.publish('@acme/apis/pay', 'docs/api.yaml', text(), { files });
  await site.publish('@shop/apis/pay', 'docs/api.yaml', text(), { files, visibility: 'private' });
});
afterAll(() => site[Symbol.asyncDispose]());

test('the twin has the images, and the policies of the pages that show others', async () => {
  await using folder = await openFolder();
  await build(site.registry, folder.path, { precompressed: 'none' });
  const found = (await filesIn(folder.path)).filter((path) => path.includes('/image-'));
  expect(found.map((path) => path.replace(/[0-9a-f]{16}/, 'X'))).toEqual(
    expect.arrayContaining(['@acme/apis/pay@1.0.0/image-X.svg', '@acme/apis/pay/image-X.svg']),
  );
  expect(found.join()).not.toContain('@shop');
});
