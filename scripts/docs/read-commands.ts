import { readDocs } from '../../src/site/docs/docs.ts';

/** A command of a page of `content/docs`, as a reader types it: perhaps of several lines. */
export interface DocCommand {
  page: string;
  text: string;
}

/** The commands in a block of a shell, each with its continuation lines and what it reads from `<<END`. */
export function commandsIn(block: string): string[] {
  const commands: string[] = [];
  let isOpen = false;
  let end: string | null = null;
  for (const line of block.trimEnd().split('\n')) {
    if (isOpen) commands[commands.length - 1] += `\n${line}`;
    else commands.push(line);
    end = line === end ? null : (end ?? /<<(\w+)/.exec(line)?.[1] ?? null);
    isOpen = end !== null || /(?:\\|\|)$/.test(line);
  }
  return commands;
}

/** Every command of the documentation, by page. */
export function readCommands(): Map<string, DocCommand[]> {
  return new Map(
    readDocs().map(({ name, markdown }) => {
      const blocks = [...markdown.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent, text]) =>
        text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      );
      return [name, blocks.flatMap(commandsIn).map((text) => ({ page: name, text }))];
    }),
  );
}
