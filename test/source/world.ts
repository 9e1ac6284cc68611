import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSource, type SourceOptions } from '../../src/source/mirror.ts';
import type { Remote, Source } from '../../src/source/source.ts';
import { contractLimits } from '../contract/snapshot.ts';
import { createFixtureRepository, type FixtureRepository } from '../servers/fixture-repository.ts';
import { openGitServer, type GitServer, type GitServerBehaviour } from '../servers/git-http.ts';

/** A folder of its own with a git server over its repositories, and sources that may reach it. */
export interface World extends AsyncDisposable {
  folder: string;
  /** Where the sources keep their mirrors. */
  cache: string;
  server: GitServer;
  createRepository(name?: string): FixtureRepository;
  /** The repository as the server has it. */
  remote(name?: string, branch?: string | null): Remote;
  openSource(options?: Partial<SourceOptions>): Source;
}

export async function openWorld(behaviour: Partial<GitServerBehaviour> = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'stele-source-'));
  const root = join(folder, 'root');
  const cache = join(folder, 'cache');
  const server = await openGitServer({ root, ...behaviour });
  return {
    folder,
    cache,
    server,
    createRepository: (name = 'a.git') => createFixtureRepository(join(root, name)),
    remote: (name = 'a.git', branch = null) => ({
      url: `${server.url}/${name}`,
      ref: branch === null ? 'HEAD' : `refs/heads/${branch}`,
      credential: null,
    }),
    openSource: (options = {}) =>
      openSource({
        folder: cache,
        allowLocalRepositories: false,
        hosts: [`http://${server.host}`],
        timeLimit: 120,
        sizeLimit: 2 ** 30,
        limits: contractLimits,
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
