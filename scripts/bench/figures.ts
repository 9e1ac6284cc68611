/**
 * Writes what the history says into docs/performance.md (the table between the two comments) and draws its curves into docs/bench/.
 *
 *   node scripts/bench/figures.ts
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fillPage, plots } from './history-figures.ts';
import { readHistory } from './history.ts';

const docs = new URL('../../docs/', import.meta.url);
const history = readHistory();
const page = new URL('performance.md', docs);
await writeFile(page, fillPage(await readFile(page, 'utf8'), history));
for (const { name, svg } of plots(history)) await writeFile(new URL(`bench/${name}.svg`, docs), svg);
