import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { $ } from 'zx';

/** Of an image, as buildah tells it, what a runtime obeys. */
interface Settings {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  StopSignal: string;
  Healthcheck: { Test: string[] };
}

/** The most that an image may have, in bytes. */
const maxBytes = 300e6;

/**
 * Runs an image that buildah built, as a runtime does: as its user, on a root that cannot be written, in a network of its own, with a
 * volume and a `/tmp`. Waits until its health check succeeds, then stops it with its signal. Throws where something is not as it
 * should be; answers its size in bytes. To be called by root.
 */
export async function tryImage(image: string): Promise<number> {
  const described = JSON.parse((await $`buildah inspect --type image ${image}`).stdout) as {
    Docker: { config: Settings };
  };
  const { User, Env, Entrypoint, Cmd, StopSignal, Healthcheck } = described.Docker.config;
  if (User !== '1000:1000') throw new Error(`The image runs as ${User}.`);
  const container = (await $`buildah from --pull-never ${image}`).stdout.trim();
  const data = await mkdtemp(join(tmpdir(), 'stele-image-'));
  await chown(data, 1000, 1000);
  try {
    const root = (await $`buildah mount ${container}`).stdout.trim();
    const bytes = Number((await $`du --summarize --bytes --one-file-system ${root}`).stdout.split('\t')[0]);
    if (bytes > maxBytes) throw new Error(`The image has ${(bytes / 1e6).toFixed(0)} MB.`);
    const before = [
      'ip link set lo up',
      'mount --bind "$0" "$0"',
      'mount -o remount,bind,ro "$0"',
      'mount -t proc proc "$0/proc"',
    ];
    const places = [
      'mount --bind "$1" "$0/var/lib/stele"',
      'mount -t tmpfs tmpfs "$0/tmp"',
      'mount --rbind /dev "$0/dev"',
    ];
    const enter = 'root=$0; shift; exec chroot --userspec=1000:1000 "$root" "$@"';
    const script = [...before, ...places, enter].join(' && ');
    const inside = ['setpriv', '--no-new-privs', 'env', '-i', ...Env];
    const child = spawn(
      'unshare',
      ['--mount', '--net', 'sh', '-c', script, root, data, ...inside, ...Entrypoint, ...Cmd],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    const [kind, ...check] = Healthcheck.Test;
    if (kind !== 'CMD') throw new Error('The health check is not a command.');
    const within = ['--target', String(child.pid), '--mount', '--net', 'chroot', '--userspec=1000:1000', root];
    for (let tries = 0; ; tries++) {
      const { exitCode } = await $({ nothrow: true, quiet: true })`nsenter ${within} env -i ${Env} ${check}`;
      if (exitCode === 0) break;
      if (tries === 60 || child.exitCode !== null) throw new Error('The image does not become healthy.');
      await delay(2_000);
    }
    const touched = await $({ nothrow: true, quiet: true })`nsenter ${within} touch /opt/stele/x`;
    if (touched.exitCode === 0) throw new Error('The root of the image can be written.');
    child.kill(StopSignal as NodeJS.Signals);
    const [code] = await ended;
    if (code !== 0) throw new Error(`${StopSignal} ended it with ${code}.`);
    return bytes;
  } finally {
    await $({ quiet: true })`buildah rm ${container}`;
    await rm(data, { recursive: true, force: true });
  }
}
