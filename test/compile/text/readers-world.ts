import { parseFile } from '../../../src/compile/text/parse.ts';
import { limits } from '../limits.ts';

export function read(path: string, content: string | Uint8Array) {
  return parseFile(path, Buffer.from(content), { ...limits, fileBytes: 64 * 1024 * 1024 });
}

export function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
