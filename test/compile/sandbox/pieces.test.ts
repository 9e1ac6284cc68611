import { describe, expect, it } from 'vitest';
import { createAssembler, inPieces, isPiece, type Piece } from '../../../src/compile/sandbox/pieces.ts';

const megabyte = 1024 * 1024;
const bytesOf = (length: number, start = 0) => Uint8Array.from({ length }, (_, at) => (at + start) % 251);

/** What arrives of a message, and the longest part of it. */
function sent<M extends object>(message: M): { received: M | null; longest: number } {
  const assembler = createAssembler();
  let longest = 0;
  let received: M | null = null;
  for (const part of inPieces(message)) {
    const copy = structuredClone(part) as typeof part;
    const all = isPiece(copy as Piece) ? [(copy as Piece).bytes] : byteArraysIn(copy);
    longest = Math.max(longest, ...all.map(({ byteLength }) => byteLength));
    if (isPiece(copy as Piece)) expect(assembler.take(copy as Piece)).toBe(true);
    else received = assembler.complete(copy as M);
  }
  return { received, longest };
}

function byteArraysIn(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(byteArraysIn) : [];
}

describe('large bytes in a message', () => {
  it('arrive as they were, among small and empty ones, and no part of the message has more than a megabyte', () => {
    const files = [0, 3, megabyte, megabyte + 1, 0, 3 * megabyte + 7].map((length, at) => ({
      path: `${at}.json`,
      bytes: bytesOf(length, at),
    }));
    const message = { type: 'files', files, input: { a: [null, 1, 'b', { c: undefined }] } };
    const { received, longest } = sent(message);
    expect(longest).toBe(megabyte);
    expect(
      received?.files.map(({ path, bytes }) => [path, Buffer.compare(bytes, Buffer.from([])), bytes.length]),
    ).toEqual(files.map(({ path, bytes }) => [path, Buffer.compare(bytes, Buffer.from([])), bytes.length]));
    received?.files.forEach(({ bytes }, at) => expect(Buffer.compare(bytes, files[at]!.bytes)).toBe(0));
    expect(received?.input).toEqual(message.input);
  });

  it('a message without any is sent as it is', () => {
    const message = { type: 'files', files: [{ path: 'a', bytes: bytesOf(5) }] };
    expect([...inPieces(message)]).toEqual([message]);
    expect([...inPieces(message)][0]).toBe(message);
  });

  it('of a sandbox are refused if they are more than it may hold, or others than it says', () => {
    const piece = (of: number, length: number): Piece => ({ type: 'piece', of, bytes: bytesOf(length) });
    const take = (pieces: Piece[], most?: number) => {
      const assembler = createAssembler(most);
      return { accepted: pieces.every((each) => assembler.take(each)), assembler };
    };
    expect(take([piece(10, 5), piece(10, 6)]).accepted).toBe(false);
    expect(take([piece(10, 5), piece(11, 5)]).accepted).toBe(false);
    expect(take([piece(60, 60), piece(41, 41)], 100).accepted).toBe(false);
    expect(take([piece(2 ** 50, 1)], 100).accepted).toBe(false);
    const message = { type: 'compiled', bytes: new Uint8Array(0) };
    expect(take([piece(10, 5)]).assembler.complete({ ...message, large: [0] })).toBeNull();
    expect(take([piece(5, 5)]).assembler.complete(message)).toBeNull();
    expect(take([]).assembler.complete({ ...message, large: [0] })).toBeNull();
    const { assembler } = take([piece(5, 5)]);
    expect(assembler.complete({ ...message, large: [0] })?.bytes).toHaveLength(5);
    expect(assembler.complete(message)).toEqual(message);
  });
});
