import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unavailable } from '../model/errors.ts';

/** Commits to fetch on top of. Their objects are in another repository's `objects` folder. */
export interface Base {
  objects: string;
  commits: readonly string[];
  /** Whether the history of these commits is missing. */
  isShallow: boolean;
}

export interface ScratchOptions {
  /** The cache folder. Scratch repositories are in its `scratch/`. */
  folder: string;
  /** Seconds that one call may take. Older scratch repositories are abandoned. */
  timeLimit: number;
}

/**
 * Creates an empty bare repository for one fetch and deletes it afterwards. Nobody uses what is
 * fetched into it until it is moved. So a killed fetch leaves only a folder, which a later call
 * deletes.
 */
export async function withScratch<T>(
  { folder, timeLimit }: ScratchOptions,
  base: Base | null,
  work: (repository: string) => Promise<T>,
): Promise<T> {
  const parent = join(folder, 'scratch');
  await sweep(parent, Date.now() - 2000 * timeLimit);
  const repository = join(parent, `${Date.now()}-${randomUUID()}`);
  try {
    await createBareRepository(repository);
    if (base !== null) {
      const lines = (format: (commit: string) => string): string => base.commits.map(format).join('');
      await writeFile(join(repository, 'objects', 'info', 'alternates'), `${base.objects}\n`, { mode: 0o600 });
      await writeFile(
        join(repository, 'packed-refs'),
        lines((id) => `${id} refs/heads/${id}\n`),
        { mode: 0o600 },
      );
      if (base.isShallow)
        await writeFile(
          join(repository, 'shallow'),
          lines((id) => `${id}\n`),
          { mode: 0o600 },
        );
    }
    return await work(repository);
  } catch (error) {
    if (existsSync(repository)) throw error;
    throw unavailable('The cache folder was deleted during a fetch. Try again.');
  } finally {
    await rm(repository, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Deletes what killed processes left before a time, in milliseconds since 1970. */
async function sweep(folder: string, before: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const left = (await readdir(folder)).filter((name) => Number.parseInt(name, 10) < before);
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true, force: true, maxRetries: 3 })));
}

/** Creates an empty bare repository (gitrepository-layout(5)), unless there is one. */
export async function createBareRepository(folder: string): Promise<void> {
  await mkdir(join(folder, 'objects', 'pack'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'objects', 'info'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'refs'), { recursive: true, mode: 0o700 });
  await ensureFile(
    join(folder, 'config'),
    '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tsharedRepository = 0600\n',
  );
  await ensureFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
}

async function ensureFile(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => null)) === content) return;
  const temporary = `${path}-${randomUUID()}`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, path);
}

/** Whether the repository has the parents of all its commits: no `shallow` file, or an empty one. */
export async function isComplete(repository: string): Promise<boolean> {
  const boundary = await readFile(join(repository, 'shallow'), 'utf8').catch(() => '');
  return boundary.trim() === '';
}

/** Bytes of the packs in a repository. 0 when it does not exist. */
export async function packBytes(repository: string): Promise<number> {
  const folder = join(repository, 'objects', 'pack');
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
