import type { Request } from 'express';
import type { Principal } from '../../model/access.ts';
import type { Coordinate, ResourceType } from '../../model/address.ts';
import type { Resource } from '../../model/resource.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import type { Generation } from '../../store/generations.ts';
import type { ServerContext } from '../server-context.ts';
import type { Body } from '../body/read-body.ts';
import type { Operation } from './api-description.ts';

/** An API key, as it acts: what everything under `/v1` is done by. */
export type KeyPrincipal = Extract<Principal, { kind: 'key' }>;

/** A request that was matched, checked against the description and allowed. */
export interface Call {
  context: Omit<ServerContext, 'v1'>;
  registry: Registry;
  request: Request;
  operation: Operation;
  principal: KeyPrincipal;
  /** As it is recorded with what the call changes. */
  author: Author;
  /** Values of the path's parameters. */
  path: Record<string, string>;
  /** Values of the query's parameters, defaults filled in. */
  query: Record<string, unknown>;
  body: Body | null;
  /** What the path is about: one of a type's collections, or the registry itself. */
  type: ResourceType | null;
}

/** A call about one resource, which the key may read. */
export interface ResourceCall extends Call {
  type: ResourceType;
  coordinate: Coordinate;
  found: Generation<Resource>;
}

/** What is sent. `body` undefined: nothing but the headers. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Answers one operation: parse, one verb, send. */
export type Handler = (call: Call) => Promise<Answer>;
export type ResourceHandler = (call: ResourceCall) => Promise<Answer>;

/** The body as its schema says it is: it was checked before. */
export function bodyOf<T>({ body }: Call): T {
  return body!.value as T;
}
