import type { Request } from 'express';
import { RegistryError } from '../../model/errors.ts';
import type { Operation } from './api-description.ts';

/** The described header fields that the request has. */
export function headersOf({ parameters }: Operation, request: Request): Map<string, string> {
  const named = parameters.filter((parameter) => parameter.in === 'header');
  return new Map(
    named.flatMap(({ name }) => {
      const value = request.headers[name.toLowerCase()];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

/** The query's parameters, decoded as forms are (WHATWG URL). Refuses with `malformed` one that is there twice. */
export function readQuery(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name))
      throw new RegistryError('malformed', `The parameter ${name.slice(0, 100)} may be given only once.`);
    values.set(name, value);
  }
  return values;
}
