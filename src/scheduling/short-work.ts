/** From this size a document is expected to be long work, in bytes of its JSON. */
const longBytes = 128 * 1024;

/** Whether work on a document of this size is expected to end soon: it need not wait for long work. */
export function isShortWork(bytes: number): boolean {
  return bytes <= longBytes;
}
