import { toDoubles } from '../../model/exact-numbers.ts';
import { isObject } from '../../model/json.ts';
import { objectOf } from '../../render/json-value.ts';
import type { detectSpec } from '@redocly/openapi-core';
import type { Problem, Severity, Validation } from '../../model/problem.ts';
import type { SchemaFinding } from '../../model/schema-errors.ts';
import { kinds } from '../../model/kinds.ts';
import {
  beginsWith,
  firstText,
  isParsed,
  problemAt,
  type CompileKind,
  type DocumentKind,
  type KindInput,
  type KindResult,
} from '../kind.ts';
import { adviseOpenapi } from './openapi-advice.ts';
import { bundleOpenapi } from './openapi-bundle.ts';
import { openapiAddresses, openapiExamplePaths, openapiReferencePaths } from './openapi-references.ts';
import { validateOpenapi, type OpenapiVersion } from './openapi-schemas.ts';
import { joinPointer, parsePointer, pointerOf } from '../../model/pointer.ts';
import { adviseQuotes, numberAt, type ParsedFile } from '../text/parse.ts';
import type { Tree } from './redocly.ts';

type Spec = ReturnType<typeof detectSpec>;

const specs: Record<OpenapiVersion, Spec> = { '2.0': 'oas2', '3.0': 'oas3_0', '3.1': 'oas3_1', '3.2': 'oas3_2' };

/** Compiles an OpenAPI 2.0, 3.0, 3.1 or 3.2 document (design §6). */
export const compileOpenapi: CompileKind = async (given) => {
  const { entry, input } = given;
  const described = describe(entry);
  const version = versionOf(entry, input.validation);
  if (version.family === null)
    return {
      ...described,
      problems: [problemAt(entry, version.pointer, 'openapi-version', version.message)],
      bundle: null,
    };

  const isNewer = version.newer !== undefined;
  const { bundle, problems, tree } = await bundleOpenapi(given, specs[version.family], isNewer);
  const result: KindResult = { ...described, problems, bundle, used: tree.used };
  if (isNewer) problems.push(problemAt(entry, '/openapi', 'openapi-version', version.newer!, { severity: 'warning' }));
  if (bundle === null) return result;
  const origin = inTree(bundle, entry.path, tree.origins);
  // Validators know no integer but doubles.
  const checked = bundle === entry.value ? bundle : toDoubles(bundle);
  const findings = validateOpenapi(checked, version.family, entry.text.length).filter(
    ({ pointer }) => !(isNewer && pointer === '/openapi'),
  );
  if (findings.length > 0) {
    const severity = input.validation === 'strict' ? 'error' : 'warning';
    problems.push(...placed(given, findings, origin, severity));
  }
  problems.push(...advise(given, checked, version.family, origin));
  return result;
};

const { marks } = kinds.openapi;

/** OpenAPI documents of all versions. */
export const openapi: DocumentKind = {
  isRoot: (root) => marks.some((mark) => isVersion(root[mark])),
  text: beginsWith(marks, String.raw`\d`),
  titleIn: ({ info }) => firstText(info, 'title'),
  paths: { references: openapiReferencePaths, addresses: openapiAddresses, examples: openapiExamplePaths },
  compile: compileOpenapi,
};

function isVersion(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+(?:\.\d+)*(?:[-+.]|$)/.test(value));
}

/** What other tools refuse, at the place in the source. With a ruleset, only its owner decides which advice is given. */
function advise(given: KindInput, bundle: unknown, version: OpenapiVersion, originOf: FindOrigin): Problem[] {
  const { ruleset, validation } = given.input;
  const advice = adviseOpenapi(bundle, version, ruleset === null);
  return advice.flatMap(({ rule, pointer, message, on }) => {
    const origin = originOf(pointer);
    const file = given.files.get(origin.file);
    if (!isParsed(file)) return [];
    const severity = rule === 'schema' && validation === 'strict' ? 'error' : 'warning';
    return [problemAt(file, origin.pointer, rule, message, { severity, on })];
  });
}

type Described = Pick<KindResult, 'kind' | 'specification' | 'title' | 'summary' | 'description' | 'version'>;

