// Rows of one tree.
const rowsOfTree = 1500;

/** How much a tree, or a part of it, may still show. */
export interface Room {
  rows: number;
  /** Rows of named schemas. Where these are used up, a fold has the number of rows and a link to the schema. */
  named: number;
  /** Whether named schemas stand in their places at all. Otherwise they are links. */
  follows: boolean;
  /** Fields with this keyword are left out: a request has no read-only ones. */
  hides: 'readOnly' | 'writeOnly' | null;
}

/** Room for one tree. */
export function roomFor(named: number, hides: Room['hides'] = null): Room {
  return { rows: rowsOfTree, named, follows: named > 0, hides };
}

/**
 * Reserves a part of the room, so that the other parts keep theirs. The caller gives back what is
 * unused.
 */
export function shareOf(room: Room, part: number): Room {
  const rows = Math.min(room.rows, Math.ceil(room.rows * part));
  const named = Math.min(room.named, Math.ceil(room.named * part));
  room.rows -= rows;
  room.named -= named;
  return { ...room, rows, named };
}

export function giveBack(room: Room, share: Room): void {
  room.rows += share.rows;
  room.named += share.named;
}
