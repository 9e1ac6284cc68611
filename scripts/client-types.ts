/**
 * Writes the types of the management API's client, `test/server/v1/management.d.ts`, from its description: `node scripts/client-types.ts`. A test
 * says when that is due. The generator wants TypeScript 5, which the project is past, so it is installed apart, in a temporary folder.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { $, tmpdir } from 'zx';
import { digestOf } from '../src/model/digest.ts';

const packages = ['openapi-typescript@7.13.0', 'typescript@5.9.3'];
const path = (url: string) => fileURLToPath(new URL(url, import.meta.url));
const description = path('../content/apis/management.yaml');
const types = path('../test/server/v1/management.d.ts');

const folder = tmpdir();
await $({ cwd: folder })`npm install --no-save --no-audit --no-fund --prefix ${folder} ${packages}`;
await $`${folder}/node_modules/.bin/openapi-typescript ${description} --default-non-nullable=false --output ${types}`;
const header = `// Made by scripts/client-types.ts from content/apis/management.yaml, ${digestOf(await readFile(description))}.`;
await writeFile(types, `${header}\n${await readFile(types, 'utf8')}`);
await $`prettier --write ${types}`;
await rm(folder, { recursive: true });
