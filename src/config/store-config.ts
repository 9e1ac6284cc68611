import { resolve } from 'node:path';
import { malformed } from '../model/errors.ts';
import type { SecretName } from './environment.ts';
import type { WrittenConfig } from './written.ts';

interface BucketConfig {
  /** The service: one that `content/schemas/config.json` names, and that `open.ts` opens. */
  kind: string;
  bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  prefix: string;
  /** Null: the public one. */
  endpoint: string | null;
  region: string | null;
  pathStyle: boolean;
  /** Null: those that the SDK of the service finds in the environment. */
  credentials: { accessKeyId: SecretName; secretAccessKey: SecretName } | null;
}

/** Where the registry is stored. */
export type StoreConfig = { kind: 'fs'; path: string } | BucketConfig;

/** Fills in the defaults; without a store, the data folder. Throws `malformed`. */
export function fillStore(
  { store, secretKey }: Pick<WrittenConfig, 'store' | 'secretKey'>,
  { base, data }: { base: string; data: string },
): StoreConfig {
  if (store === undefined || 'path' in store) return { kind: 'fs', path: resolve(base, store?.path ?? data) };
  if (secretKey === undefined) {
    throw malformed(
      `store.kind is ${store.kind}, so secretKey is required: every machine that uses the bucket must be able to open the secrets in it. Set secretKey to { env: … }.`,
    );
  }
  const { kind, bucket, prefix = '', endpoint, region, accessKeyId, secretAccessKey } = store;
  return {
    kind,
    bucket,
    prefix,
    endpoint: endpoint ?? null,
    region: region ?? null,
    pathStyle: store.pathStyle ?? endpoint !== undefined,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
  };
}
