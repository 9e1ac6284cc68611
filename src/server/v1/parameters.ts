import type { Request } from 'express';
import { RegistryError } from '../../model/errors.ts';
import type { Operation } from './api-description.ts';

/** The request's headers that the description names. */
export function headersOf({ parameters }: Operation, request: Request): Map<string, string> {
  const named = parameters.filter((parameter) => parameter.in === 'header');
  return new Map(
    named.flatMap(({ name }) => {
      const value = request.headers[name.toLowerCase()];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

/** Decodes the query like a form (WHATWG URL). Throws `malformed` if a parameter occurs twice. */
export function readQuery(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name))
      throw new RegistryError('malformed', `The parameter ${name.slice(0, 100)} may be given only once.`);
    values.set(name, value);
  }
  return values;
}
