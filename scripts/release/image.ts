import { $, which } from 'zx';
import { canMakeBases, makeBases } from './bases.ts';
import { tryImage } from './try-image.ts';

/** The arguments of the commands that build a folder's `deploy/Containerfile` into an archive. */
type Steps = (folder: string, tag: string, archive: string, bases: readonly string[]) => readonly (readonly string[])[];

const file = (folder: string) => ['--file', `${folder}/deploy/Containerfile`];

const builders: Readonly<Record<string, Steps>> = {
  podman: (folder, tag, archive) => [
    ['build', '--format', 'docker', ...file(folder), '--tag', tag, folder],
    ['save', '--format', 'docker-archive', '--output', archive, tag],
  ],
  buildah: (folder, tag, archive, bases) => [
    // Other isolations need more than a chroot; OCI has no health checks.
    ['build', '--isolation', 'chroot', '--format', 'docker', ...bases, ...file(folder), '--tag', tag, folder],
    ['push', tag, `docker-archive:${archive}:${tag}`],
  ],
  docker: (folder, tag, archive) => [
    ['buildx', 'build', ...file(folder), '--tag', tag, '--output', `type=docker,dest=${archive}`, folder],
  ],
};

/** buildah where the image can be run too, else the first of podman, buildah and docker that can build one; null where none can. */
export async function findImageBuilder(): Promise<string | null> {
  if (await canMakeBases()) return 'buildah';
  for (const name of Object.keys(builders)) {
    if ((await which(name, { nothrow: true })) === null) continue;
    // A client is often there without the daemon that does its work.
    if ((await $({ nothrow: true, quiet: true })`${name} info`).exitCode === 0) return name;
  }
  return null;
}

/**
 * Builds the image of a folder into an archive. By buildah and root, over bases made of Debian's packages, and the image is run: then
 * answers its size in bytes.
 */
export async function buildImage(name: string, folder: string, tag: string, archive: string): Promise<number | null> {
  const isOwn = name === 'buildah' && (await canMakeBases());
  const bases = isOwn ? await makeBases() : [];
  for (const step of builders[name]!(folder, tag, archive, bases)) await $`${name} ${step}`;
  return isOwn ? tryImage(tag) : null;
}
