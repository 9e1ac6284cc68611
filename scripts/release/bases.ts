import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { $, tmpdir, which } from 'zx';

/** Programs with which an image is built where no registry of images is reached: Debian's packages of the same names. */
const needed = ['mmdebstrap', 'buildah', 'npm'];

/** Whether the bases of an image can be made here: by root, out of Debian's packages. */
export async function canMakeBases(): Promise<boolean> {
  const there = await Promise.all(needed.map((name) => which(name, { nothrow: true })));
  return process.getuid?.() === 0 && there.every((path) => path !== null);
}

/**
 * Makes the two images that deploy/Containerfile begins with: Debian's smallest, and one more with this Node and npm. Answers the
 * options of `buildah build` that name them.
 */
export async function makeBases(): Promise<string[]> {
  const folder = tmpdir();
  const base = join(folder, 'base.tar');
  const without = ['doc', 'man', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  await $`mmdebstrap --quiet --variant=minbase ${without} trixie ${base} http://deb.debian.org/debian`;
  const from = async (image: string) => (await $`buildah from ${image}`).stdout.trim();
  const bare = await from('scratch');
  await $`buildah add --quiet ${bare} ${base} /`;
  await $`buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${bare}`;
  await $`buildah commit --quiet --rm ${bare} localhost/stele-base`;

  const build = await from('localhost/stele-base');
  const inside = ['--isolation', 'chroot', '--network', 'host', build, '--'];
  await $`buildah run ${inside} sh -c ${'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends binutils ca-certificates libatomic1'}`;
  await $`buildah copy --quiet ${build} ${process.execPath} /usr/local/bin/node`;
  // Not `npm root --global`, which is beside this Node: that may come without npm.
  const npm = dirname(dirname(await realpath(await which('npm'))));
  await $`buildah copy --quiet ${build} ${npm} /usr/local/lib/node_modules/npm`;
  await $`buildah run ${inside} ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm`;
  await $`buildah commit --quiet --rm ${build} localhost/stele-build`;
  const args = ['BUILD_IMAGE=localhost/stele-build', 'BASE_IMAGE=localhost/stele-base'];
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  const volumes = authorities ? ['--volume', `${authorities}:/run/authorities.pem:ro`] : [];
  if (authorities) args.push('NODE_EXTRA_CA_CERTS=/run/authorities.pem');
  return ['--pull-never', '--network', 'host', ...volumes, ...args.flatMap((arg) => ['--build-arg', arg])];
}
