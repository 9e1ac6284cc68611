import { expect, test } from 'vitest';
import { imagePaths, readImage } from '../../../src/model/image.ts';

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));
const be32 = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

const png = bytes('\x89PNG\r\n\x1a\n', be32(13), 'IHDR', be32(640), be32(480));
const frame = [0xff, 0xc2, 0, 17, 8, 1, 0xe0, 2, 0x80, 3];
const jpeg = bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xff, 0xc4, 0, 3, 0], frame);
const riff = (kind: string, ...rest: number[][]) => bytes('RIFF', be32(0), `WEBP${kind}`, be32(0), ...rest);

test.for([
  ['PNG', png, 'image/png', 640, 480],
  ['JPEG, past other segments and fill bytes', jpeg, 'image/jpeg', 640, 480],
  ['GIF', bytes('GIF89a', [0x80, 2, 0xe0, 1]), 'image/gif', 640, 480],
  ['lossy WebP', riff('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1], [0, 0, 0, 0]), 'image/webp', 640, 480],
  ['lossless WebP', riff('VP8L', [0x2f, 0x7f, 0xc2, 0x77, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]), 'image/webp', 640, 480],
  ['extended WebP', riff('VP8X', [0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0]), 'image/webp', 640, 480],
  [
    'AVIF: its largest part',
    bytes(be32(24), 'ftypavif', be32(0), 'ispe', be32(0), be32(64), be32(48), 'ispe', be32(0), be32(640), be32(480)),
    'image/avif',
    640,
    480,
  ],
  ['SVG', bytes('<?xml version="1.0"?>\n<!-- a -->\n<svg width="640px" height="480">'), 'image/svg+xml', 640, 480],
  ['SVG with a view box', bytes('<svg viewBox="0 0 320.4 240" width="100%">'), 'image/svg+xml', 320, 240],
  ['SVG without a size', bytes('<svg xmlns="http://www.w3.org/2000/svg">'), 'image/svg+xml', null, null],
  ['a PNG that ends early', png.subarray(0, 12), 'image/png', null, null],
  ['a PNG of no width', bytes('\x89PNG\r\n\x1a\n', be32(13), 'IHDR', be32(0), be32(480)), 'image/png', null, null],
] as const)('%s: type and size', ([, content, type, width, height]) => {
  expect(readImage(content)).toEqual({ type, width, height });
});

test.for(['', '<html><svg>', '{"a": 1}', 'RIFF0000WAVE', '%PDF-1.7'])('is not an image: %j', (text) => {
  expect(readImage(Buffer.from(text))).toBeNull();
});

test('the beginning of an image never throws, however short', () => {
  for (const whole of [png, jpeg, riff('VP8X', [0, 0, 0, 0, 1, 2, 3]), bytes('GIF87a'), bytes('<svg ')])
    for (let length = 0; length <= whole.length; length++)
      expect(readImage(whole.subarray(0, length))?.width ?? null).toSatisfy((width) => width === null || width > 0);
});

test.for([
  ['img/a.png', 'docs/api.yaml', ['docs/img/a.png', 'img/a.png']],
  ['./a%20b.PNG', 'api.yaml', ['a b.PNG']],
  ['../a.svg', 'docs/x/api.yaml', ['docs/a.svg']],
  ['/a.webp#x', 'docs/api.yaml', ['a.webp']],
  ['../../a.png', 'docs/api.yaml', []],
  ['https://x.example/a.png', 'api.yaml', []],
  ['//x.example/a.png', 'api.yaml', []],
  ['a.html', 'api.yaml', []],
  ['%2e%2e/a.png', 'api.yaml', []],
] as const)('%s in %s is looked for in the tree only', ([address, file, paths]) => {
  expect(imagePaths(address, file)).toEqual(paths);
});
