import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Opens a URL in the user's browser, if there is a program for it, and does not wait for it. A
 * registry says what to open, and these programs also open files and run programs: so nothing but
 * http and https.
 */
export function openInBrowser(url: string): void {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return;
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, parsed.href], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined).unref();
}
