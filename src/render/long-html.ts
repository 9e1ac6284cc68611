import { joinHtml, lengthOf, type Html } from './html.ts';

/** A page that grows: beyond its budget parts are written short, and beyond twice that not at all. */
export interface LongHtml {
  /** Adds what `whole` makes, or `short` where the budget is spent. */
  add(whole: () => Html, short?: () => Html): void;
  /** All that was added. */
  finish(): Html;
  /** Whether anything was shortened or left out. */
  readonly isCut: boolean;
}

/** `budget`: characters. A single part may go over it by its own length. */
export function createLongHtml(budget: number): LongHtml {
  const parts: Html[] = [];
  let length = 0;
  let isCut = false;
  return {
    add(whole, short) {
      let part: Html | null = null;
      if (length < budget) part = whole();
      else {
        isCut = true;
        if (short !== undefined && length < budget * 1.5) part = short();
      }
      if (part === null) return;
      parts.push(part);
      length += lengthOf(part);
    },
    finish: () => joinHtml(parts),
    get isCut() {
      return isCut;
    },
  };
}
