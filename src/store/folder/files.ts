import type { Dirent } from 'node:fs';

/**
 * The calls of `node:fs/promises` that a folder bucket makes, so that a test can count them, make
 * them fail, and drop what was not fsynced.
 */
export interface Files {
  access(path: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  mkdir(path: string, mode: number): Promise<unknown>;
  open(path: string, flags: 'r' | 'wx' | number, mode: number): Promise<OpenFile>;
  readFile(path: string): Promise<Buffer>;
  readdir(path: string, options: { withFileTypes: true }): Promise<Dirent[]>;
  /** `nlink` is the number of hard links. */
  stat(path: string): Promise<{ nlink: number; mtimeMs: number; isDirectory(): boolean }>;
  unlink(path: string): Promise<void>;
}

/** An open file or folder. */
export interface OpenFile {
  /** Reads into the buffer, from this position of the file. */
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  stat(): Promise<{ size: number; isFile(): boolean }>;
  writeFile(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Returns the system error code, such as `ENOENT`; empty for any other error. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** Returns a handler for `catch` that turns errors with these codes into null. */
export function ignoring(...codes: string[]): (error: unknown) => null {
  return (error) => {
    if (codes.includes(codeOf(error))) return null;
    throw error;
  };
}
