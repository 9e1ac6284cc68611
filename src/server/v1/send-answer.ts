import type { Request, Response } from 'express';
import type { Answer } from './call.ts';
import { isKnown } from './conditional.ts';

/**
 * Sends a response. Without the body for HEAD, and with 304 if `If-None-Match` of a GET contains
 * the ETag (RFC 9110 §13.1.2). Caches must not store it unless its headers say so.
 */
export function send(request: Request, response: Response, { status, headers = {}, body, file, text }: Answer): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const { ETag: etag } = headers;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && etag !== undefined && isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end();
    return;
  }
  if (body === undefined && file === undefined && text === undefined) {
    response.writeHead(status).end();
    return;
  }
  const bytes = file ?? Buffer.from(text?.text ?? JSON.stringify(body));
  const mediaType = text?.mediaType ?? (file === undefined ? 'application/json' : 'application/octet-stream');
  response.writeHead(status, { 'Content-Type': mediaType, 'Content-Length': bytes.byteLength });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
