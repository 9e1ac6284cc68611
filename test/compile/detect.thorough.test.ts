import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandboxes } from '../../src/compile/sandboxes.ts';
import { openCompiler } from '../../src/compile/sandbox/sandbox.ts';
import { limits } from './limits.ts';

describe('detect', () => {
  let compiler: Sandboxes;
  beforeAll(() => {
    compiler = openCompiler({ children: 2 });
  });
  afterAll(() => compiler.close());

  it('finds the documents among many files, and a file that kills its sandbox takes nothing with it', async () => {
    const files = Array.from({ length: 12 }, (_, at) => ({
      path: `specs/${at}.yaml`,
      bytes: Buffer.from(at % 4 === 0 ? `openapi: 3.0.0\ninfo: {title: API ${at}}\n` : `name: openapi ${at}\n`),
    }));
    files.push({ path: 'broken.yaml', bytes: Buffer.from('openapi: [') });
    files.push({ path: 'deep.yaml', bytes: Buffer.from(`openapi: ${'['.repeat(100_000)}`) });
    // Reading it takes seconds, until its memory is at an end.
    const large = {
      path: 'large.yaml',
      bytes: Buffer.from(
        `# YAML\n${JSON.stringify({ openapi: '3.0.0', x: Array.from({ length: 900_000 }, (_, at) => ({ at })) })}`,
      ),
    };
    files.push(large);
    const found = await compiler.detect(files, { ...limits, memoryMegabytes: 160 });
    expect(found.map(({ path, title }) => [path, title])).toEqual(
      Array.from({ length: 3 }, (_, at) => [`specs/${at * 4}.yaml`, `API ${at * 4}`]),
    );
  });
});
