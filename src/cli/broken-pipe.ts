/** Exits silently when the reader of the output closes the pipe (`stele log … | head`). */
export function endWithReader(): void {
  process.stdout.on('error', endOnBrokenPipe);
  process.stderr.on('error', ignoreBrokenPipe);
}

/** Keeps a long-running command going after the reader of its output has closed the pipe. */
export function outliveReader(): void {
  process.stdout.off('error', endOnBrokenPipe).on('error', ignoreBrokenPipe);
}

function endOnBrokenPipe(error: NodeJS.ErrnoException): void {
  ignoreBrokenPipe(error);
  process.exit(0);
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
