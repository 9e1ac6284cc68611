import { access, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { $, tmpdir } from 'zx';

/**
 * Installs a tarball with npm as a user would, for the machine and in a project, with what it depends on from the registry of
 * packages, and has each `stele` check a document and read a configuration. Throws what npm or `stele` says where one of them does not.
 */
export async function tryTarball(tarball: string): Promise<void> {
  const home = tmpdir();
  const project = join(home, 'project');
  const prefix = join(home, 'global');
  const away = join(home, 'away');
  await Promise.all([project, prefix, away].map((folder) => mkdir(folder, { recursive: true })));
  await writeFile(join(project, 'package.json'), '{}');
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
  const run = $({ env: { ...process.env, HOME: home, PATH }, quiet: true });
  await run({ cwd: home })`npm install --global --no-audit --no-fund --prefix ${prefix} ${tarball}`;
  // What `man stele` shows.
  await access(join(prefix, 'share', 'man', 'man1', 'stele.1'));
  await run({ cwd: project })`npm install --no-audit --no-fund ${tarball}`;

  await writeFile(join(away, 'api.yaml'), 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\npaths: {}\n');
  for (const stele of [join(prefix, 'bin', 'stele'), join(project, 'node_modules', '.bin', 'stele')]) {
    for (const name of ['@stele-registry/stele', 'stele']) {
      const text = `import { defineConfig } from '${name}';\nexport default defineConfig({ organizations: { acme: {} } });\n`;
      await writeFile(join(away, 'registry.config.ts'), text);
      await run({ cwd: away })`${stele} lint api.yaml`;
    }
  }
}
