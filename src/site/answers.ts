import type { Coding } from '../model/artifact.ts';

/** What is asked of the registry, as HTTP has it. */
export interface Asked {
  /** Path from the registry's base, with a query where it has one. */
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

/** The registry as nobody in particular reads it over HTTP. The static build is such a reader: it has no second way to make anything. */
export interface Answers {
  ask(asked: Asked): Promise<Answered>;
  close(): Promise<void>;
}
