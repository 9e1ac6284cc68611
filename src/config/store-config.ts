import { resolve } from 'node:path';
import { RegistryError } from '../model/errors.ts';
import type { SecretName } from './environment.ts';

/** A bucket on Amazon S3 or a service like it. */
export interface S3Config {
  kind: 's3';
  bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  prefix: string;
  /** Null: Amazon S3. */
  endpoint: string | null;
  region: string | null;
  pathStyle: boolean;
  /** Null: the credentials that the AWS SDK finds in the environment. */
  credentials: { accessKeyId: SecretName; secretAccessKey: SecretName } | null;
}

/** Where the registry is stored. */
export type StoreConfig = { kind: 'fs'; path: string } | S3Config;

/** A store as it is written. */
export type UserStore =
  | { kind: 'fs'; path: string }
  | (Pick<S3Config, 'kind' | 'bucket'> & {
      [key in 'prefix' | 'endpoint' | 'region' | 'pathStyle']?: NonNullable<S3Config[key]>;
    } & Partial<NonNullable<S3Config['credentials']>>);

/** Fills in the defaults; without a store, the data folder. Throws `malformed`. */
export function fillStore(
  { store, secretKey }: { store?: UserStore; secretKey?: SecretName },
  { base, data }: { base: string; data: string },
): StoreConfig {
  if (store?.kind !== 's3') return { kind: 'fs', path: resolve(base, store?.path ?? data) };
  if (secretKey === undefined) {
    throw new RegistryError(
      'malformed',
      'store.kind is s3, so secretKey is required: every machine that uses the bucket must be able to open the secrets in it. Set secretKey to { env: … }.',
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
