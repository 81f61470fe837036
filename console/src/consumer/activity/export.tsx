import { useEffect, useRef, useState } from 'react';
import type { Client, Input, Output } from '../../../../sdk/src/main.ts';
import { session } from '../../api/store.ts';
import { download } from '../../lib/csv.ts';
import { serviceNameOf } from '../../payments/names.tsx';
import { Button, ErrorNotice, Row, toast } from '../../ui/index.ts';
import { csvHead, csvLine } from './csv.ts';

type Query = NonNullable<Input<'wallet.listTransactions'>>;
type Transaction = Output<'wallet.listTransactions'>['data'][number];

/** Reads all transactions of a list, page by page. `read` gets the count after each page. */
const readAll = async (client: Client, query: Query, signal: AbortSignal, read: (count: number) => void) => {
  const rows: Transaction[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.wallet.listTransactions({ ...query, cursor, limit: '100' }, { signal });
    rows.push(...page.data);
    read(rows.length);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return rows;
};

/** Exports the filtered list as a CSV file, built in this page. The user can cancel it. */
export const ExportCsv = ({
  query,
  nameOf,
}: {
  query: Query;
  nameOf: (delegateId: string) => string | null;
}) => {
  const [progress, setProgress] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const start = async () => {
    const { client, environment } = session.get();
    const abort = new AbortController();
    running.current = abort;
    setError(null);
    setProgress('Loading transactions…');
    try {
      await client.identity.noteExport({ of: 'transactions' }, { signal: abort.signal });
      const rows = await readAll(client, query, abort.signal, (count) =>
        setProgress(`${count.toLocaleString('en')} transactions read…`),
      );
      const names = new Map<string, string | null>();
      const ids = new Set(rows.flatMap(({ service_id }) => service_id ?? []));
      for (const id of ids) {
        setProgress(`Loading names: ${names.size} of ${ids.size} services…`);
        names.set(id, await serviceNameOf(client, id, { signal: abort.signal }));
      }
      const lines = rows.map((row) =>
        csvLine(row, { service: (id) => names.get(id) ?? null, delegate: nameOf }),
      );
      // The file name contains the environment.
      const name = `quittance-${environment}-${new Date().toISOString().slice(0, 10)}.csv`;
      download(name, [csvHead(), ...lines]);
      toast(`${rows.length.toLocaleString('en')} transactions exported to ${name}.`);
    } catch (failure) {
      if (!abort.signal.aborted) setError(failure);
    } finally {
      if (running.current === abort) {
        running.current = null;
        setProgress(null);
      }
    }
  };
  const cancel = () => {
    running.current?.abort();
    setProgress(null);
    toast('Export cancelled.');
  };
  return (
    <>
      <Row>
        {progress === null ? (
          <Button size="small" onPress={() => void start()}>
            Export as CSV
          </Button>
        ) : (
          <>
            <span role="status" className="quiet">
              {progress}
            </span>
            <Button size="small" onPress={cancel}>
              Cancel export
            </Button>
          </>
        )}
      </Row>
      {error !== null && <ErrorNotice error={error} retry={() => void start()} />}
    </>
  );
};
