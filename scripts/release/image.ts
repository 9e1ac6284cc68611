import { $, which } from 'zx';

/** The arguments of the commands that build a folder's `deploy/Containerfile` into an OCI archive. */
type Steps = (folder: string, tag: string, archive: string) => readonly (readonly string[])[];

const file = (folder: string) => ['--file', `${folder}/deploy/Containerfile`];

const builders: Readonly<Record<string, Steps>> = {
  podman: (folder, tag, archive) => [
    ['build', ...file(folder), '--tag', tag, folder],
    ['save', '--format', 'oci-archive', '--output', archive, tag],
  ],
  buildah: (folder, tag, archive) => [
    ['build', ...file(folder), '--tag', tag, folder],
    ['push', tag, `oci-archive:${archive}`],
  ],
  docker: (folder, tag, archive) => [
    ['buildx', 'build', ...file(folder), '--tag', tag, '--output', `type=oci,dest=${archive}`, folder],
  ],
};

/** The first of podman, buildah and docker that can build an image here; null where none can. */
export async function findImageBuilder(): Promise<string | null> {
  for (const name of Object.keys(builders)) {
    if ((await which(name, { nothrow: true })) === null) continue;
    // A client is often there without the daemon that does its work.
    if ((await $({ nothrow: true, quiet: true })`${name} info`).exitCode === 0) return name;
  }
  return null;
}

/** Builds the image of a folder into an OCI archive. */
export async function buildImage(name: string, folder: string, tag: string, archive: string): Promise<void> {
  for (const step of builders[name]!(folder, tag, archive)) await $`${name} ${step}`;
}
