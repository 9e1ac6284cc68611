import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkConfig } from '../../src/config/load-config.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const models = join(root, 'node_modules', 'kubernetes-models');
const charts = join(root, 'deploy', 'helm');

/** What `.ci/kube-tools` brings. */
const tool = (name: string) => join(root, 'node_modules', '.cache', 'kube', name);
const hasTools = ['kubectl', 'helm'].every((name) => existsSync(tool(name)));
const unlessTools = hasTools ? '' : ' (skipped: .ci/kube-tools was not run)';

/** An object of Kubernetes, as far as the tests look into it. */
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec: {
    replicas: number;
    maxUnavailable: number;
    template: { spec: Pod };
    jobTemplate: { spec: { template: { spec: Pod } } };
    volumeClaimTemplates?: object[];
    rules: { host: string }[];
  };
}

interface Pod {
  securityContext: object;
  initContainers?: Container[];
  containers: Container[];
}

interface Container {
  image: string;
  securityContext: object;
  resources: object;
  readinessProbe: object;
  livenessProbe: object;
}

async function kustomize(name: string): Promise<Manifest[]> {
  return objectsIn((await run(tool('kubectl'), ['kustomize', join(root, 'deploy', 'kubernetes', name)])).stdout);
}

async function helm(...set: string[]): Promise<Manifest[]> {
  return objectsIn(
    (await run(tool('helm'), ['template', 'contracts', charts, ...set.flatMap((one) => ['--set', one])])).stdout,
  );
}

function objectsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

const strict = [
  '--noEmit',
  '--ignoreConfig',
  '--strict',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--target',
  'es2024',
];

const bucket = [
  'config.store.kind=s3',
  'config.store.bucket=contracts',
  'config.store.region=eu-central-1',
  'config.store.path=null',
];
const three = ['replicas=3', ...bucket, 'config.secretKey.env=KEY', 'existingSecret=stele', 'ingress.enabled=true'];

describe.skipIf(!hasTools)(`on Kubernetes${unlessTools}`, () => {
  let all: Record<string, Manifest[]>;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(root, 'node_modules', '.cache', 'manifests-'));
    const [single, nodes, release, releaseOfThree] = await Promise.all([
      kustomize('single'),
      kustomize('bucket'),
      helm('ingress.enabled=true'),
      helm(...three),
    ]);
    all = { single, bucket: nodes, helm: release, 'helm over a bucket': releaseOfThree };
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const one = (objects: Manifest[], kind: string) => objects.find((object) => object.kind === kind)!;

  test('every object satisfies the schema of its kind', () => {
    for (const objects of Object.values(all)) {
      expect(objects.length).toBeGreaterThan(5);
      for (const object of objects) {
        const kinds = createRequire(import.meta.url)(join(models, object.apiVersion, 'index.js')) as Record<
          string,
          new (data: object) => { validate(): void }
        >;
        expect(
          () => new kinds[object.kind]!(object).validate(),
          `${object.kind} ${object.metadata.name}`,
        ).not.toThrow();
      }
    }
  });

  test('no object has a key that its kind does not have', async () => {
    // The schemas let unknown keys pass, as a cluster does without --validate=strict. The types made of them do not.
    const objects = Object.values(all).flat();
    const lines = objects.map(
      ({ apiVersion, kind }, index) =>
        `export const o${index}: import('kubernetes-models/${apiVersion}').I${kind} = ${JSON.stringify(objects[index])};`,
    );
    const file = join(folder, 'objects.ts');
    const types = (text: string) =>
      writeFile(file, text).then(() => run(join(root, 'node_modules', '.bin', 'tsc'), [...strict, file]));
    await types(lines.join('\n'));
    const misspelled = lines.join('\n').replaceAll('"readinessProbe"', '"readynessProbe"');
    await expect(types(misspelled)).rejects.toMatchObject({
      stdout: expect.stringContaining('readynessProbe') as string,
    });
  });

  test('a process has no rights, a root that it cannot write, and limits', () => {
    for (const objects of Object.values(all)) {
      const pods = objects.flatMap(({ kind, spec }) =>
        kind === 'StatefulSet' ? [spec.template.spec] : kind === 'CronJob' ? [spec.jobTemplate.spec.template.spec] : [],
      );
      for (const pod of pods) {
        expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } }); // prettier-ignore
        for (const { image, resources, securityContext } of [...pod.containers, ...(pod.initContainers ?? [])]) {
          expect(image).toMatch(/^registry\.example\.com\/stele:\d/);
          expect(securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }); // prettier-ignore
          expect(resources).toMatchObject({ requests: { memory: expect.any(String) as string }, limits: { memory: expect.any(String) as string } }); // prettier-ignore
        }
      }
      const [node] = one(objects, 'StatefulSet').spec.template.spec.containers;
      expect(node).toMatchObject({ readinessProbe: { httpGet: { path: '/readyz' } }, livenessProbe: { httpGet: { path: '/healthz' } } }); // prettier-ignore
      expect(one(objects, 'NetworkPolicy').spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    }
  });

  test('a single node has a volume, and three nodes over a bucket are not all ended at once', () => {
    for (const name of ['single', 'helm']) {
      const { spec } = one(all[name]!, 'StatefulSet');
      expect(spec).toMatchObject({ replicas: 1, volumeClaimTemplates: [{ metadata: { name: 'data' } }] });
      expect(one(all[name]!, 'PodDisruptionBudget')).toBeUndefined();
    }
    for (const name of ['bucket', 'helm over a bucket']) {
      const { spec } = one(all[name]!, 'StatefulSet');
      expect(spec.replicas).toBe(3);
      expect(spec.volumeClaimTemplates).toBeUndefined();
      expect(one(all[name]!, 'PodDisruptionBudget').spec.maxUnavailable).toBe(1);
    }
  });

  test('Stele takes the configurations, and Prometheus reaches the metrics', () => {
    for (const objects of Object.values(all)) {
      const config = checkConfig(parse(one(objects, 'ConfigMap').data!['registry.config.yaml']!), {
        base: '/',
        data: '/data',
      });
      expect(config).toMatchObject({ url: 'https://contracts.example.com', metrics: { host: '0.0.0.0', port: 9464 } });
      expect(one(objects, 'Ingress').spec.rules[0]!.host).toBe('contracts.example.com');
    }
  });

  test('the chart refuses what cannot work, in a sentence', async () => {
    await expect(helm('replicas=2')).rejects.toThrow('More than one node needs a store that all nodes share');
    await expect(helm(...bucket)).rejects.toThrow('A bucket needs config.secretKey');
    await expect(helm('replica=2')).rejects.toThrow("additional properties 'replica' not allowed");
    expect((await run(tool('helm'), ['lint', '--strict', charts])).stdout).toContain('0 chart(s) failed');
  });

  test('the chart and the manifests are of the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(parse(await readFile(join(charts, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
    for (const objects of Object.values(all))
      expect(one(objects, 'StatefulSet').spec.template.spec.containers[0]!.image).toMatch(`:${version}`);
  });
});
