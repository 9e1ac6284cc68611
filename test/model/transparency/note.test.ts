import { expect, test } from 'vitest';
import {
  checkpointText,
  formatProof,
  parseCheckpoint,
  parseProof,
  type LogProof,
} from '../../../src/model/transparency/checkpoint.ts';
import {
  formatNote,
  formatVerifierKey,
  keyId,
  parseNote,
  parseVerifierKey,
  signersOf,
  signingKey,
  signText,
} from '../../../src/model/transparency/note.ts';
import { emptyRoot } from '../../../src/model/transparency/tree.ts';
import { cosign, cosigningKey } from '../../registry/transparency/cosign.ts';

// The example of C2SP signed-note (CC BY 4.0).
const exampleKey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const example = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;

test('the note of the specification is signed by the key of the specification', () => {
  const key = parseVerifierKey(exampleKey)!;
  expect(formatVerifierKey(key)).toBe(exampleKey);
  const note = parseNote(example)!;
  expect(signersOf(note, [key])).toEqual([key]);
  expect(formatNote(note)).toBe(example);
  expect(signersOf({ ...note, text: 'Another.\n' }, [key])).toBe(null);
});

test('a text that is no note, and a key that is none, are refused', () => {
  for (const text of ['', 'a\n', 'a\n\n', 'a\n\n— b\n', example.slice(0, -1), example.replace('This', 'Th\tis')])
    expect(parseNote(text), text).toBe(null);
  for (const text of ['', exampleKey.replace('530d903a', '530d903b'), 'a b+530d903a+AekyeR', exampleKey.slice(0, -4)])
    expect(parseVerifierKey(text), text).toBe(null);
});

test('a cosignature says when, and is not that of another time, text or kind', () => {
  const seed = Buffer.alloc(32, 7);
  const witness = cosigningKey('witness.example/w1', seed);
  const log = signingKey('log.example/log', Buffer.alloc(32, 8));
  const text = checkpointText('log.example/log', { size: 0, root: emptyRoot });
  const note = { text, signatures: [signText(log, text), cosign(witness, text, 1_700_000_000)] };
  expect(signersOf(note, [witness, log])!.map(({ name }) => name)).toEqual(['log.example/log', 'witness.example/w1']);
  const late = Buffer.from(note.signatures[1]!.signature);
  late.writeBigUInt64BE(1_700_000_001n);
  expect(signersOf({ text, signatures: [{ ...note.signatures[1]!, signature: late }] }, [witness])).toBe(null);
  expect(keyId(witness)).not.toBe(keyId({ ...witness, algorithm: 'note' }));
  expect(signersOf(note, [])).toEqual([]);
});

test('a proof is read as it was written, and nothing else is one', () => {
  const log = signingKey('log.example/log', Buffer.alloc(32, 8));
  const text = checkpointText('log.example/log', { size: 2, root: emptyRoot });
  const checkpoint = parseCheckpoint(formatNote({ text, signatures: [signText(log, text)] }))!;
  const proof: LogProof = { index: 1, hashes: [emptyRoot], checkpoint, extra: Buffer.from('{}') };
  const written = formatProof(proof);
  expect(written.startsWith('c2sp.org/tlog-proof@v1\nextra e30=\nindex 1\n')).toBe(true);
  expect(parseProof(written)).toEqual(proof);
  for (const wrong of ['', written.replace('@v1', '@v2'), written.replace('index 1', 'index 01'), written.slice(0, 40)])
    expect(parseProof(wrong)).toBe(null);
});
