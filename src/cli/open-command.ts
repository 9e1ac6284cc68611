import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command } from 'commander';
import { formatCoordinate } from '../model/address.ts';
import { readConfig, requireCoordinate, type CommonOptions } from './command-context.ts';
import { urlIn } from './check/fetch-document.ts';
import { complain, print, printJson } from './output.ts';
import { requireRegistry } from './registry-client.ts';

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

/** `stele open COORDINATE`: shows a resource's page in the browser. */
export function openCommand(): Command {
  return new Command('open')
    .description('Open the page of a resource, or of a version, in the browser.')
    .argument('<coordinate>', '@org/type/slug[@version]')
    .option('--registry <url>', 'URL of the registry (default: `url` of the configuration)')
    .action(async (given: string, _options: unknown, command: Command) => {
      const { coordinate, selector } = requireCoordinate(given);
      const { registry, json } = command.optsWithGlobals<CommonOptions & { registry?: string }>();
      const base = requireRegistry(registry ?? (await readConfig(command)).url);
      const url = urlIn(base, formatCoordinate(coordinate, selector));
      const { program, opened } = await openInBrowser(url);
      if (json) return printJson({ url, opened });
      print(url);
      if (!opened) complain(`${program} is not installed, so no browser was opened.`);
    });
}
