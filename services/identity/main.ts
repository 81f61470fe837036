import { openBase, runService } from '../../shared/boot.ts';
import { call } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import { chainSubmitter, identity, wallet } from '../../shared/contract/index.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { config as schema } from './config.ts';
import { handlers } from './handlers.ts';
import { startPurge } from './jobs/purge.ts';
import { startSendMails } from './jobs/sendMails.ts';
import { createMailer } from './mail.ts';

const config = loadConfig(schema);
const base = await openBase('identity', config);
const { bus, pool, logger, clock, relay } = base;
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
  relay,
  rp: { id: config.PASSKEY_RP_ID, name: config.PASSKEY_RP_NAME, origins: config.PASSKEY_ORIGINS },
  defaultWallet: async (account_id: string) =>
    (await call(bus, wallet, 'find', { account_id }))?.wallet_id ?? null,
  chooseDefaultWallet: async (account_id: string, wallet_id: string | null) =>
    (await call(bus, wallet, 'chooseDefault', { account_id, wallet_id })).chosen,
  checkPayoutAddress: (payout_address: string, allow_off_curve: boolean) =>
    call(bus, chainSubmitter, 'checkPayoutAddress', { payout_address, allow_off_curve }),
  pokeMails: mails.poke,
};

await runService(base, config, {
  serving: serve(bus, identity, handlers(deps), { now: clock.now }),
  jobs: [mails, startPurge({ pool, logger })],
});
