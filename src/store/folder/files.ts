import type { Dirent } from 'node:fs';

/**
 * The file calls that a bucket in a folder makes: those of `node:fs/promises`, so that a test can count each, make it fail, and forget
 * what was not fsynced.
 */
export interface Files {
  access(path: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  mkdir(path: string, mode: number): Promise<unknown>;
  open(path: string, flags: 'r' | 'wx', mode: number): Promise<OpenFile>;
  readFile(path: string): Promise<Buffer>;
  readdir(path: string, options: { withFileTypes: true }): Promise<Dirent[]>;
  /** `nlink` counts the names of a file. */
  stat(path: string): Promise<{ nlink: number; mtimeMs: number; isDirectory(): boolean }>;
  unlink(path: string): Promise<void>;
}

/** A file or folder that is open. */
export interface OpenFile {
  writeFile(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The system's word for what went wrong, such as `ENOENT`; empty for an error that is not the system's. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** A handler for `catch` that answers null for the codes that are named. */
export function ignoring(...codes: string[]): (error: unknown) => null {
  return (error) => {
    if (codes.includes(codeOf(error))) return null;
    throw error;
  };
}
