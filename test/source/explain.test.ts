import { expect, test } from 'vitest';
import { explainFailure, isNoRepository } from '../../src/source/command.ts';
import type { Location } from '../../src/source/location.ts';

const location: Location = { kind: 'ssh', url: 'git@git.test:a.git', host: 'git.test', port: 22, isListed: true };

function explain(stderr: string, hasCredential = true): { code: string; message: string } {
  const { code, message } = explainFailure({ stderr, location, hasCredential, secrets: ['s3cret'] });
  return { code, message };
}

// As git 2.39 with OpenSSH 9.2 and curl 7.88 print them.
test.each([
  [
    'git@git.test: Permission denied (publickey).\r\nfatal: Could not read from remote repository.',
    'rejected the credential',
  ],
  [
    'No ED25519 host key is known for git.test and you have requested strict checking.\nHost key verification failed.',
    'known_hosts',
  ],
  ['@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.', 'known_hosts'],
  ['Load key "/key": bad permissions\ngit@git.test: Permission denied (publickey).', 'cannot be used'],
  ['no such identity: /key: No such file or directory\ngit@git.test: Permission denied (publickey).', 'cannot be used'],
  [
    'ssh: connect to host git.test port 22: Connection refused\nfatal: Could not read from remote repository.',
    'Cannot connect to',
  ],
  ['ssh: connect to host git.test port 22: Connection timed out', 'did not answer in time'],
  ['ERROR: Repository not found.\nfatal: Could not read from remote repository.', 'There is no repository at'],
  [
    "fatal: unable to access 'https://git.test/a/': SSL certificate problem: unable to get local issuer certificate",
    'TLS',
  ],
  [
    "fatal: unable to access 'https://git.test/a/': Operation too slow. Less than 1 bytes/sec transferred the last 5 seconds",
    'in time',
  ],
  ["fatal: detected dubious ownership in repository at '/srv/a.git'", 'belongs to another user'],
  ['fatal: mismatched algorithms: client sha1; server sha256', 'SHA-256'],
  ['remote: aborting due to possible repository corruption on the remote side.\nfatal: early EOF', 'it is damaged'],
  ['error: RPC failed; curl 18 transfer closed\nfatal: early EOF', 'invalid git response'],
])('%s', (stderr, words) => {
  const { code, message } = explain(stderr);
  expect(code).toBe('unreachable');
  expect(message).toContain(words);
  expect(message).toContain(location.url);
});

// As git over http, and GitHub, GitLab, Gitea, Bitbucket and plain sshd over ssh say it.
test.each([
  "fatal: repository 'https://git.test/a/' not found",
  'ERROR: Repository not found.\nfatal: Could not read from remote repository.',
  "ERROR: The project you were looking for could not be found or you don't have permission to view it.",
  'Gitea: Unauthorized\nfatal: Cannot find repository: a/b',
  'repository does not exist.\nfatal: Could not read from remote repository.',
  "fatal: '/srv/a.git' does not appear to be a git repository",
])('says that there is no repository: %s', (stderr) => {
  expect(isNoRepository(stderr, location)).toBe(true);
  expect(isNoRepository(stderr, { kind: 'local', url: '/srv/a.git' })).toBe(false);
});

test.each([
  'ssh: Could not resolve hostname git.test: Name or service not known',
  'git@git.test: Permission denied (publickey).',
  "fatal: unable to access 'https://git.test/a/': The requested URL returned error: 403",
  "fatal: unable to access 'https://git.test/404/': The requested URL returned error: 503",
  "fatal: could not read Username for 'https://git.test': terminal prompts disabled",
  'Host key verification failed.\nfatal: Could not read from remote repository.',
])('does not say that there is no repository: %s', (stderr) => {
  expect(isNoRepository(stderr, location)).toBe(false);
});

test('a full disk here is not blamed on the repository', () => {
  expect(explain('fatal: write error: No space left on device\nfatal: index-pack failed').code).toBe('unavailable');
});

test('what git says otherwise is one short line without control characters and secrets', () => {
  const { message } = explain(`remote: s3cret\nfatal: \u001b[31mstrange s3cret thing ${'x'.repeat(1000)}\nhint: more`);
  expect(message).toContain('strange ••• thing');
  expect(message).not.toMatch(/s3cret|\u001b|hint/);
  expect(message.length).toBeLessThan(400);
});

test('says what a credential would change', () => {
  expect(explain('fatal: returned error: 404', false).message).toContain('or it needs a credential');
  expect(explain('fatal: returned error: 404', true).message).toContain('or the credential may not see it');
});
