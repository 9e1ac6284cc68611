import { describe, expect, test } from 'vitest';
import { createUpload } from '../../src/source/upload.ts';
import { ruleOf } from '../contract/snapshot.ts';

describe('an upload', () => {
  const upload = createUpload('openapi.yaml', Buffer.from('hello\n'));

  test('is a snapshot of one file that comes from nowhere', async () => {
    expect(upload.origin).toEqual({ repository: null, commit: null });
    expect(await upload.entries()).toEqual([
      { path: 'openapi.yaml', kind: 'file', id: 'ce013625030ba8dba906f756967f9e9ca394464a' },
    ]);
    const [file] = await upload.read(['openapi.yaml']);
    expect(file).toEqual({ path: 'openapi.yaml', found: true, bytes: Buffer.from('hello\n'), blob: null });
  });

  test('has no other file, and says why', async () => {
    const [file] = await upload.read(['schemas/pet.yaml']);
    expect(file?.found === false && file.problem).toMatchObject({
      rule: 'file-missing',
      file: 'schemas/pet.yaml',
      message: 'Only one file was uploaded, and it is not this one.',
    });
  });

  test.each(['../openapi.yaml', '/openapi.yaml', './openapi.yaml', ''])('refuses the path %j', async (path) => {
    expect(await ruleOf(upload, path)).toBe('path-outside-tree');
  });

  test('refuses a Git LFS pointer', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 7\n`;
    expect(await ruleOf(createUpload('a.yaml', Buffer.from(pointer)), 'a.yaml')).toBe('lfs-pointer');
  });
});
