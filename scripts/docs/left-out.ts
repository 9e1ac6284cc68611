import type { DocCommand } from './read-commands.ts';

/** Commands that `scripts/docs-commands.ts` does not run, and why. */
export const leftOut: readonly { page?: string; pattern: RegExp; why: string }[] = [
  { page: 'first-steps', pattern: /^/, why: 'test/e2e/first-steps.thorough.test.ts runs the page, with its output' },
  { page: 'moving-in', pattern: /^/, why: 'test/deploy/moving-in.thorough.test.ts runs the page, with its output' },
  { page: 'recovery', pattern: /^/, why: 'test/deploy/recovery.thorough.test.ts runs the page, with its output' },

  {
    pattern: /^sudo (?!-u stele )/,
    why: 'changes the machine; test/e2e/deploy.thorough.test.ts checks the unit with systemd-analyze',
  },
  { pattern: /^podman /, why: 'needs a container engine; scripts/release.ts builds the image and runs it' },
  {
    pattern: /^(?:kubectl|helm) /,
    why: 'needs a cluster; test/deploy/kubernetes.thorough.test.ts checks what is applied',
  },
  {
    pattern: /^(?:npm install|npm ci|git clone|alias stele)/,
    why: 'scripts/release.ts packs a clone, and installs the tarball both ways',
  },
  { pattern: /^ssh-keyscan /, why: 'needs a server with a name; test/source/sshd.thorough.test.ts runs a real one' },
  { pattern: /^npx openapi-typescript/, why: 'downloads a package; test/server/v1/client.test.ts makes a client' },
  {
    pattern: /^cosign /,
    why: 'is no package of Debian or npm; test/server/oci/attestation.test.ts uses Sigstore’s library',
  },
  { pattern: /^skopeo /, why: 'needs TLS at that name; test/server/oci/ runs skopeo' },
  { pattern: /^stele login/, why: 'needs a person in a browser; test/console/personal-keys.test.ts is one' },
  { pattern: /^HTTPS_PROXY=/, why: 'needs a proxy; test/e2e/proxy.thorough.test.ts runs one with its own authority' },
  {
    pattern: /^stele restore .* --to /,
    why: 'needs a store with that history; test/deploy/recovery.thorough.test.ts restores one',
  },
  {
    page: 'public-log',
    pattern: /--from \/backups/,
    why: 'needs a damaged log; test/server/damage-table.thorough.test.ts repairs each damage',
  },
  { pattern: /--accept-loss/, why: 'needs a loss; test/registry/lost-entries.test.ts makes one' },
];

/** Why a command is not run; null: it is run. */
export function whyLeftOut({ page, text }: DocCommand): string | null {
  return leftOut.find((each) => (each.page ?? page) === page && each.pattern.test(text))?.why ?? null;
}
