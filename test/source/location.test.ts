import { describe, expect, test } from 'vitest';
import { isRegistryError } from '../../src/model/errors.ts';
import { parseLocation, type Reach } from '../../src/source/location.ts';

const anywhere: Reach = { allowLocalRepositories: true, hosts: null };

function outcome(url: string, reach: Reach = anywhere): string {
  try {
    const location = parseLocation(url, reach);
    return location.kind === 'local'
      ? `local ${location.url}`
      : `${location.kind} ${location.host} ${location.port} ${location.url}`;
  } catch (error) {
    if (isRegistryError(error)) return error.code;
    throw error;
  }
}

describe('the address of a repository', () => {
  test.each([
    ['https://github.com/acme/apis', 'https github.com 443 https://github.com/acme/apis'],
    ['https://GitHub.com:443/acme/apis.git', 'https github.com 443 https://github.com/acme/apis.git'],
    ['https://git.test:8443/a', 'https git.test 8443 https://git.test:8443/a'],
    ['https://[2606:4700::1111]/a', 'https 2606:4700::1111 443 https://[2606:4700::1111]/a'],
    ['https://0x7f.1/a', 'https 127.0.0.1 443 https://127.0.0.1/a'],
    ['https://bücher.test/a', 'https xn--bcher-kva.test 443 https://xn--bcher-kva.test/a'],
    ['ssh://git@github.com/acme/apis.git', 'ssh github.com 22 ssh://git@github.com/acme/apis.git'],
    ['ssh://git.test:2222/a', 'ssh git.test 2222 ssh://git.test:2222/a'],
    ['git@github.com:acme/apis.git', 'ssh github.com 22 git@github.com:acme/apis.git'],
    ['git.test:a/b', 'ssh git.test 22 git.test:a/b'],
    ['git@[2606:4700::1111]:a', 'ssh 2606:4700::1111 22 git@[2606:4700::1111]:a'],
    ['/srv/git/a b.git', 'local /srv/git/a b.git'],
    ['file:///srv/git/a%20b.git', 'local /srv/git/a b.git'],
  ])('%s is read', (url, expected) => {
    expect(outcome(url)).toBe(expected);
  });

  test.each([
    '',
    'acme/apis',
    './repository',
    '../repository',
    'https://',
    'https://user@github.com/a',
    'https://user:secret@github.com/a',
    'https://:secret@github.com/a',
    'ssh://git:secret@github.com/a',

    'https://github.com/a?token=secret',
    'https://github.com/a#secret',
    'https://github.com/a\nb',
    ' https://github.com/a',

    'https://github.com/a b',
    '/srv/a\0b',
    '/srv/a\nb',
    'file://server/share',
    'file:///a%2fb',
    'https://git.test:99999/a',
    'ssh://-oProxyCommand=id/a',
    '-oProxyCommand=id:a',
    'git@-host:a',
    'ssh://-l@git.test/a',
    '-u@git.test:a',

    'git@host:-oProxyCommand=id',
    'ssh://git%40x@git.test/a',
    'ssh://git.test%2f/a',
    "ssh://git';id@git.test/a",
    '\ud800',
  ])('%j is malformed, and its parts are not repeated', (url) => {
    expect(outcome(url)).toBe('malformed');
    expect(() => parseLocation(url, anywhere)).not.toThrow('secret');
  });

  test.each([
    'http://github.com/a',
    'git://github.com/a',
    'ftp://github.com/a',
    'ext::sh',
    'ext::sh://x',
    'fd::3',

    'data://x/y',
    'git+ssh://github.com/a',
  ])('%s is forbidden', (url) => {
    expect(['forbidden', 'malformed']).toContain(outcome(url));
    if (url.includes('://') && !url.includes('::')) expect(outcome(url)).toBe('forbidden');
  });
});

describe('the allowed hosts', () => {
  const hosts = [
    'github.com',
    'git.test:8443',
    'ssh.test:2222',
    'http://10.0.0.5:3000',
    'http://plain.test',
    '[2606:4700::1111]',
  ];
  const listed: Reach = { allowLocalRepositories: false, hosts };

  test.each([
    'https://github.com/a',
    'https://GITHUB.com/a',
    'git@github.com:a',
    'ssh://github.com/a',
    'https://git.test:8443/a',
    'ssh://ssh.test:2222/a',
    'http://10.0.0.5:3000/a',
    'http://plain.test/a',
    'http://plain.test:80/a',
    'https://[2606:4700::1111]/a',
  ])('include %s', (url) => {
    expect(parseLocation(url, listed)).toMatchObject({ isListed: true });
  });

  test.each([
    'https://gitlab.com/a',
    'https://github.com:8443/a',
    'https://git.test/a',
    'http://github.com/a',
    'https://github.com./a',

    'https://github.com.evil.test/a',
    'https://evilgithub.com/a',
    'https://10.0.0.5:3000/a',
    'https://plain.test/a',
    'http://10.0.0.5/a',
    'ssh://ssh.test/a',
    'git@ssh.test:a',
    'https://sub.github.com/a',
    '/srv/a.git',
  ])('do not include %s', (url) => {
    expect(outcome(url, listed)).toBe('forbidden');
  });

  test('may be none', () => {
    expect(outcome('https://github.com/a', { allowLocalRepositories: true, hosts: [] })).toBe('forbidden');
  });
});
