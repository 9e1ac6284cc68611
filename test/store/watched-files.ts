import * as nodeFiles from 'node:fs/promises';
import { cp, mkdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Files, OpenFile } from '../../src/store/files.ts';

/** One file call: `fsync objects`, `link objects/sha256/ab/cd…`. */
export interface FileCall {
  /** Counts from 1, over all calls through these files. */
  number: number;
  name: 'access' | 'close' | 'fsync' | 'link' | 'mkdir' | 'open' | 'read' | 'readdir' | 'stat' | 'unlink' | 'write';
  /** From the root on; the file's new name for `link`. */
  path: string;
}

/** What goes wrong with a call: it fails and did nothing, it fails though it was done, or it is not done and says that it was. */
export interface FileFault {
  kind: 'fails' | 'done but fails' | 'skipped';
  /** Default: EIO. */
  code?: string;
}

/** File calls that are counted and go wrong as planned, with a model of what a power cut would leave. */
export interface WatchedFiles extends Files {
  calls: FileCall[];
  /** Asked before each call. May kill the process. */
  plan: (call: FileCall) => FileFault | null;
  /** Files under the root that a power cut would take, and deleted ones that it would bring back. `.tmp` does not count. */
  lostByPowerCut(): string[];
  /** Copies what a power cut would leave to another folder. `isKept`: whether the disk has a name all the same, though no fsync asked for it. */
  copyAfterPowerCut(folder: string, isKept?: () => boolean): Promise<void>;
}

/** A file or folder as the disk has it. A failed fsync drops what was changed; the next one then says yes, as on Linux. */
interface Disk {
  isDirty: boolean;
  isDurable: boolean;
}

interface Folder {
  isDirty: boolean;
  /** Names made or deleted since the folder was watched, each as the disk has it. */
  names: Map<string, { there: boolean; durable: boolean; disk: Disk | null }>;
}

/** Watches the calls below a root. What was there before is durable. */
export function watchFiles(root: string): WatchedFiles {
  const folders = new Map<string, Folder>();
  const calls: FileCall[] = [];

  function folderOf(path: string): Folder {
    const known = folders.get(path) ?? { isDirty: false, names: new Map() };
    folders.set(path, known);
    return known;
  }

  function gain(path: string, disk: Disk | null): void {
    const folder = folderOf(dirname(path));
    folder.isDirty = true;
    folder.names.set(basename(path), { there: true, durable: false, disk });
  }

  function lose(path: string): void {
    const folder = folderOf(dirname(path));
    folder.isDirty = true;
    const entry = folder.names.get(basename(path));
    folder.names.set(basename(path), { there: false, durable: entry !== undefined && !entry.durable, disk: null });
  }

  function synced(path: string, disk: Disk | null, ok: boolean): void {
    if (disk !== null) {
      if (ok && disk.isDirty) disk.isDurable = true;
      disk.isDirty = false;
      return;
    }
    const folder = folderOf(path);
    if (ok && folder.isDirty) for (const entry of folder.names.values()) entry.durable = true;
    folder.isDirty = false;
  }

  async function call<T>(
    name: FileCall['name'],
    path: string,
    work: () => Promise<T>,
    done: (ok: boolean) => void = () => undefined,
    nothing?: T,
  ): Promise<T> {
    const made: FileCall = { number: calls.length + 1, name, path: relative(root, path) };
    calls.push(made);
    const fault = watched.plan(made);
    if (fault?.kind === 'skipped') return nothing as T;
    const failure = () => Object.assign(new Error(`planned ${fault!.code ?? 'EIO'}`), { code: fault!.code ?? 'EIO' });
    if (fault?.kind === 'fails') {
      if (name === 'fsync') done(false);
      throw failure();
    }
    const answer = await work();
    // An fsync that fails is not believed to have done anything.
    done(fault === null || name !== 'fsync');
    if (fault !== null) throw failure();
    return answer;
  }

  async function open(path: string, flags: 'r' | 'wx', mode: number): Promise<OpenFile> {
    const disk: Disk | null = flags === 'wx' ? { isDirty: true, isDurable: false } : null;
    let file: nodeFiles.FileHandle | null = null;
    const opened = async () => void (file = await nodeFiles.open(path, flags, mode));
    try {
      await call('open', path, opened, () => disk && gain(path, disk));
    } catch (error) {
      await (file as nodeFiles.FileHandle | null)?.close();
      throw error;
    }
    const handle = file as unknown as nodeFiles.FileHandle;
    return {
      read: (into, offset, length, position) => call('read', path, () => handle.read(into, offset, length, position)),
      stat: () => call('stat', path, () => handle.stat()),
      writeFile: (bytes) =>
        call(
          'write',
          path,
          () => handle.writeFile(bytes),
          () => disk && (disk.isDirty = true),
        ),
      // The model stands for the disk: a real fsync would prove nothing here, and takes its time.
      sync: () =>
        call(
          'fsync',
          path,
          async () => undefined,
          (ok) => synced(path, disk, ok),
        ),
      close: () => call('close', path, () => handle.close()).finally(() => handle.close()),
    };
  }

  function survives(path: string, isKept = () => false): boolean {
    if (path === root || !path.startsWith(root)) return true;
    const entry = folders.get(dirname(path))?.names.get(basename(path));
    if (entry === undefined) return survives(dirname(path), isKept);
    const isDurable = entry.durable && (entry.disk?.isDurable ?? true);
    return entry.there && (isDurable || isKept()) && survives(dirname(path), isKept);
  }

  /** Files below the root whose bytes no fsync asked for. */
  function torn(): string[] {
    return [...folders].flatMap(([folder, { names }]) =>
      [...names].flatMap(([file, { there, disk }]) => (there && disk?.isDurable === false ? [join(folder, file)] : [])),
    );
  }

  const watched: WatchedFiles = {
    calls,
    plan: () => null,
    access: (path) => call('access', path, () => nodeFiles.access(path)),
    stat: (path) => call('stat', path, () => nodeFiles.stat(path)),
    readFile: (path) => call('read', path, () => nodeFiles.readFile(path)),
    readdir: (path, options) => call('readdir', path, () => nodeFiles.readdir(path, options)),
    mkdir: (path, mode) =>
      call(
        'mkdir',
        path,
        () => nodeFiles.mkdir(path, mode),
        () => gain(path, null),
      ),
    unlink: (path) =>
      call(
        'unlink',
        path,
        () => nodeFiles.unlink(path),
        () => lose(path),
      ),
    link(from, to) {
      const disk = folderOf(dirname(from)).names.get(basename(from))?.disk ?? null;
      return call(
        'link',
        to,
        () => nodeFiles.link(from, to),
        () => gain(to, disk),
      );
    },
    open,
    lostByPowerCut() {
      const all = [...folders].flatMap(([folder, { names }]) =>
        [...names].flatMap(([file, { there, durable }]) => {
          const path = join(folder, file);
          return (there ? !survives(path) : !durable) ? [relative(root, path)] : [];
        }),
      );
      return all.filter((path) => !path.split('/').some((part) => part.startsWith('.'))).sort();
    },
    async copyAfterPowerCut(folder, isKept) {
      await mkdir(folder, { recursive: true });
      await cp(root, folder, { recursive: true, filter: (path) => survives(path, isKept) });
      // A name that the disk has may be that of an empty file.
      for (const path of torn()) await nodeFiles.truncate(join(folder, relative(root, path))).catch(() => undefined);
    },
  };
  return watched;
}
