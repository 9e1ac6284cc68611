import { expect, test } from 'vitest';
import type { Compiled } from '../../src/compile/compile.ts';
import { imageLayers, type Manifest } from '../../src/model/artifact.ts';
import { largestImage, largestImages } from '../../src/model/image.ts';
import { decodeJson } from '../../src/model/json.ts';
import { createReport } from '../../src/model/problem.ts';
import { buildArtifact } from '../../src/registry/store-artifact.ts';

/** The images of a version that asks for PNG files of these sizes, by name. */
function imagesOf(sizes: readonly number[]): string[] {
  const bytes = Buffer.from('openapi: 3.1.0\n');
  const images = sizes.map((size, at) => {
    const image = Buffer.alloc(size, at);
    image.write('\x89PNG\r\n\x1a\n', 'latin1');
    return { path: `${at}.png`, blob: null, bytes: image };
  });
  const facts = { kind: 'openapi', specification: '3.1.0', title: 'Pay', description: '', version: null } as const;
  const compiled: Compiled = {
    artifact: { ...facts, type: 'apis', summary: '', representations: [{ format: 'yaml', coding: 'identity', bytes }] },
    report: createReport([]),
    files: [{ path: 'api.yaml', blob: null, bytes }, ...images],
  };
  const { manifest } = buildArtifact({
    coordinate: { org: 'acme', type: 'apis', slug: 'pay' },
    entry: 'api.yaml',
    origin: { repository: null, commit: null },
    compiled,
    compiler: 'test',
    validation: 'strict',
    ruleset: null,
    view: undefined,
  });
  return imageLayers(decodeJson<Manifest>(manifest)).map(({ image }) => image.path);
}

test('a version has images up to a size each, and up to one in all, those first that were asked for first', () => {
  expect(imagesOf([largestImage + 1, largestImage])).toEqual(['1.png']);
  const count = largestImages / largestImage;
  const sizes = Array<number>(count + 1).fill(largestImage);
  expect(imagesOf([100, ...sizes, 100])).toEqual([...Array(count).keys(), count + 2].map((at) => `${at}.png`));
});
