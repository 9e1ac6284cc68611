import type { IncomingMessage } from 'node:http';
import type { Router } from 'express';
import type { Principal } from '../model/access.ts';
import type { SyncQueue } from '../sync/queue.ts';
import type { Registry } from '../registry/registry.ts';
import type { CommandText } from '../site/docs/docs-commands.ts';
import type { Site } from '../site/site.ts';
import type { Dev } from './dev.ts';
import type { Description } from './v1/api-description.ts';

/** All that the server works on. */
export interface ServerContext {
  registry: Registry;
  queue: SyncQueue;
  /** Public base URL, without a slash at its end. */
  url: string;
  /** False before the registry can answer, and from when it shuts down. */
  isReady(): boolean;
  /** The management API, mounted under `/v1`. */
  v1?: Router;
  /** Sign-in of people. */
  login?: Login;
  /** Pages for people. Where it is missing, answers are for programs alone. */
  site?: Site;
  /** The description of the management API, where it was read already: that takes its time. */
  description?: Description;
  /** What the documentation says about the commands; none where it is left out. */
  commands?: readonly CommandText[];
  /** Pages that load again when they change. */
  dev?: Dev;
}

/** What signs people in, and tells who they are. */
export interface Login {
  router: Router;
  /** Who the request's session stands for; null when it has none, or one that is over. */
  readSession(request: IncomingMessage): Promise<Principal | null>;
  /** Path of the page that signs in and comes back to the path `returnTo`; null where people cannot sign in. */
  signInUrl(returnTo: string): string | null;
}
