import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, identity } from '../../shared/contract/index.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { config as schema } from './config.ts';
import { handlers } from './handlers.ts';
import { startPurge } from './jobs/purge.ts';
import { startSendMails } from './jobs/sendMails.ts';
import { createMailer } from './mail.ts';
import { mailsReading } from './readings.ts';

const config = loadConfig(schema);
const base = await openBase('identity', config);
const { bus, pool, logger, clock } = base;
const environment = config.ENVIRONMENT;

const mails = startSendMails({
  pool,
  logger,
  mailer: createMailer({ url: config.SMTP_URL, from: config.MAIL_FROM }),
  environment,
  identitySecret: config.IDENTITY_SECRET,
  signInUrl: config.SIGN_IN_URL,
});

const deps = {
  pool,
  logger,
  clock: clock.now,
  environment,
  signingKey: config.SIGNING_KEYS[0]!,
  identitySecret: config.IDENTITY_SECRET,
  cursorKey: config.CURSOR_KEY,
  checkPayoutAddress: (payout_address: string, allow_off_curve: boolean) =>
    call(bus, chainSubmitter, 'checkPayoutAddress', { payout_address, allow_off_curve }),
  pokeMails: mails.poke,
};

await runService(base, config, {
  serving: serve(bus, identity, handlers(deps)),
  jobs: [mails, startPurge({ pool, logger })],
  readings: [mailsReading(pool)],
});