function describe(entry: ParsedFile): Described {
  const root = objectOf(entry.value);
  const info = objectOf(root['info']);
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    kind: 'openapi',
    specification: text(root['openapi']) ?? text(root['swagger']) ?? '',
    title: text(info['title']) ?? '',
    summary: text(info['summary']) ?? '',
    description: text(info['description']) ?? '',
    version: text(info['version']) ?? numberAt(entry, '/info/version'),
  };
}

type Version =
  /** `newer`: why it is read as an older version. */
  { family: OpenapiVersion; newer?: string } | { family: null; pointer: string; message: string };

function versionOf(entry: ParsedFile, validation: Validation): Version {
  const root = objectOf(entry.value);
  const member = 'openapi' in root ? 'openapi' : 'swagger';
  const value = root[member];
  const pointer = `/${member}`;
  const stated = JSON.stringify(value) ?? 'nothing';
  const refuse = (message: string) => ({ family: null, pointer, message });
  if (typeof value !== 'string') {
    const whole = member === 'swagger' ? '2.0' : (newestOf[Number(value)] ?? newestOf[3.1]);
    const message = `"${member}" must be a text with the whole version, not ${numberAt(entry, pointer) ?? stated}. Write ${member}: "${whole}".`;
    return refuse(message);
  }
  if (member === 'swagger' && value === '2.0') return { family: '2.0' };
  const family = member === 'openapi' ? /^(3\.[012])\.\d+(?:-|$)/.exec(value)?.[1] : undefined;
  if (family === '3.0' || family === '3.1' || family === '3.2') return { family };
  const minor = member === 'openapi' ? /^3\.(\d{1,3})\.\d+(?:-|$)/.exec(value)?.[1] : undefined;
  if (minor !== undefined && validation === 'lenient')
    return {
      family: '3.2',
      newer: `OpenAPI ${value} is newer than 3.2, the newest version that Stele knows. The document was checked as 3.2.`,
    };
  if (minor !== undefined)
    return refuse(
      `The OpenAPI version ${stated} is not supported. Use 3.0.x, 3.1.x or 3.2.x, or set validation to lenient: then it is checked as 3.2.`,
    );
  const versions = member === 'swagger' ? 'swagger: "2.0"' : '3.0.x, 3.1.x or 3.2.x';
  return refuse(`The OpenAPI version ${stated} is not supported. Use ${versions}.`);
}

/** The newest version of each minor one, for those who write only that. */
const newestOf: Readonly<Record<number, string>> = { 3: '3.0.4', 3.1: '3.1.1', 3.2: '3.2.0' };

interface Spot {
  file: string;
  pointer: string;
}

type FindOrigin = (pointer: string) => Spot;

/** Maps a node of the bundle to its source, below its nearest ancestor that came from a file. */
function inTree(bundle: unknown, file: string, origins: Tree['origins']): FindOrigin {
  return (pointer) => {
    let node = bundle;
    let spot: Spot = { file, pointer: '' };
    for (const token of [null, ...parsePointer(pointer)]) {
      if (token !== null) {
        node = isObject(node) || Array.isArray(node) ? (node as Record<string, unknown>)[token] : undefined;
        spot = { file: spot.file, pointer: joinPointer(spot.pointer, token) };
      }
      const origin = typeof node === 'object' && node !== null ? origins.get(node) : undefined;
      if (origin !== undefined) spot = { file: origin.file, pointer: pointerOf(origin.way) };
    }
    return spot;
  };
}

/** Findings in the bundle as problems of the files that it was made of. */
function placed(
  { files }: KindInput,
  findings: readonly SchemaFinding[],
  originOf: FindOrigin,
  severity: Severity,
): Problem[] {
  const isCertain = findings.some(({ doubtful }) => !doubtful);
  return findings.flatMap(({ pointer, on, message, doubtful }) => {
    const origin = originOf(pointer);
    const file = files.get(origin.file);
    if (!isParsed(file) || (doubtful && isCertain)) return [];
    const text = adviseQuotes(file, origin.pointer, message);
    return [problemAt(file, origin.pointer, 'schema', text, { severity, on })];
  });
}
