// Starts as many sandboxes as it is told, and waits to be killed. Their command lines have the second argument.
import { forkSandbox, scripts } from '../../../src/compile/sandbox/fork-sandbox.ts';
import { findIsolation } from '../../../src/compile/sandbox/isolation.ts';

const [count, mark] = process.argv.slice(2) as [string, string];
const isolation = await findIsolation('auto');
for (let started = 0; started < Number(count); started++) forkSandbox(scripts.all, isolation, 256, { args: [mark] });
process.send!('started');
setInterval(() => undefined, 60_000);
