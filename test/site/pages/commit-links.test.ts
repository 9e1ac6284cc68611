import { describe, expect, test } from 'vitest';
import { commitLinks } from '../../../src/site/pages/describe-version.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';

describe('the page of a commit', () => {
  test.for([
    [
      'https://github.com/acme/apis.git',
      'https://github.com/acme/apis/commit/',
      'https://github.com/acme/apis/blob/C/a%20b/x.yaml#L3',
    ],
    [
      'https://gitlab.com/acme/sub/apis',
      'https://gitlab.com/acme/sub/apis/-/commit/',
      'https://gitlab.com/acme/sub/apis/-/blob/C/a%20b/x.yaml#L3',
    ],
    [
      'https://bitbucket.org/acme/apis',
      'https://bitbucket.org/acme/apis/commits/',
      'https://bitbucket.org/acme/apis/src/C/a%20b/x.yaml#lines-3',
    ],
    [
      'https://codeberg.org/acme/apis/',
      'https://codeberg.org/acme/apis/commit/',
      'https://codeberg.org/acme/apis/src/commit/C/a%20b/x.yaml#L3',
    ],
  ])('of %s', ([repository, page, file]) => {
    const links = commitLinks(repository!, commit)!;
    expect(links.commit).toBe(`${page}${commit}`);
    expect(links.file('a b/x.yaml', 3)).toBe(file!.replace('C', commit));
  });

  test('has a file as it is on a branch, to change it there', () => {
    const on = (repository: string) => commitLinks(repository, commit)!.latest('docs/a b.md', 'main');
    expect(on('https://github.com/acme/apis')).toBe('https://github.com/acme/apis/blob/main/docs/a%20b.md');
    expect(on('https://codeberg.org/acme/apis')).toBe('https://codeberg.org/acme/apis/src/branch/main/docs/a%20b.md');
  });

  test('has a form for a problem with its title filled in', () => {
    expect(commitLinks('https://github.com/acme/apis', commit)!.issue('a&b')).toBe(
      'https://github.com/acme/apis/issues/new?title=a%26b',
    );
    expect(commitLinks('https://gitlab.com/acme/apis', commit)!.issue('a b')).toBe(
      'https://gitlab.com/acme/apis/-/issues/new?issue%5Btitle%5D=a%20b',
    );
  });

  test.for([
    [null, commit],
    ['https://github.com/acme/apis', null],
    ['https://github.com/acme/apis', 'main"><script>'],
    ['http://github.com/acme/apis', commit],
    ['https://token@github.com/acme/apis', commit],
    ['https://github.com:8443/acme/apis', commit],
    ['https://github.com.evil.example/acme/apis', commit],
    ['git@github.com:acme/apis.git', commit],
    ['javascript://github.com/%0aalert(1)', commit],
    ['apis', commit],
    ['https://constructor/x', commit],
  ] as const)('is not guessed for %s at %s', ([repository, at]) => {
    expect(commitLinks(repository, at)).toBeNull();
  });
});
