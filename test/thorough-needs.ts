import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Programs and files that the thorough suite needs, with Debian's packages, which `.ci/run` installs. */
const debian: Record<string, string> = {
  '/usr/share/gocode/src/golang.org/x/mod/sumdb': 'golang-golang-x-mod-dev',
  bwrap: 'bubblewrap',
  caddy: 'caddy',
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  fish: 'fish',
  go: 'golang-go',
  gpg: 'gpg',
  'gpg-agent': 'gpg-agent',
  nginx: 'nginx',
  promtool: 'prometheus',
  python3: 'python3',
  radosgw: 'radosgw',
  skopeo: 'skopeo',
  'ssh-keygen': 'openssh-client',
  sshd: 'openssh-server',
  'systemd-analyze': 'systemd',
  unzip: 'unzip',
  wrk: 'wrk',
  xz: 'xz-utils',
  zsh: 'zsh',
};

/** Other files, with what brings them. */
const others: Record<string, string> = {
  'node_modules/.cache/kube/helm': '.ci/kube-tools brings it',
  '../shared/corpus/MANIFEST.md': 'the corpus of real documents lies beside the project',
};

const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];

function isHere(name: string): boolean {
  return (name.includes('/') ? [name] : folders.map((folder) => join(folder, name))).some((path) => existsSync(path));
}

/** Debian's packages that this machine lacks. */
export function missingPackages(): string[] {
  return Object.entries(debian).flatMap(([name, from]) => (isHere(name) ? [] : [from]));
}

/** Says once, before the first test, what the machine lacks. Tests that need it are skipped, so that the run fails. */
export function setup(): void {
  const packages = missingPackages();
  if (packages.length > 0)
    console.warn(`This machine lacks programs. On Debian: apt-get install ${packages.join(' ')}`);
  for (const [file, from] of Object.entries(others)) {
    if (!isHere(file)) console.warn(`This machine lacks ${file}: ${from}.`);
  }
}

if (import.meta.main) console.log(missingPackages().join(' '));
