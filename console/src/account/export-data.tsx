import { useEffect, useRef, useState } from 'react';
import { exportAccount } from '../../../sdk/src/account-export.ts';
import { useAction } from '../api/data.ts';
import { session } from '../api/store.ts';
import { offerFile } from '../lib/csv.ts';
import { Button, ErrorNotice, Row, Section, Stack, toast } from '../ui/index.ts';

/** The progress is shown once for so many objects. */
const SHOWN_EACH = 50;

/** All data of the account as one file, as `quittance account export` writes it. */
export const ExportData = () => {
  const [read, setRead] = useState(0);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const make = useAction(
    async (client, abort: AbortController) => {
      const lines: string[] = [];
      setRead(0);
      for await (const object of exportAccount(client)) {
        if (abort.signal.aborted) return null;
        lines.push(`${JSON.stringify(object)}\n`);
        if (lines.length % SHOWN_EACH === 0) setRead(lines.length);
      }
      return lines;
    },
    {
      done: (lines) => {
        if (lines === null) return;
        // The file name contains the environment.
        const { environment } = session.get();
        const name = `quittance-account-${environment}-${new Date().toISOString().slice(0, 10)}.jsonl`;
        offerFile(name, new Blob(lines, { type: 'application/x-ndjson' }));
        toast(`Saved ${name}.`);
      },
    },
  );
  const start = () => {
    running.current = new AbortController();
    void make.run(running.current);
  };
  return (
    <Section
      title="Your data"
      about="Everything in this account as one file with a JSON object per line. Wallet keys and backups are not included. We confirm each export by e-mail."
    >
      <Stack>
        <Row>
          <Button busy={make.isBusy && `${read} objects read…`} onPress={start}>
            Download your data
          </Button>
          {make.isBusy && (
            <Button variant="quiet" onPress={() => running.current?.abort()}>
              Cancel
            </Button>
          )}
        </Row>
        {make.error !== null && <ErrorNotice error={make.error} retry={start} />}
      </Stack>
    </Section>
  );
};
