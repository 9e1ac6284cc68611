import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { readSecret } from '../config/environment.ts';
import { RegistryError } from '../model/errors.ts';
import { formatVerifierKey, mlDsaKey, signingKey } from '../model/transparency/note.ts';
import { parsePolicy } from '../model/transparency/policy.ts';
import { readConfig, type CommonOptions } from './command-context.ts';
import { complain, print } from './output.ts';

interface WitnessOptions extends CommonOptions {
  name: string;
  policy: string;
  port: string;
  host: string;
  interval: string;
}

const keyName = 'STELE_WITNESS_KEY';
const shortest = 32;

/** `stele witness`: cosigns the public logs of registries, as long as each goes on from what it was. */
export function witnessCommand(): Command {
  return new Command('witness')
    .description('Cosign the public logs of registries, as long as none shows another history.')
    .requiredOption('--name <name>', 'the name of the witness, such as witness.example.com/w1')
    .requiredOption('--policy <file>', 'the logs, a line each: log <key> <url>')
    .option('--port <port>', 'the port to listen on', '7710')
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option(
      '--interval <seconds>',
      'seconds between two looks at the logs with a url; 0: wait for what they send',
      '60',
    )
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<WitnessOptions>();
      const [{ openBucket }, { assertFormat }, { serveWitness }, { deriveKey }] = await Promise.all([
        import('../open.ts'),
        import('../store/format.ts'),
        import('../witness/serve-witness.ts'),
        import('../registry/cipher.ts'),
      ]);
      const secret = readKey();
      const keys = [
        signingKey(options.name, deriveKey(secret, '', 'stele witness'), 'cosignature'),
        mlDsaKey(options.name, deriveKey(secret, '', 'stele witness ml-dsa-44')),
      ];
      const logs = await readLogs(options.policy);
      const config = await readConfig(command);
      const bucket = await openBucket(config.store);
      await assertFormat(bucket);
      const served = await serveWitness(bucket, {
        keys,
        logs,
        port: numberIn(options.port, '--port'),
        host: options.host,
        interval: numberIn(options.interval, '--interval'),
        log: (level, event, fields) => complain(`${level} ${event} ${JSON.stringify(fields)}`),
      });
      for (const key of keys) print(formatVerifierKey(key));
      complain(`Witness ${options.name} at ${served.url}, for ${logs.length} ${logs.length === 1 ? 'log' : 'logs'}`);
      await new Promise((ended) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, ended);
      });
      await served.close();
    });
}

function readKey(): string {
  const secret = readSecret({ env: keyName }).trim();
  if (secret.length >= shortest) return secret;
  throw new RegistryError('malformed', `${keyName} must have at least ${shortest} characters.`);
}

async function readLogs(path: string) {
  const file = resolve(path);
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new RegistryError('malformed', `${file} cannot be read: ${error.message}`);
  });
  // What a witness asks for is nothing: it is the one who is asked.
  const hasQuorum = /^\s*quorum\s/m.test(text);
  const { logs } = parsePolicy(hasQuorum ? text : `${text}\nquorum none\n`, path);
  if (logs.length === 0) throw new RegistryError('malformed', `${file} names no log: log <key> <url>.`);
  return logs;
}

function numberIn(text: string, option: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new RegistryError('malformed', `${option} must be a number, such as 60.`);
}
