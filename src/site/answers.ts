import type { Coding } from '../model/artifact.ts';

/** A request to the registry, as in HTTP. */
export interface PageRequest {
  /** Path under the registry's base, with an optional query. */
  path: string;
  /** Default `GET`. */
  method?: 'GET' | 'HEAD' | 'OPTIONS';
  accept?: string;
  /** Default `identity`. */
  coding?: Coding;
}

export interface Answered {
  status: number;
  /** Values by lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}

/**
 * The registry as an anonymous HTTP client sees it. The static build uses it to make every file.
 */
export interface Answers {
  ask(asked: PageRequest): Promise<Answered>;
  close(): Promise<void>;
}
