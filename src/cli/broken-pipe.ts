/** Ends the command without a word when whoever reads its output has seen enough (`stele log … | head`). */
export function endWithReader(): void {
  process.stdout.on('error', endOnBrokenPipe);
  process.stderr.on('error', ignoreBrokenPipe);
}

/** For a command whose work is not its output: it goes on when nobody reads that any more. */
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
