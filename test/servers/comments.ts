import type { Said } from './stand-in.ts';

/** A comment that a stand-in keeps, at a line or at the whole pull request. */
export interface KeptComment {
  id: number;
  number: number;
  text: string;
  at?: { path: string; line: number };
}

/** The comments of a stand-in, whose ids count from 1. */
export function keepComments() {
  const comments: KeptComment[] = [];
  let last = 0;
  return {
    comments,
    add(comment: Omit<KeptComment, 'id'>): KeptComment {
      const added = { ...comment, id: ++last };
      comments.push(added);
      return added;
    },
    find: (id: number) => comments.find((each) => each.id === id),
    remove(ids: readonly number[]): void {
      for (const id of ids)
        comments.splice(
          comments.findIndex((each) => each.id === id),
          1,
        );
    },
  };
}

/** 422 unless the body has exactly the members of the documentation. */
export function refuseMembers(
  body: object | null,
  required: readonly string[],
  optional: readonly string[] = [],
): Said | null {
  const names = Object.keys(body ?? {});
  const missing = required.filter((name) => !names.includes(name));
  const unknown = names.filter((name) => !required.includes(name) && !optional.includes(name));
  if (missing.length === 0 && unknown.length === 0) return null;
  return { status: 422, body: { message: `missing: ${missing.join()}; unknown: ${unknown.join()}` } };
}
