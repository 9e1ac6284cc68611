/** A line of git's protocol, or one of its marks. */
export type Packet = Buffer | 'flush' | 'delimiter' | 'end';

/** A text as a line. */
export function packetOf(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}

/** Ends a message, and divides one. */
export const marks = { flush: '0000', delimiter: '0001' } as const;

const markOf = ['flush', 'delimiter', 'end'] as const;

/** The lines of a stream (gitprotocol-common(5)). Fails for anything else, and for a line that is cut off. */
export async function* readPackets(chunks: AsyncIterable<Buffer>): AsyncGenerator<Packet> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let position = 0;
    while (rest.length - position >= 4) {
      const digits = rest.toString('latin1', position, position + 4);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new TypeError('This is not a line of git’s protocol.');
      const length = Number.parseInt(digits, 16);
      const mark = markOf[length];
      if (mark === undefined && length < 4) throw new TypeError('A line of git’s protocol has no such length.');
      if (rest.length - position < Math.max(length, 4)) break;
      yield mark ?? rest.subarray(position + 4, position + length);
      position += Math.max(length, 4);
    }
    rest = rest.subarray(position);
  }
  if (rest.length > 0) throw new TypeError('A line of git’s protocol is cut off.');
}
