/** What is said of everything that is absent, and of everything that is private: nobody can tell which. */
export const nothingHere =
  'There is nothing here that you may read. If there should be, send a key (Authorization: Bearer <key>) or sign in.';
