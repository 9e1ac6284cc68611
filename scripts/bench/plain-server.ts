/**
 * Node's own HTTP server with a map of responses: what a program without checks costs. Arguments: the
 * port, and a file with a list of `{ url, headers, fields, file }`.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** A response: the first for whose URL the request has these headers. */
export interface Recorded {
  url: string;
  /** Value of the request's `Accept-Encoding`, or null. */
  coding: string | null;
  status: number;
  /** Names and values in turn. */
  fields: string[];
  /** The file with the body, or null. */
  file: string | null;
}

const [port, list] = process.argv.slice(2);
const responses = (JSON.parse(readFileSync(list!, 'utf8')) as Recorded[]).map((recorded) => ({
  ...recorded,
  body: recorded.file === null ? undefined : readFileSync(recorded.file),
}));
const byKey = new Map(responses.map((response) => [`${response.url} ${response.coding} ${response.status}`, response]));

createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const { headers, url, method } = request;
  const status = headers['if-none-match'] === undefined ? 200 : 304;
  const found = byKey.get(`${url} ${headers['accept-encoding'] ?? null} ${status}`);
  // The question whether it is up.
  if (found === undefined) return void response.writeHead(204).end();
  response.writeHead(found.status, found.fields).end(method === 'HEAD' ? undefined : found.body);
}).listen(Number(port), '127.0.0.1');
