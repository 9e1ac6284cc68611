import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What opens a URL in the browser of a desktop. */
const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a URL in the user's browser. Says whether there is a program for it, and does not wait for it. */
export async function openInBrowser(url: string): Promise<{ program: string; opened: boolean }> {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.unref();
  const opened = await once(child, 'spawn').then(
    () => true,
    () => false,
  );
  return { program, opened };
}
