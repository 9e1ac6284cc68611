import type { IncomingMessage, ServerResponse } from 'node:http';
import { RegistryError } from '../../model/errors.ts';
import { joinPieces } from './pieces.ts';
import { hasBody, readPieces } from './request-body.ts';

const forms = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;
const maxFields = 500;

/**
 * Reads the form that a browser posted, with or without files. Throws `unsupported_media_type` for
 * another body, `too_large` above `limit` bytes, and `malformed` if it cannot be read.
 */
export async function readForm(request: IncomingMessage, response: ServerResponse, limit: number): Promise<FormData> {
  if (!hasBody(request)) return new FormData();
  const type = request.headers['content-type'] ?? '';
  if (!forms.test(type)) throw new RegistryError('unsupported_media_type', 'Send a form of this page.');
  const bytes = await joinPieces(await readPieces(request, response, { limit, inflate: false }));
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch((error: unknown) => {
      throw new RegistryError('malformed', 'The form cannot be read.', { cause: error });
    });
  if ([...form.keys()].length > maxFields) throw new RegistryError('malformed', 'The form has too many fields.');
  return form;
}
