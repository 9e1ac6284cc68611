#!/usr/bin/env node
import { endWithReader } from './cli/broken-pipe.ts';
import { runCommandLine } from './cli/run-command-line.ts';

endWithReader();
process.exitCode = await runCommandLine(process.argv.slice(2));
