/** The part of the Barman Cloud plugin's types that the manifests use (its API, v0.9). */
type Files = {
  compression?: 'bzip2' | 'gzip' | 'lz4' | 'snappy' | 'xz' | 'zstd';
  encryption?: 'AES256' | 'aws:kms';
};

export type IObjectStore = {
  apiVersion: 'barmancloud.cnpg.io/v1';
  kind: 'ObjectStore';
  metadata: { name: string; namespace?: string };
  spec: {
    retentionPolicy?: `${number}${'d' | 'w' | 'm'}`;
    configuration: {
      destinationPath: string;
      endpointURL?: string;
      s3Credentials?: { inheritFromIAMRole: boolean };
      data?: Files & { jobs?: number };
      wal?: Files & { maxParallel?: number };
    };
  };
};
