import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';

const program = '/usr/sbin/sshd';

/** Whether a real OpenSSH server is installed here (Debian: openssh-server). */
export const hasSshServer: boolean = existsSync(program);

export interface SshServer extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  host: string;
  /** The URL of a folder: `ssh://<user>@<host><path>`. */
  urlOf(path: string): string;
  /** Of a private key that is let in, of one that would be but has a passphrase, and of one that is not. */
  keyFile: string;
  lockedKeyFile: string;
  strangerKeyFile: string;
  /** File of the server's host key, as `known_hosts` takes it. */
  knownHosts: string;
}

/**
 * A real ssh server: `sshd` in the foreground on a free port of the loopback address, with its own configuration, host key and authorized key, all of them
 * in this folder. It lets the user in who runs the tests. As Debian's own does, it drops GIT_PROTOCOL, so git speaks its first protocol.
 */
export async function openSshServer(folder: string): Promise<SshServer> {
  mkdirSync(folder, { mode: 0o700 });
  const keys = Object.fromEntries(
    ['host', 'user', 'locked', 'stranger'].map((name) => [name, createKey(folder, name)]),
  );
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const [authorized, knownHosts, config] = ['authorized_keys', 'known_hosts', 'config'].map((name) =>
    join(folder, name),
  );
  const known = ['user', 'locked'].map((name) => readFileSync(`${keys[name]}.pub`, 'utf8'));
  writeFileSync(authorized!, known.join(''), { mode: 0o600 });
  writeFileSync(knownHosts!, `[127.0.0.1]:${port} ${readFileSync(`${keys['host']}.pub`, 'utf8')}`);
  const settings = {
    ListenAddress: host,
    HostKey: keys['host']!,
    AuthorizedKeysFile: authorized!,
    PidFile: 'none',
    UsePAM: 'no',
    StrictModes: 'no',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PermitRootLogin: 'prohibit-password',
    MaxStartups: '100',
    // The user's shell reads what it finds at home before each command: of some users that is a hundred processes.
    SetEnv: `HOME=${folder}`,
    // The usual one costs ten times as much.
    KexAlgorithms: 'curve25519-sha256',
  };
  writeFileSync(
    config!,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  );
  // Of root, sshd wants the empty folder that the system's own service makes.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const server = spawn(program, ['-D', '-e', '-f', config!], { stdio: ['ignore', 'ignore', 'pipe'] });
  const close = () => stop(server);
  try {
    await untilListening(server, port);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    host,
    urlOf: (path) => `ssh://${userInfo().username}@${host}${path}`,
    keyFile: keys['user']!,
    lockedKeyFile: keys['locked']!,
    strangerKeyFile: keys['stranger']!,
    knownHosts: knownHosts!,
    [Symbol.asyncDispose]: close,
  };
}

function createKey(folder: string, name: string): string {
  const file = join(folder, name);
  const passphrase = name === 'locked' ? 'secret' : '';
  execFileSync('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', file], {
    stdio: 'pipe',
  });
  return file;
}

/** Two minutes at most. */
async function untilListening(server: ChildProcess, port: number): Promise<void> {
  let said = '';
  server.stderr?.on('data', (chunk: Buffer) => (said += chunk));
  for (let tries = 0; tries < 2400; tries++) {
    if (server.exitCode !== null) break;
    if (await answers(port)) return;
    await sleep(50);
  }
  throw new Error(`sshd does not answer: ${said}`);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'data', { signal: AbortSignal.timeout(10_000) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill();
  await ended;
}
