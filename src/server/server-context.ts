import type { IncomingMessage } from 'node:http';
import type { Router } from 'express';
import type { Principal } from '../model/access.ts';
import type { SyncQueue } from '../sync/queue.ts';
import type { Registry } from '../registry/registry.ts';
import type { CommandText } from '../site/docs/docs-commands.ts';
import type { Site } from '../site/site.ts';
import type { Dev } from './dev.ts';
import type { Description } from './v1/api-description.ts';

/** What the server needs. */
export interface ServerContext {
  registry: Registry;
  queue: SyncQueue;
  /** Public base URL, without a trailing slash. */
  url: string;
  /** False until the registry can answer, and during shutdown. */
  isReady(): boolean;
  /** The management API, mounted under `/v1`. */
  v1?: Router;
  /** Sign-in of people. */
  login?: Login;
  /** Pages for people. Without it, only data is served. */
  site?: Site;
  /** The description of the management API, if it was already read: reading takes time. */
  description?: Description;
  /** Texts about the commands for the documentation; absent to leave them out. */
  commands?: readonly CommandText[];
  /** Milliseconds that readers wait for a page that is being made. Default: until it is made. */
  pagePatience?: number;
  /** Reloads pages when their sources change (`--dev`). */
  dev?: Dev;
}

/** Signs people in and identifies them. */
export interface Login {
  router: Router;
  /** The principal of the request's session; null if there is none or it expired. */
  readSession(request: IncomingMessage): Promise<Principal | null>;
  /**
   * Path of the page that signs in and then returns to `returnTo`; null if sign-in is not
   * configured.
   */
  signInUrl(returnTo: string): string | null;
}
