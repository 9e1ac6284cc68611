import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publicDetail, repositoryId, repositoryRef, runRef } from '../../src/model/connection.ts';

test('a repository is known by its URL and branch, and by nothing shorter', () => {
  const branch = fc.option(fc.stringMatching(/^[a-z/]{1,4}$/));
  const url = fc.stringMatching(/^https:\/\/[ab]\.example\/[ab/]{0,3}$/);
  fc.assert(
    fc.property(url, branch, url, branch, (url1, branch1, url2, branch2) => {
      const [one, two] = [repositoryId(url1, branch1), repositoryId(url2, branch2)];
      expect(one).toMatch(/^[0-9a-f]{16}$/);
      expect(one === two).toBe(url1 === url2 && branch1 === branch2);
    }),
  );
});

test('refs of repositories and runs are apart by organization', () => {
  expect(repositoryRef('acme', '0123456789abcdef')).toBe('repositories/acme/0123456789abcdef');
  expect(runRef('acme', 'r1')).toBe('runs/acme/r1');
});

test('what is said of a local repository does not name its folder', () => {
  expect(publicDetail('/srv/git/apis.git', '/srv/git/apis.git has no branch "x".')).toBe('apis has no branch "x".');
  expect(publicDetail('https://git.test/a', 'https://git.test/a is gone.')).toBe('https://git.test/a is gone.');
  expect(publicDetail('/srv/git/apis.git', null)).toBeNull();
});
