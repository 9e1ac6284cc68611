import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createFixtureRepository, type FixtureRepository } from '../servers/fixture-repository.ts';
import { serveStele, type Serving } from './stele.ts';

export interface ServeWorld {
  readonly folder: string;
  readonly data: readonly string[];
  readonly repository: FixtureRepository;
  serve(...args: string[]): Promise<Serving>;
}

/** A folder, a repository and a server for each test of the file that calls it. */
export function openServeWorld(): ServeWorld {
  let folder: string;
  let repository: FixtureRepository;
  let running: Serving | null = null;
  const data = () => ['--data', join(folder, 'data')];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-serve-'));
    repository = createFixtureRepository(join(folder, 'apis.git'));
  });
  afterEach(async () => {
    await running?.stop('SIGKILL').catch(() => null);
    running = null;
    await rm(folder, { recursive: true, force: true });
  });
  return {
    get folder() {
      return folder;
    },
    get data() {
      return data();
    },
    get repository() {
      return repository;
    },
    async serve(...args) {
      running = await serveStele([...args, ...data()], { cwd: folder });
      return running;
    },
  };
}

export function api(title: string, version: string, description = 'Pays.'): string {
  return `openapi: 3.1.0
info:
  title: ${title}
  version: ${version}
  description: ${description}
paths:
  /payments:
    get:
      responses:
        '200':
          description: All of them.
`;
}

export function synced(stele: Serving, commit: string): Promise<Record<string, unknown>> {
  return stele.logged(({ msg, to }) => msg === 'sync' && to === commit);
}

export async function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; type: string | null }> {
  const response = await fetch(url, { headers, redirect: 'manual' });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
}
