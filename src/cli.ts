#!/usr/bin/env node
import './cli/require-node.js'; // oxlint-disable-line no-unassigned-import -- it ends the process on an old Node
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Compiling its own code takes longer than many a command. Sources change too often to be kept.
if (import.meta.url.endsWith('.js')) enableCompileCache(join(homedir(), '.cache', 'stele', 'code'));
const { haveFileThreads } = await import('./config/environment.ts');
haveFileThreads(16);
const { endWithReader } = await import('./cli/process-end.ts');
const { runCommandLine } = await import('./cli/run-command-line.ts');

endWithReader();
process.exitCode = await runCommandLine(process.argv.slice(2));
