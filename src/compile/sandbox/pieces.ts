/** Bytes that are copied before other work goes on: some 0.2 ms, several times. */
const pieceBytes = 1024 * 1024;

/** A part of bytes that are too many for one message: `of` so many. The parts follow each other. */
export interface Piece {
  type: 'piece';
  of: number;
  bytes: Uint8Array;
}

/** A message whose large bytes came in pieces before it. `large`: which of its byte arrays they are. */
export type Slim<M> = M & { large?: readonly number[] };

const none = new Uint8Array(0);

/** A message as it is sent: the pieces of its large bytes, then the message with none in their places. */
export function* inPieces<M extends object>(message: M): Generator<Piece | Slim<M>> {
  const large: number[] = [];
  const wholes: Uint8Array[] = [];
  const slim = mapBytes(message, (bytes, at) => {
    if (bytes.byteLength <= pieceBytes) return bytes;
    large.push(at);
    wholes.push(bytes);
    return none;
  });
  for (const bytes of wholes)
    for (let at = 0; at < bytes.byteLength; at += pieceBytes)
      yield { type: 'piece', of: bytes.byteLength, bytes: bytes.subarray(at, at + pieceBytes) };
  yield large.length === 0 ? message : { ...slim, large };
}

/** Creates what puts the pieces together that one side of a channel receives: at most so many bytes before a message. */
export function createAssembler(most = Infinity) {
  let wholes: Uint8Array[] = [];
  let total = 0;
  /** Bytes of the last whole that are there. */
  let filled = 0;

  return {
    /** Takes a piece. False if it is none that can come next, or if there are more than `most` bytes. */
    take({ of, bytes }: Piece): boolean {
      let whole = wholes.at(-1);
      if (whole === undefined || filled === whole.byteLength) {
        if (total + of > most) return false;
        whole = Buffer.allocUnsafeSlow(of);
        wholes.push(whole);
        total += of;
        filled = 0;
      }
      if (whole.byteLength !== of || filled + bytes.byteLength > of) return false;
      whole.set(bytes, filled);
      filled += bytes.byteLength;
      return true;
    },
    /** The message with the bytes whose pieces came before it, or null if they are others than it says. */
    complete<M extends object>({ large, ...message }: Slim<M>): M | null {
      const taken = wholes;
      const isWhole = filled === (taken.at(-1)?.byteLength ?? 0) && taken.length === (large?.length ?? 0);
      wholes = [];
      total = filled = 0;
      if (!isWhole) return null;
      const ordinals = new Map(large?.map((at, index) => [at, taken[index]!]));
      return (large === undefined ? message : mapBytes(message, (bytes, at) => ordinals.get(at) ?? bytes)) as never;
    },
  };
}

/** Receives the messages of a trusted side, whose large bytes come in pieces. */
export function receiveWhole<M extends { type: string }>(
  receive: (message: M) => void,
): (part: Piece | Slim<M>) => void {
  const assembler = createAssembler();
  return (part) => {
    if (isPiece(part)) assembler.take(part);
    else receive(assembler.complete(part)!);
  };
}

export function isPiece(part: Piece | { type: string }): part is Piece {
  return part.type === 'piece';
}

/** A copy with other byte arrays, which are counted in the order of members. */
export function mapBytes<T>(message: T, change: (bytes: Uint8Array, at: number) => Uint8Array): T {
  let at = 0;
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Uint8Array) return change(value, at++);
    if (Array.isArray(value)) return value.map(copy);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member)]));
  };
  return copy(message) as T;
}
