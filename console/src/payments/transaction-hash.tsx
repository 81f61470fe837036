import { useRead } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import { explorerUrl } from '../lib/explorer.ts';
import { Copyable } from '../ui/index.ts';

/** A transaction, with a link to the explorer if it knows the network of this environment. */
export const TransactionHash = ({
  hash,
  label = 'transaction',
  short = false,
}: {
  hash: string;
  label?: string;
  short?: boolean;
}) => {
  const { environment } = useSession();
  const { data } = useRead(['environments'], (client, options) => client.gateway.environments(options));
  const network = data?.environments[environment]?.x402_network ?? '';
  const url = explorerUrl(network, hash);
  return (
    <>
      <Copyable text={hash} label={label} short={short} />
      {url !== null && (
        <a href={url} target="_blank" rel="noreferrer">
          Explorer
        </a>
      )}
    </>
  );
};
