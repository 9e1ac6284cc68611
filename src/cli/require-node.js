/*
 * Ends the process on a Node that is too old, before anything else is loaded. Old ones must be able to read it, so it is plain JavaScript.
 */
if (Number.parseInt(process.versions.node, 10) < 26) {
  console.error(
    `Stele needs Node 26 or newer, and this is ${process.versions.node}: run "npx --yes --package node@26 stele …", or install one from https://nodejs.org.`,
  );
  process.exit(2);
}
