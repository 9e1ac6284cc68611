import { kinds, types } from '../../src/model/kinds.ts';
import { describe, expect, test } from 'vitest';
import {
  codingAnnotation,
  contentDigest,
  findLayer,
  formatAnnotation,
  sourceAnnotation,
  sourceLayers,
  type Descriptor,
  type Manifest,
} from '../../src/model/artifact.ts';
import { digestOf } from '../../src/model/digest.ts';

function layerOf(text: string, annotations?: Record<string, string>): Descriptor {
  const layer = { mediaType: 'application/octet-stream', digest: digestOf(text), size: text.length };
  return annotations === undefined ? layer : { ...layer, annotations };
}

function representationOf(format: string, coding: string, text: string): Descriptor {
  return layerOf(text, { [formatAnnotation]: format, [codingAnnotation]: coding });
}

function manifestOf(layers: Descriptor[]): Manifest {
  return {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: types.apis.artifactType,
    config: layerOf('config'),
    layers,
  };
}

const layers = [
  representationOf('json', 'identity', '{}'),
  representationOf('json', 'br', 'packed'),
  representationOf('yaml', 'identity', '{ }'),
  layerOf('source', { [sourceAnnotation]: 'apis/a.yaml' }),
  layerOf('proto', { [sourceAnnotation]: '__proto__' }),
  layerOf('foreign'),
];

describe('a manifest', () => {
  test('has at most one layer for a format in a coding', () => {
    expect(findLayer(manifestOf(layers), 'json', 'br')).toBe(layers[1]);
    expect(findLayer(manifestOf(layers), 'yaml', 'identity')).toBe(layers[2]);
    expect(findLayer(manifestOf(layers), 'yaml', 'br')).toBeNull();
    expect(findLayer(manifestOf([]), 'json', 'identity')).toBeNull();
  });

  test('has the sources by path, whatever they are called', () => {
    expect([...sourceLayers(manifestOf(layers))]).toEqual([
      ['apis/a.yaml', layers[3]],
      ['__proto__', layers[4]],
    ]);
  });

  test('publishes the same content whatever packed it and whatever it was made from', () => {
    const content = contentDigest(manifestOf(layers));
    const repacked = layers.map((layer) => (layer === layers[1] ? representationOf('json', 'br', 'repacked') : layer));
    const moved = layers.map((layer) =>
      layer === layers[3] ? layerOf('source', { [sourceAnnotation]: 'b.yaml' }) : layer,
    );
    for (const same of [repacked, moved, [...layers].reverse()]) expect(contentDigest(manifestOf(same))).toBe(content);
    const changed = layers.map((layer) => (layer === layers[2] ? representationOf('yaml', 'identity', '{}\n') : layer));
    const swapped = [representationOf('yaml', 'identity', '{}'), representationOf('json', 'identity', '{ }')];
    for (const other of [changed, swapped, layers.slice(1)]) expect(contentDigest(manifestOf(other))).not.toBe(content);
  });

  test('names its kind and its media types', () => {
    expect((['apis', 'schemas', 'rulesets'] as const).map((type) => types[type].artifactType)).toEqual([
      'application/vnd.stele.api.v1',
      'application/vnd.stele.schema.v1',
      'application/vnd.stele.ruleset.v1',
    ]);
    const stored = (['openapi', 'json-schema', 'redocly-ruleset'] as const).map((kind) => kinds[kind].stored);
    expect(stored.map(({ json, yaml }) => [json, yaml])).toEqual([
      ['application/openapi+json', 'application/openapi+yaml'],
      ['application/schema+json', 'application/yaml'],
      ['application/json', 'application/yaml'],
    ]);
  });
});
