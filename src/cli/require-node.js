/*
 * Ends the process on a Node that is too old, before anything else is loaded. Old ones must be able to read it, so it is plain JavaScript.
 */
if (Number.parseInt(process.versions.node, 10) < 26) {
  console.error(
    `Stele needs Node 26 or newer, and this is ${process.versions.node}: install one from https://nodejs.org, or put it first in PATH.`,
  );
  process.exit(2);
}
