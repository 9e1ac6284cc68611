/** Node's own HTTP server that reads a file and hashes it for each request, and does nothing else. Arguments: the port, and a folder. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';

const [port, folder] = process.argv.slice(2);

createServer((request, response) => {
  send(request.url!, response).catch(() => response.writeHead(404).end());
}).listen(Number(port), '127.0.0.1');

async function send(path: string, response: ServerResponse): Promise<void> {
  const bytes = await readFile(folder + path);
  response.writeHead(200, { 'Content-Type': 'application/json', ETag: `"${hash('sha256', bytes)}"` }).end(bytes);
}
