// These packages have no types.
declare module 'markdown-it-container' {
  const container: (markdown: unknown, name: string, options: object) => void;
  export default container;
}
declare module 'markdown-it-footnote' {
  const footnote: (markdown: unknown) => void;
  export default footnote;
}
