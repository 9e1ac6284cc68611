import type { Request } from 'express';
import type { Principal } from '../../model/access.ts';
import type { Coordinate, ResourceType } from '../../model/address.ts';
import type { Resource } from '../../model/resource.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import type { Generation } from '../../store/generations.ts';
import type { ServerContext } from '../server-context.ts';
import type { Body } from '../body/read-body.ts';
import type { Operation } from './api-description.ts';

/** An API key. Everything under `/v1` needs one. */
export type KeyPrincipal = Extract<Principal, { kind: 'key' }>;

/** A request that was matched, validated and authorized. */
export interface Call {
  context: Omit<ServerContext, 'v1'>;
  registry: Registry;
  request: Request;
  operation: Operation;
  principal: KeyPrincipal;
  /** Recorded with what the call changes. */
  author: Author;
  /** Path parameters. */
  path: Record<string, string>;
  /** Query parameters, with defaults. */
  query: Record<string, unknown>;
  body: Body | null;
  /** The resource type in the path; null if the path has none. */
  type: ResourceType | null;
}

/** A call about one resource that the key may read. */
export interface ResourceCall extends Call {
  type: ResourceType;
  coordinate: Coordinate;
  found: Generation<Resource>;
}

/** The response. `body` undefined: headers only. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Answers one operation: parse, one verb, send. */
export type Handler = (call: Call) => Promise<Answer>;
export type ResourceHandler = (call: ResourceCall) => Promise<Answer>;

/** The request body. It was validated before. */
export function bodyOf<T>({ body }: Call): T {
  return body!.value as T;
}
