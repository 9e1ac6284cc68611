/** Seconds after which a reader should ask again for a page that is being made. */
export const retryAfter = 3;

/** What readers of such a page see. */
export const beingMade = 'This page is being made for the first time. It takes up to a minute for a long document.';
