import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a path of a commit holds. Null removes it. */
export type FixtureFile =
  string | Uint8Array | { symlink: string } | { submodule: string } | { lfs: { oid: string; size: number } } | null;

export interface FixtureCommit {
  /** Default `main`. */
  branch?: string;
  /** What changes to the parent's files, by path; any bytes but NUL may stand in a path. */
  files: Record<string, FixtureFile>;
  message?: string;
  /** The parent: default the branch's tip; null begins a new history, which force-pushes. */
  parent?: string | null;
  /** Its author and committer, as `Ann <ann@acme.test>`. */
  by?: string;
  /** Seconds since 1970; default: a minute after the commit before, from 2026-01-01. */
  date?: number;
}

/** A bare repository whose author, committer and dates are fixed, so that commit ids can be asserted. */
export interface FixtureRepository {
  folder: string;
  /** Commits straight to the branch, as a push would leave it, and gives the commit's id. */
  commit(commit: FixtureCommit): string;
  /** Commits one after the other, all by one process. */
  commitAll(commits: readonly FixtureCommit[]): string[];
  /** Points a branch at a commit, whatever it was; null deletes it. */
  setBranch(branch: string, commit: string | null): void;
  /** Which branch HEAD names. */
  setHead(branch: string): void;
  setConfig(key: string, value: string): void;
  /** Runs git in the repository and gives its output, trimmed. */
  git(...args: string[]): string;
}

const environment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  LC_ALL: 'C',
};

const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
`;

/** Creates an empty bare repository with HEAD on `main`. It allows filters and any object id, as the big git hosts do. */
export function createFixtureRepository(folder: string): FixtureRepository {
  // What `git init --bare` makes: hundreds of tests do this, and a process for each would cost more than what they test.
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, 'config'), config);
  return openFixtureRepository(folder);
}

/** A bare repository made of a bundle's branches and tags; HEAD names the branch. */
export function createRepositoryFromBundle(folder: string, bundle: string, head = 'main'): FixtureRepository {
  const repository = createFixtureRepository(folder);
  repository.git('fetch', '--quiet', bundle, 'refs/*:refs/*');
  repository.setHead(head);
  return repository;
}

/** Opens a repository that exists, bare or not. */
function openFixtureRepository(folder: string): FixtureRepository {
  let clock = Date.UTC(2026, 0, 1) / 1000;

  function commitAll(commits: readonly FixtureCommit[]): string[] {
    const begun = new Set<string>();
    const input = commits.flatMap((commit, index) => {
      const { branch = 'main', files, message = 'Change', parent, date, by = 'Fixture <fixture@stele.test>' } = commit;
      clock = date ?? clock + 60;
      const ref = `refs/heads/${branch}`;
      // After its first commit here, git knows the branch's tip by itself.
      const from = parent === undefined && !begun.has(ref) ? tipOf(folder, ref) : (parent ?? null);
      const isNew = parent === null || (from === null && !begun.has(ref));
      begun.add(ref);
      const identity = `${by} ${clock} +0000`;
      return [
        ...(isNew ? [`reset ${ref}\n`] : []),
        `commit ${ref}\nmark :${index + 1}\nauthor ${identity}\ncommitter ${identity}\n`,
        ...data(message),
        ...(from === null ? [] : [`from ${from}\n`]),
        ...Object.entries(files).flatMap(([path, file]) => change(path, file)),
        `\nget-mark :${index + 1}\n`,
      ];
    });
    const options = ['--quiet', '--force', '--date-format=raw'];
    return run(folder, [...keepPack, 'fast-import', ...options], Buffer.concat(input.map(bytesOf))).split('\n');
  }

  return {
    folder,
    commit: (commit) => commitAll([commit])[0] ?? '',
    commitAll,
    setBranch(branch, commit) {
      const ref = `refs/heads/${branch}`;
      run(folder, commit === null ? ['update-ref', '-d', ref] : ['update-ref', ref, commit]);
    },
    setHead: (branch) => void run(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]),
    setConfig: (key, value) => void run(folder, ['config', key, value]),
    git: (...args) => run(folder, args),
  };
}

/** It would start another process that unpacks what is small. */
const keepPack = ['-c', 'fastimport.unpackLimit=1'];

function tipOf(folder: string, ref: string): string | null {
  if (existsSync(join(folder, ref))) return readFileSync(join(folder, ref), 'utf8').trim();
  return existsSync(join(folder, 'packed-refs'))
    ? run(folder, ['for-each-ref', '--format=%(objectname)', ref]) || null
    : null;
}

function change(path: string, file: FixtureFile): (string | Uint8Array)[] {
  const name = quote(path);
  if (file === null) return [`D ${name}\n`];
  if (typeof file === 'string' || file instanceof Uint8Array) return [`M 100644 inline ${name}\n`, ...data(file)];
  if ('symlink' in file) return [`M 120000 inline ${name}\n`, ...data(file.symlink)];
  if ('submodule' in file) return [`M 160000 ${file.submodule} ${name}\n`];
  const { oid, size } = file.lfs;
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
  return [`M 100644 inline ${name}\n`, ...data(pointer)];
}

function data(content: string | Uint8Array): (string | Uint8Array)[] {
  const bytes = bytesOf(content);
  return [`data ${bytes.length}\n`, bytes, '\n'];
}

/** A path as git fast-import reads it: C-style, every byte that is not plain as an octal escape. */
function quote(path: string): string {
  const escaped = [...bytesOf(path)].map((byte) =>
    byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `"${escaped.join('')}"`;
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content;
}

function run(folder: string, args: string[], input?: Uint8Array): string {
  const options = { cwd: folder, env: environment, input: input ?? '', maxBuffer: 1 << 30 };
  return execFileSync('git', args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
    .toString()
    .trim();
}
