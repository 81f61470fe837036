// Generated from shared/contract/ by `npm run generate`; do not edit.
import type { Answer, CallOptions, Input, Listing, OperationInfo } from '../types.ts';

/** Every operation of the API by its name. */
export interface Operations {
  gateway: {
    /** Liveness: the process answers `GET /v1/health`. Errors: validation_error, rate_limited, internal_error, service_unavailable. */
    health(input?: Input<'gateway.health'>, options?: CallOptions): Answer<'gateway.health'>;
    /** Readiness: the process accepts calls. 503 while the process starts or drains. The body shows the state of each environment. An environment that is down does not affect the others. `GET /v1/health/ready`. Errors: validation_error, rate_limited, internal_error, service_unavailable. */
    ready(input?: Input<'gateway.ready'>, options?: CallOptions): Answer<'gateway.ready'>;
    /** List the environments that are served here, each with its USDC mint and its network. From the configuration only. A signer compares the mint of a transaction with this mint, never with one from another answer. `GET /v1/environments`. Errors: validation_error, rate_limited, internal_error, service_unavailable. */
    environments(input?: Input<'gateway.environments'>, options?: CallOptions): Answer<'gateway.environments'>;
    /** List the newest API calls of the account. The calls of all keys and sign-ins of the account, and the refused ones apart: the newest 100 of each, for 7 days, of the 1,000 accounts that called last. It is a help for developers and no record: a call may be missing. Calls of pages of the console are left out, and so are calls whose credential was refused, because they belong to nobody. `GET /v1/requests`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    requests(input?: Input<'gateway.requests'>, options?: CallOptions): Listing<'gateway.requests'>;
    /** List the public signing keys. A key is valid only for the environment and the use in its kid: <env>.<quote|settlement|session>.<n>. `GET /.well-known/jwks.json`. Errors: validation_error, rate_limited, internal_error, service_unavailable. */
    jwks(input?: Input<'gateway.jwks'>, options?: CallOptions): Answer<'gateway.jwks'>;
  };
  quote: {
    /** Create a quote. A quote is a signed price: amount, currency, expiry and scope. It can be paid at most once. With `capture`, the amount is a ceiling: the payer authorizes it, and pays what is captured. `POST /v1/quote`. Errors: not_found, conflict, authorization_closed, unauthorized, forbidden, idempotency_mismatch, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    create(input: Input<'quote.create'>, options?: CallOptions): Answer<'quote.create'>;
    /** List quotes `GET /v1/quotes`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    list(input?: Input<'quote.list'>, options?: CallOptions): Listing<'quote.list'>;
    /** Get a quote `GET /v1/quotes/:quote_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    get(input: Input<'quote.get'>, options?: CallOptions): Answer<'quote.get'>;
    /** Create a payment link. A link is one price with a title. Its page lets people pay with a wallet of the browser or with an account, and needs no server of yours. Each payment is a settlement of the service, and is redeemed when it is confirmed. `POST /v1/payment-links`. Errors: not_found, conflict, unauthorized, forbidden, idempotency_mismatch, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createPaymentLink(input: Input<'quote.createPaymentLink'>, options?: CallOptions): Answer<'quote.createPaymentLink'>;
    /** List payment links `GET /v1/payment-links`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listPaymentLinks(input?: Input<'quote.listPaymentLinks'>, options?: CallOptions): Listing<'quote.listPaymentLinks'>;
    /** Get a payment link `GET /v1/payment-links/:payment_link_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getPaymentLink(input: Input<'quote.getPaymentLink'>, options?: CallOptions): Answer<'quote.getPaymentLink'>;
    /** Deactivate a payment link. Its page offers no payment from now on. A page that is open already can pay for up to ten minutes. This is final. `POST /v1/payment-links/:payment_link_id/deactivate`. Errors: not_found, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    deactivatePaymentLink(input: Input<'quote.deactivatePaymentLink'>, options?: CallOptions): Answer<'quote.deactivatePaymentLink'>;
    /** Open a payment link. Called by the page of the link. The answer is a signed quote of ten minutes, whose scope names the link. `POST /v1/payment-links/:payment_link_id/quote`. Errors: not_found, conflict, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    openPaymentLink(input: Input<'quote.openPaymentLink'>, options?: CallOptions): Answer<'quote.openPaymentLink'>;
    /** Who asks for a payment, for a wallet that has scanned the code of a payment link. The first call of a transaction request of Solana Pay. The code of the page names this address: `solana:` and the address in percent-encoding. `GET /v1/payment-links/:payment_link_id/solana-pay/:environment/:handle`. Errors: not_found, conflict, validation_error, rate_limited, internal_error, service_unavailable. */
    describePhonePayment(input: Input<'quote.describePhonePayment'>, options?: CallOptions): Answer<'quote.describePhonePayment'>;
    /** The transaction that a wallet signs which has scanned the code of a payment link. The second call of a transaction request of Solana Pay, for links of many payments. The payment is recorded, and then the fee payer signs. The wallet signs last, and sends the transaction itself within about a minute. Each call opens a quote of its own. One that is not paid leaves nothing. `POST /v1/payment-links/:payment_link_id/solana-pay/:environment/:handle`. Errors: not_found, conflict, insufficient_funds, payment_failed, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    requestPhonePayment(input: Input<'quote.requestPhonePayment'>, options?: CallOptions): Answer<'quote.requestPhonePayment'>;
  };
  settlement: {
    /** Settle a quote. Pays the quote on chain and returns the settlement token. A repeat with the same payment_attempt_id returns the same settlement and never charges twice. After a time-out, repeat with the same id. If the account has paid the quote, or is paying it, by another attempt, the call is refused with `settlement_id` and the action `read_settlement`. This holds for all credentials of the account. Of a quote with `capture` the ceiling is held, and the call answers `authorized` at once; what is used is paid later. Of a quote with `extends` that authorization is extended, and the answer is about it. `POST /v1/settle`. Errors: quote_expired, quote_already_settled, conflict, insufficient_funds, delegation_inactive, limit_exceeded, approval_required, approval_denied, approval_expired, payment_failed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    settle(input: Input<'settlement.settle'>, options?: CallOptions): Answer<'settlement.settle'>;
    /** Redeem a settlement. Authorizes the delivery. It succeeds once. Deliver only if `replayed` is false or the `redeem_id` is yours. `POST /v1/settlements/:settlement_id/redeem`. Errors: not_found, conflict, settlement_expired, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    redeem(input: Input<'settlement.redeem'>, options?: CallOptions): Answer<'settlement.redeem'>;
    /** Consume units of a prepaid settlement. For quotes whose scope has integer `units` (1 to 1e9), so that one payment covers many small calls. The first consume redeems the settlement. Units can be consumed for 30 days after it. A repeat with the same request_id consumes nothing more and returns the same answer. `POST /v1/settlements/:settlement_id/consume`. Errors: not_found, conflict, settlement_exhausted, settlement_expired, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    consume(input: Input<'settlement.consume'>, options?: CallOptions): Answer<'settlement.consume'>;
    /** Verify a settlement without consuming it `POST /v1/settlements/:settlement_id/verify`. Errors: not_found, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    verify(input: Input<'settlement.verify'>, options?: CallOptions): Answer<'settlement.verify'>;
    /** List settlements. A service key lists the settlements of its service. An access token lists the account’s payments, or with `role=vendor` the settlements of all its services. A delegate key lists its own payments. `GET /v1/settlements`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    list(input?: Input<'settlement.list'>, options?: CallOptions): Listing<'settlement.list'>;
    /** Get a settlement `GET /v1/settlements/:settlement_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    get(input: Input<'settlement.get'>, options?: CallOptions): Answer<'settlement.get'>;
    /** Report what was used of an authorization. For settlements of quotes with `capture`. Send one use, or up to 100 in `usages`: all of them are recorded, or none. A repeat with the same usage_id records nothing more and returns the same answer; 30 days after the settlement is final it returns the total. Use that is answered with 200 while the authorization is open is captured when the window ends, unless the vendor captures or voids before. `POST /v1/settlements/:settlement_id/usage`. Errors: not_found, conflict, usage_exceeds_authorization, authorization_closed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    usage(input: Input<'settlement.usage'>, options?: CallOptions): Answer<'settlement.usage'>;
    /** Capture an authorization. Pays what was used, or with `capture` manual an amount up to the ceiling, by one transfer, and releases the rest. An authorization is captured once. A repeat returns the same capture. An amount that is larger than what was reported as used needs the settlement token. `POST /v1/settlements/:settlement_id/capture`. Errors: not_found, conflict, authorization_closed, usage_exceeds_authorization, capture_below_fee, insufficient_funds, delegation_inactive, payment_failed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    capture(input: Input<'settlement.capture'>, options?: CallOptions): Answer<'settlement.capture'>;
    /** Void an authorization. Ends it without a payment and releases what it holds. Refused if use was reported, unless `discard_usage` is true. A repeat returns the same answer. `POST /v1/settlements/:settlement_id/void`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    void(input: Input<'settlement.void'>, options?: CallOptions): Answer<'settlement.void'>;
    /** Close an authorization. For the payer: a sign-in of the account, or the delegate key that opened it. No further use is accepted, and the rest is released. What was reported as used is captured; nothing more, whatever the mode of its quote. A repeat returns what has become of it. `POST /v1/settlements/:settlement_id/close`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    close(input: Input<'settlement.close'>, options?: CallOptions): Answer<'settlement.close'>;
    /** List approvals. A delegate key lists those of its own payments. `GET /v1/approvals`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listApprovals(input?: Input<'settlement.listApprovals'>, options?: CallOptions): Listing<'settlement.listApprovals'>;
    /** Get an approval `GET /v1/approvals/:approval_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getApproval(input: Input<'settlement.getApproval'>, options?: CallOptions): Answer<'settlement.getApproval'>;
    /** Deny a payment that waits for approval. A repeat, also of an approved one that is not used yet, denies it. `POST /v1/approvals/:approval_id/deny`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    denyApproval(input: Input<'settlement.denyApproval'>, options?: CallOptions): Answer<'settlement.denyApproval'>;
    /** List declines. Payments of quotes that were refused, with the reason. A service key lists those of its service’s quotes. An access token lists the account’s own, or with `role=vendor` those of the quotes of all its services. A delegate key lists its own. `GET /v1/declines`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listDeclines(input?: Input<'settlement.listDeclines'>, options?: CallOptions): Listing<'settlement.listDeclines'>;
    /** Pay a vendor of x402 or MPP that does not use Quittance. Signs the payment that a vendor’s 402 asks for, and returns the header that presents it. Give `requirement` for x402, or `challenge` for MPP (method `solana`, intent `charge`, with a fee payer of the vendor). A repeat with the same payment_attempt_id returns the same signed payment and never pays twice. The vendor, or its facilitator, broadcasts it. A delegate needs `external`, and its limits apply. Send the vendor’s answer to `POST /v1/payments/:settlement_id/report`. `POST /v1/payments`. Errors: conflict, insufficient_funds, delegation_inactive, limit_exceeded, approval_required, approval_denied, approval_expired, payment_failed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    payExternal(input: Input<'settlement.payExternal'>, options?: CallOptions): Answer<'settlement.payExternal'>;
    /** Report a vendor’s answer to an outgoing payment. A hint, so that the payment is seen sooner. The chain decides: a report of a failure releases nothing, because the vendor may still use the signed payment. `POST /v1/payments/:settlement_id/report`. Errors: not_found, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    reportExternal(input: Input<'settlement.reportExternal'>, options?: CallOptions): Answer<'settlement.reportExternal'>;
    /** Read the accrued fees of the account. A payment by x402 transfers the exact price, so its fee accrues: the largest of 0.5 %, 0.002 USDC and the cost of its transaction. A payment that fails returns its fee, unless the chain has included and refused its transaction. Beyond the credit, x402 payments are refused with `facilitator_credit_exhausted`. `GET /v1/accounts/me/fees`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getFees(input?: Input<'settlement.getFees'>, options?: CallOptions): Answer<'settlement.getFees'>;
    /** Get a quote for the fees that the account owes. Settle it with `POST /v1/settle`, from a wallet of any account: its scope names the account whose fees it pays. What is paid beyond the owed sum counts for later fees. `POST /v1/accounts/me/fee-quote`. Errors: conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createFeeQuote(input?: Input<'settlement.createFeeQuote'>, options?: CallOptions): Answer<'settlement.createFeeQuote'>;
    /** Get what a sign-in may pay. These limits bind payments with an access token, to services and to other vendors. A person’s sign-in of the last 5 minutes may exceed them, that of a device never does. Its payments count in the day, too. A delegate has limits of its own. `GET /v1/accounts/me/limits`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getAccountLimits(input?: Input<'settlement.getAccountLimits'>, options?: CallOptions): Answer<'settlement.getAccountLimits'>;
    /** Change what a sign-in may pay. Omitted fields are unchanged. A change is mailed to the owner. A limit that is lowered never undoes a payment. `PATCH /v1/accounts/me/limits`. Errors: unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    updateAccountLimits(input?: Input<'settlement.updateAccountLimits'>, options?: CallOptions): Answer<'settlement.updateAccountLimits'>;
    /** A recent blockhash and the fee payer, for a transaction that a page builds. The payment page builds the transaction of a payment by itself, so that no server decides what a wallet signs. A transaction with this blockhash can be paid for about a minute. `GET /v1/blockhash`. Errors: validation_error, rate_limited, internal_error, service_unavailable. */
    getBlockhash(input?: Input<'settlement.getBlockhash'>, options?: CallOptions): Answer<'settlement.getBlockhash'>;
    /** What a vendor needs to offer its resource to clients of x402 and MPP. The values of a 402 of these protocols: network, mint, the fee payer that co-signs, the payout address of the service, and the fee. They change rarely; read them again every few minutes. `GET /v1/settlements/foreign/terms`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    foreignTerms(input?: Input<'settlement.foreignTerms'>, options?: CallOptions): Answer<'settlement.foreignTerms'>;
    /** Settle a payment that a client of x402 or MPP has signed, and redeem it. The vendor has verified that the payment answers its own offer, and names the amount and the memo of that offer. The platform checks the signed bytes, co-signs, and waits for the confirmation. The settlement is redeemed in the same step: deliver only if `replayed` is false or the `redeem_id` is yours. A repeat of the same transaction never pays twice. After 202, repeat the call. `POST /v1/settlements/foreign`. Errors: conflict, insufficient_funds, payment_failed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    acceptForeign(input: Input<'settlement.acceptForeign'>, options?: CallOptions): Answer<'settlement.acceptForeign'>;
    /** Allow the success of an undelivered x402 payment to be handed out once more. A payment whose success was handed out, but whose vendor did not deliver. The next settle of the same payload gets the success again. `redeem_id` names the success that was not delivered, so a repeat of this call makes no further one available: the `hand_out_id` of its answer, or the `redeem_id` of the settlement. `POST /v1/settlements/:settlement_id/reissue`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    reissueForeign(input: Input<'settlement.reissueForeign'>, options?: CallOptions): Answer<'settlement.reissueForeign'>;
    /** Pay the quote of a payment link with a transaction that a wallet has signed. Called by the page of the link. The transaction transfers the amount of the quote to its payout address, with the memo of the quote, and leaves the signature of the fee payer empty. It is signed only after the payment is recorded as the one payment of its quote. A repeat never pays twice. After 202, repeat the call. Only calls with the secret of the first one are told what was paid; others get `quote_already_settled`. `POST /v1/payment-links/payments`. Errors: conflict, insufficient_funds, payment_failed, quote_expired, quote_already_settled, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    payLink(input: Input<'settlement.payLink'>, options?: CallOptions): Answer<'settlement.payLink'>;
    /** What became of the code that the page of a payment link shows. Called by the page, with its link and the secret of whose hash its code is. Nobody who only sees the code can call it. `failed`: no money moved, and the code can be scanned again. `POST /v1/payment-links/phone-payments`. Errors: payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    followPhonePayment(input: Input<'settlement.followPhonePayment'>, options?: CallOptions): Answer<'settlement.followPhonePayment'>;
    /** Get the signed receipt of a payment. Anyone can verify the receipt without an account: it is a compact JWS with EdDSA, signed by a key of `/.well-known/jwks.json?all=true` whose kid is `<env>.settlement.<n>`. Require the `typ` `quittance-receipt+jwt`, the `alg` `EdDSA`, and an `env` equal to that of the kid. The SDK does this with `verifyReceipt`. A receipt states what was known at its `iat`: get it again after a refund. It exists once the payment is confirmed; before that the call answers `conflict`. `GET /v1/settlements/:settlement_id/receipt`. Errors: not_found, conflict, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getReceipt(input: Input<'settlement.getReceipt'>, options?: CallOptions): Answer<'settlement.getReceipt'>;
    /** The payment kinds of this x402 facilitator `GET /v1/x402/supported`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    x402Supported(input?: Input<'settlement.x402Supported'>, options?: CallOptions): Answer<'settlement.x402Supported'>;
    /** Verify an x402 payment without settling it. Checks the signed bytes, simulates them and writes nothing. A refused payment is answered with 200, `isValid: false`, the reason of x402, and `error`. `POST /v1/x402/verify`. Errors: unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    x402Verify(input: Input<'settlement.x402Verify'>, options?: CallOptions): Answer<'settlement.x402Verify'>;
    /** Settle an x402 payment. Co-signs, broadcasts and waits for the confirmation. The success of a payment is handed out once. A refused payment is answered with 200, `success: false`, the reason of x402, and `error`. A failure is reported only if no money moved and none will. If the outcome is unknown, the answer is 202 without JSON: repeat the call. `POST /v1/x402/settle`. Errors: unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    x402Settle(input: Input<'settlement.x402Settle'>, options?: CallOptions): Answer<'settlement.x402Settle'>;
  };
  wallet: {
    /** Link an existing wallet. A public key belongs to one account. A repeat that changes nothing returns the same wallet. `POST /v1/wallets`. Errors: conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    link(input: Input<'wallet.link'>, options?: CallOptions): Answer<'wallet.link'>;
    /** Provision a wallet for a key pair that the user’s client has generated. Links the wallet and creates its token account, which the platform pays for. The private key never reaches the service. `POST /v1/wallets/provision`. Errors: conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    provision(input: Input<'wallet.provision'>, options?: CallOptions): Answer<'wallet.provision'>;
    /** List wallets with balance and delegation `GET /v1/wallets`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    list(input?: Input<'wallet.list'>, options?: CallOptions): Listing<'wallet.list'>;
    /** Get the backup of a provisioned wallet. Returns the stored ciphertext. `GET /v1/wallets/:wallet_id/backup`. Errors: not_found, unauthorized, forbidden, reauthentication_required, validation_error, rate_limited, internal_error, service_unavailable. */
    backup(input: Input<'wallet.backup'>, options?: CallOptions): Answer<'wallet.backup'>;
    /** Replace the backup of a provisioned wallet. For a backup that further devices can open. The proof shows that the caller holds the key. A repeat returns the same answer. `PATCH /v1/wallets/:wallet_id/backup`. Errors: not_found, conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    replaceBackup(input: Input<'wallet.replaceBackup'>, options?: CallOptions): Answer<'wallet.replaceBackup'>;
    /** Prepare the transaction that lets the platform spend up to a spending limit `POST /v1/wallets/:wallet_id/onboarding`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    onboarding(input: Input<'wallet.onboarding'>, options?: CallOptions): Answer<'wallet.onboarding'>;
    /** Submit the signed delegation, or prepare it again `POST /v1/wallets/:wallet_id/delegate`. Errors: not_found, conflict, insufficient_funds, delegation_inactive, payment_failed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    delegate(input: Input<'wallet.delegate'>, options?: CallOptions): Answer<'wallet.delegate'>;
    /** Prepare or submit the transaction that ends the delegation `POST /v1/wallets/:wallet_id/revoke`. Errors: not_found, conflict, insufficient_funds, delegation_inactive, payment_failed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    revoke(input: Input<'wallet.revoke'>, options?: CallOptions): Answer<'wallet.revoke'>;
    /** List transactions. Lists the account’s transfers on chain: payments made and received, deposits, withdrawals, refunds. A transfer that a fork has finally undone remains in the list as reversed. A delegate key lists its own payments and their refunds. Attempts that are under way or have failed are listed with their own objects, for instance by GET /v1/settlements. `GET /v1/transactions`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listTransactions(input?: Input<'wallet.listTransactions'>, options?: CallOptions): Listing<'wallet.listTransactions'>;
    /** Summarize spending. Sums the payments made from `from` up to `to`: at most 366 days, by default the last 30 UTC days including today. Payments that were reversed on chain are not counted. `GET /v1/spending/summary`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    spendingSummary(input?: Input<'wallet.spendingSummary'>, options?: CallOptions): Answer<'wallet.spendingSummary'>;
    /** Summarize sales. Sums the payments received from `from` up to `to`: at most 366 days, by default the last 30 UTC days including today. Payments that were reversed on chain are not counted. A service key sums the sales of its service. `GET /v1/sales/summary`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    salesSummary(input?: Input<'wallet.salesSummary'>, options?: CallOptions): Answer<'wallet.salesSummary'>;
  };
  funding: {
    /** Put test USDC into a wallet. Test environment only. At most 10,000 USDC per call. `POST /v1/dev/fund`. Errors: not_found, conflict, payment_failed, unauthorized, forbidden, idempotency_mismatch, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    devFund(input: Input<'funding.devFund'>, options?: CallOptions): Answer<'funding.devFund'>;
    /** Buy USDC with money from a bank or card. Opens a payment at MoonPay or Coinbase Onramp. The provider sends the USDC directly to the wallet. Send the customer’s browser to `redirect_url`. The deposit completes when the transfer is finalized on chain. `POST /v1/deposits/fiat`. Errors: not_found, conflict, unauthorized, forbidden, idempotency_mismatch, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createDeposit(input: Input<'funding.createDeposit'>, options?: CallOptions): Answer<'funding.createDeposit'>;
    /** List deposits `GET /v1/deposits`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listDeposits(input?: Input<'funding.listDeposits'>, options?: CallOptions): Listing<'funding.listDeposits'>;
    /** Get a deposit `GET /v1/deposits/:deposit_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getDeposit(input: Input<'funding.getDeposit'>, options?: CallOptions): Answer<'funding.getDeposit'>;
    /** Prepare a withdrawal from a wallet. The destination is a wallet or a token account of the mint. No money moves until the withdrawal is approved: sign the transaction and submit it to `approve` within 15 minutes. `POST /v1/withdrawals`. Errors: not_found, conflict, insufficient_funds, unauthorized, forbidden, idempotency_mismatch, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createWithdrawal(input: Input<'funding.createWithdrawal'>, options?: CallOptions): Answer<'funding.createWithdrawal'>;
    /** Submit the signed withdrawal, or prepare it again. A repeat with the same transaction returns the same result. `POST /v1/withdrawals/:withdrawal_id/approve`. Errors: not_found, conflict, insufficient_funds, payment_failed, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    approveWithdrawal(input: Input<'funding.approveWithdrawal'>, options?: CallOptions): Answer<'funding.approveWithdrawal'>;
    /** Cancel a withdrawal that was not submitted. Final. None of its transactions can be submitted any more. `POST /v1/withdrawals/:withdrawal_id/cancel`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    cancelWithdrawal(input: Input<'funding.cancelWithdrawal'>, options?: CallOptions): Answer<'funding.cancelWithdrawal'>;
    /** List withdrawals `GET /v1/withdrawals`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listWithdrawals(input?: Input<'funding.listWithdrawals'>, options?: CallOptions): Listing<'funding.listWithdrawals'>;
    /** Get a withdrawal `GET /v1/withdrawals/:withdrawal_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getWithdrawal(input: Input<'funding.getWithdrawal'>, options?: CallOptions): Answer<'funding.getWithdrawal'>;
    /** Prepare a refund of a settlement. Refunds the net amount or a part of it. Several refunds are possible until the net amount is used up. The fee is not returned. No money moves until the key of the payout address has signed the transaction and it is submitted, within 24 hours. A service key needs no recent sign-in. `POST /v1/refunds`. Errors: not_found, conflict, insufficient_funds, unauthorized, forbidden, idempotency_mismatch, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createRefund(input: Input<'funding.createRefund'>, options?: CallOptions): Answer<'funding.createRefund'>;
    /** Submit the signed refund, or prepare it again. A repeat with the same transaction returns the same result. `POST /v1/refunds/:refund_id/submit`. Errors: not_found, conflict, insufficient_funds, payment_failed, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    submitRefund(input: Input<'funding.submitRefund'>, options?: CallOptions): Answer<'funding.submitRefund'>;
    /** Cancel a refund that was not submitted. Final. The reserved part of the settlement is released. `POST /v1/refunds/:refund_id/cancel`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    cancelRefund(input: Input<'funding.cancelRefund'>, options?: CallOptions): Answer<'funding.cancelRefund'>;
    /** List refunds. A service key lists the refunds of its service. An access token lists the refunds that the account makes and receives, or with `role` one of both. `GET /v1/refunds`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listRefunds(input?: Input<'funding.listRefunds'>, options?: CallOptions): Listing<'funding.listRefunds'>;
    /** Get a refund `GET /v1/refunds/:refund_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getRefund(input: Input<'funding.getRefund'>, options?: CallOptions): Answer<'funding.getRefund'>;
  };
  identity: {
    /** Create an account by a mailed sign-in link. The account is created when the link is used. The answer is the same for known and unknown addresses. `POST /v1/accounts`. Errors: payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createAccount(input: Input<'identity.createAccount'>, options?: CallOptions): Answer<'identity.createAccount'>;
    /** Mail a sign-in link `POST /v1/auth/magic-link`. Errors: payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    requestMagicLink(input: Input<'identity.requestMagicLink'>, options?: CallOptions): Answer<'identity.requestMagicLink'>;
    /** Get the address of a sign-in link without using it. For the page that a link opens, which shows the address before the person signs in. same_browser is false if the link was requested by another browser or by no page. `POST /v1/auth/magic-link/read`. Errors: unauthorized, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    readMagicLink(input: Input<'identity.readMagicLink'>, options?: CallOptions): Answer<'identity.readMagicLink'>;
    /** Follow this browser’s sign-in link. For the page that waits for a sign-in. It reads the newest link that was requested with the browser’s cookie. Other clients get none. `POST /v1/auth/magic-link/follow`. Errors: payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    followMagicLink(input?: Input<'identity.followMagicLink'>, options?: CallOptions): Answer<'identity.followMagicLink'>;
    /** Use a sign-in link. A link is valid for 15 minutes, once. The newest three links of an address work until one is used. The first sign-in creates the account. With refresh_in: cookie, a link that was requested by another browser or by no page needs the email that the person has confirmed. Without it the answer is conflict, and the link remains valid. `POST /v1/auth/magic-link/verify`. Errors: unauthorized, conflict, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    verifyMagicLink(input: Input<'identity.verifyMagicLink'>, options?: CallOptions): Answer<'identity.verifyMagicLink'>;
    /** Begin to register a passkey. The answer is the argument of navigator.credentials.create, in its JSON form. Valid for 5 minutes. `POST /v1/auth/passkey/register/options`. Errors: conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    passkeyRegisterOptions(input?: Input<'identity.passkeyRegisterOptions'>, options?: CallOptions): Answer<'identity.passkeyRegisterOptions'>;
    /** Register a passkey. An account may have several passkeys. The owner is notified by mail. `POST /v1/auth/passkey/register/verify`. Errors: conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    passkeyRegisterVerify(input: Input<'identity.passkeyRegisterVerify'>, options?: CallOptions): Answer<'identity.passkeyRegisterVerify'>;
    /** Begin to sign in with a passkey. The answer is the argument of navigator.credentials.get, in its JSON form. Valid for 5 minutes. `POST /v1/auth/passkey/login/options`. Errors: payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    passkeyLoginOptions(input?: Input<'identity.passkeyLoginOptions'>, options?: CallOptions): Answer<'identity.passkeyLoginOptions'>;
    /** Sign in with a passkey `POST /v1/auth/passkey/login/verify`. Errors: unauthorized, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    passkeyLoginVerify(input: Input<'identity.passkeyLoginVerify'>, options?: CallOptions): Answer<'identity.passkeyLoginVerify'>;
    /** Exchange a refresh token for a new pair. A refresh token is rotated at every use. Reuse of an old token ends the sign-in. Without refresh_token, the token of the cookie is used, and the next one is set in the cookie. `POST /v1/auth/refresh`. Errors: unauthorized, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    refresh(input?: Input<'identity.refresh'>, options?: CallOptions): Answer<'identity.refresh'>;
    /** End this sign-in immediately `POST /v1/auth/logout`. Errors: unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    logout(input?: Input<'identity.logout'>, options?: CallOptions): Answer<'identity.logout'>;
    /** Begin to sign in a device. Show the person `user_code` and `verification_uri`, and poll `POST /v1/auth/device/token` every `interval` seconds. As RFC 8628 specifies it, in JSON. `POST /v1/auth/device`. Errors: payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    startDeviceSignIn(input: Input<'identity.startDeviceSignIn'>, options?: CallOptions): Answer<'identity.startDeviceSignIn'>;
    /** Get the session of a device that a person has confirmed. 202 while nobody has decided. rate_limited is slow_down of RFC 8628: poll again after Retry-After, and less often from then on. forbidden: the person has denied it, or the account is frozen. unauthorized: the code is unknown, has expired or was used. `POST /v1/auth/device/token`. Errors: unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    pollDeviceSignIn(input: Input<'identity.pollDeviceSignIn'>, options?: CallOptions): Answer<'identity.pollDeviceSignIn'>;
    /** Get what a device asks for, by the code that it shows `POST /v1/auth/device/read`. Errors: not_found, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    readDeviceSignIn(input: Input<'identity.readDeviceSignIn'>, options?: CallOptions): Answer<'identity.readDeviceSignIn'>;
    /** Allow or deny the sign-in of a device. An allowed device gets a sign-in of this account, which GET /v1/accounts/me/sessions lists. The first decision stands: another one is conflict. The device reads, pays within the limits of the account, and creates delegates with limits, which end with its sign-in. `POST /v1/auth/device/decide`. Errors: not_found, conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    decideDeviceSignIn(input: Input<'identity.decideDeviceSignIn'>, options?: CallOptions): Answer<'identity.decideDeviceSignIn'>;
    /** Begin to approve a payment with a passkey. The answer is the argument of navigator.credentials.get, in its JSON form. The challenge is a hash of the quote, the amount and the payee, so the signature approves nothing else. Valid for 5 minutes. `POST /v1/approvals/:approval_id/options`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    approvalOptions(input: Input<'identity.approvalOptions'>, options?: CallOptions): Answer<'identity.approvalOptions'>;
    /** Approve a payment with a passkey. The payment is made when the delegate repeats its attempt. The limits are evaluated then. `POST /v1/approvals/:approval_id/approve`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    approve(input: Input<'identity.approve'>, options?: CallOptions): Answer<'identity.approve'>;
    /** Get the account of this sign-in `GET /v1/accounts/me`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getAccount(input?: Input<'identity.getAccount'>, options?: CallOptions): Answer<'identity.getAccount'>;
    /** Close the account of this sign-in. Refused with `conflict` while something is open; `details` names each part. Otherwise every sign-in, passkey, service, delegate, key, webhook endpoint and linked wallet of the account ends at once.

Money in a linked wallet is its owner’s on the chain and stays there. A wallet that was created here must be empty, because its backup is erased.

At `erase_at` the personal data are erased. Payments are kept under the id of the account. The address can open a new account at once. Export the data first: `quittance account export`. `POST /v1/accounts/me/close`. Errors: conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    closeAccount(input?: Input<'identity.closeAccount'>, options?: CallOptions): Answer<'identity.closeAccount'>;
    /** Get the account’s settings `GET /v1/accounts/me/settings`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getSettings(input?: Input<'identity.getSettings'>, options?: CallOptions): Answer<'identity.getSettings'>;
    /** Change some of the account’s settings. Omitted fields are unchanged. When the mails about keys are turned off, a last mail reports it. `PATCH /v1/accounts/me/settings`. Errors: unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    updateSettings(input?: Input<'identity.updateSettings'>, options?: CallOptions): Answer<'identity.updateSettings'>;
    /** List the account’s passkeys `GET /v1/accounts/me/passkeys`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listPasskeys(input?: Input<'identity.listPasskeys'>, options?: CallOptions): Listing<'identity.listPasskeys'>;
    /** Remove a passkey, which can then no longer sign in `DELETE /v1/accounts/me/passkeys/:passkey_id`. Errors: not_found, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    deletePasskey(input: Input<'identity.deletePasskey'>, options?: CallOptions): Answer<'identity.deletePasskey'>;
    /** List the keys of the account that can be used. The keys of all its services and delegates. Only the beginning of a key is stored beside its hash, so that you recognise it. `GET /v1/keys`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listKeys(input?: Input<'identity.listKeys'>, options?: CallOptions): Listing<'identity.listKeys'>;
    /** List the account’s open sign-ins, with the delegates that devices made. A sign-in of a device that has ended, by itself or by its program, is listed while a delegate that it made works. DELETE of it ends them. `GET /v1/accounts/me/sessions`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listSessions(input?: Input<'identity.listSessions'>, options?: CallOptions): Listing<'identity.listSessions'>;
    /** End a sign-in immediately, on every device that uses it. The delegates that a device made with it are deleted, and their keys are revoked. This is so for a sign-in that has ended before, too. `DELETE /v1/accounts/me/sessions/:session_id`. Errors: not_found, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    deleteSession(input: Input<'identity.deleteSession'>, options?: CallOptions): Answer<'identity.deleteSession'>;
    /** List the security events of the account. Sign-ins, and changes of passkeys, keys and payout addresses, for 90 days. Revoke what you do not recognise. `GET /v1/accounts/me/security-events`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listSecurityEvents(input?: Input<'identity.listSecurityEvents'>, options?: CallOptions): Listing<'identity.listSecurityEvents'>;
    /** Note an export of the account’s data, for its owner. Call it before you read lists to keep them elsewhere, as `quittance account export` and the console do. The owner sees it in the security events, and is mailed about an export of the whole account. It reads nothing. `POST /v1/accounts/me/exports`. Errors: unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    noteExport(input: Input<'identity.noteExport'>, options?: CallOptions): Answer<'identity.noteExport'>;
    /** Create a vendor service and its API key. The api_key is shown only in this answer. `POST /v1/services`. Errors: unauthorized, forbidden, conflict, idempotency_mismatch, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createService(input: Input<'identity.createService'>, options?: CallOptions): Answer<'identity.createService'>;
    /** List vendor services `GET /v1/services`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listServices(input?: Input<'identity.listServices'>, options?: CallOptions): Listing<'identity.listServices'>;
    /** Get a vendor service `GET /v1/services/:service_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getService(input: Input<'identity.getService'>, options?: CallOptions): Answer<'identity.getService'>;
    /** Show the fee of a price and what you receive. Without a service, so that a form can show it before the price is saved. A price whose `net_amount` is 0 cannot be the price of a service. `GET /v1/services/fee`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    showFee(input: Input<'identity.showFee'>, options?: CallOptions): Answer<'identity.showFee'>;
    /** Change a vendor service. The owner is notified of a new payout address, and of other `allowed_ips`, by mail. In live a new payout address takes effect after 24 hours. Until then, setting the current address again cancels the change. A change of `allowed_ips` applies within a second. `PATCH /v1/services/:service_id`. Errors: not_found, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    updateService(input: Input<'identity.updateService'>, options?: CallOptions): Answer<'identity.updateService'>;
    /** Check a service domain. Reads the TXT record that `domain.record` of the service names. It is also looked for every few hours: a proof that is gone is shown no more, and one that cannot be read is shown for 72 hours after it was last seen. `POST /v1/services/:service_id/domain/check`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    checkServiceDomain(input: Input<'identity.checkServiceDomain'>, options?: CallOptions): Answer<'identity.checkServiceDomain'>;
    /** Delete a vendor service, or close it while payments are open. Refused while quotes or settlements are open, unless `mode` is `close`. A closing service creates no new quotes. Redeem, verify, consume and refunds work until 30 days after the last redeem window. `DELETE /v1/services/:service_id`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    deleteService(input: Input<'identity.deleteService'>, options?: CallOptions): Answer<'identity.deleteService'>;
    /** Rotate the key. Called with the current key, or with the owner’s sign-in of the last 5 minutes. Only the owner may set `revoke_previous`. At most two keys are valid: a further rotation revokes the older one. `POST /v1/services/:service_id/key/rotate`. Errors: not_found, unauthorized, forbidden, conflict, idempotency_mismatch, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    rotateServiceKey(input: Input<'identity.rotateServiceKey'>, options?: CallOptions): Answer<'identity.rotateServiceKey'>;
    /** Mail a link that replaces the key. Only hashes of keys are stored, so the link creates a replacement key. The link is valid for 15 minutes, once, and only the newest link works. `POST /v1/services/:service_id/key/reveal`. Errors: not_found, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    revealServiceKey(input: Input<'identity.revealServiceKey'>, options?: CallOptions): Answer<'identity.revealServiceKey'>;
    /** Use the mailed link to get a replacement key, once `POST /v1/services/:service_id/key/reveal/verify`. Errors: unauthorized, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    verifyServiceReveal(input: Input<'identity.verifyServiceReveal'>, options?: CallOptions): Answer<'identity.verifyServiceReveal'>;
    /** Create a delegate and its key. The api_key is shown only in this answer. `POST /v1/delegates`. Errors: not_found, unauthorized, forbidden, conflict, idempotency_mismatch, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createDelegate(input: Input<'identity.createDelegate'>, options?: CallOptions): Answer<'identity.createDelegate'>;
    /** List delegates `GET /v1/delegates`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listDelegates(input?: Input<'identity.listDelegates'>, options?: CallOptions): Listing<'identity.listDelegates'>;
    /** Get the delegate of this key, with its limits and what is spent, held and remaining `GET /v1/delegates/me`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getOwnDelegate(input?: Input<'identity.getOwnDelegate'>, options?: CallOptions): Answer<'identity.getOwnDelegate'>;
    /** Get a delegate `GET /v1/delegates/:delegate_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getDelegate(input: Input<'identity.getDelegate'>, options?: CallOptions): Answer<'identity.getDelegate'>;
    /** Change a delegate. Null removes a limit. A limit that is lowered below what is held and spent makes `remaining` 0. It never undoes a payment. `PATCH /v1/delegates/:delegate_id`. Errors: not_found, conflict, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    updateDelegate(input: Input<'identity.updateDelegate'>, options?: CallOptions): Answer<'identity.updateDelegate'>;
    /** Delete a delegate and revoke its keys immediately. Its past payments remain. A payment that was accepted before is still carried out. Its authorizations are closed: what was used of them is paid. `DELETE /v1/delegates/:delegate_id`. Errors: not_found, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    deleteDelegate(input: Input<'identity.deleteDelegate'>, options?: CallOptions): Answer<'identity.deleteDelegate'>;
    /** Rotate the key. Called with the current key, or with the owner’s sign-in of the last 5 minutes. Only the owner may set `revoke_previous`. At most two keys are valid: a further rotation revokes the older one. `POST /v1/delegates/:delegate_id/key/rotate`. Errors: not_found, unauthorized, forbidden, conflict, idempotency_mismatch, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    rotateDelegateKey(input: Input<'identity.rotateDelegateKey'>, options?: CallOptions): Answer<'identity.rotateDelegateKey'>;
    /** Mail a link that replaces the key. Only hashes of keys are stored, so the link creates a replacement key. The link is valid for 15 minutes, once, and only the newest link works. `POST /v1/delegates/:delegate_id/key/reveal`. Errors: not_found, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    revealDelegateKey(input: Input<'identity.revealDelegateKey'>, options?: CallOptions): Answer<'identity.revealDelegateKey'>;
    /** Use the mailed link to get a replacement key, once `POST /v1/delegates/:delegate_id/key/reveal/verify`. Errors: unauthorized, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    verifyDelegateReveal(input: Input<'identity.verifyDelegateReveal'>, options?: CallOptions): Answer<'identity.verifyDelegateReveal'>;
  };
  webhook: {
    /** Create a webhook endpoint. Events are POSTed to it as JSON `{ id, type, timestamp, data }`, signed as Standard Webhooks specify (webhook-id, webhook-timestamp, webhook-signature); `id` is the event_id, which identifies a repeat. A 2xx answer within 15 s acknowledges the event. Otherwise delivery is attempted 8 times over three days. Delivery is at least once, in no guaranteed order. An account has at most 10 endpoints. `POST /v1/webhook-endpoints`. Errors: conflict, unauthorized, forbidden, idempotency_mismatch, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    createEndpoint(input: Input<'webhook.createEndpoint'>, options?: CallOptions): Answer<'webhook.createEndpoint'>;
    /** List webhook endpoints `GET /v1/webhook-endpoints`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listEndpoints(input?: Input<'webhook.listEndpoints'>, options?: CallOptions): Listing<'webhook.listEndpoints'>;
    /** Get a webhook endpoint `GET /v1/webhook-endpoints/:endpoint_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getEndpoint(input: Input<'webhook.getEndpoint'>, options?: CallOptions): Answer<'webhook.getEndpoint'>;
    /** Change a webhook endpoint. An endpoint that is enabled again gets the pending deliveries. Use redeliver for events of the time while it was disabled. `PATCH /v1/webhook-endpoints/:endpoint_id`. Errors: not_found, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    updateEndpoint(input: Input<'webhook.updateEndpoint'>, options?: CallOptions): Answer<'webhook.updateEndpoint'>;
    /** Delete a webhook endpoint with its log `DELETE /v1/webhook-endpoints/:endpoint_id`. Errors: not_found, unauthorized, forbidden, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    deleteEndpoint(input: Input<'webhook.deleteEndpoint'>, options?: CallOptions): Answer<'webhook.deleteEndpoint'>;
    /** Rotate the secret of a webhook endpoint. For 24 hours deliveries are signed with both secrets, then only with the new one. A further rotation revokes the older one. `POST /v1/webhook-endpoints/:endpoint_id/secret/rotate`. Errors: not_found, unauthorized, forbidden, conflict, idempotency_mismatch, reauthentication_required, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    rotateEndpointSecret(input: Input<'webhook.rotateEndpointSecret'>, options?: CallOptions): Answer<'webhook.rotateEndpointSecret'>;
    /** List the deliveries to a webhook endpoint `GET /v1/webhook-endpoints/:endpoint_id/deliveries`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listDeliveries(input: Input<'webhook.listDeliveries'>, options?: CallOptions): Listing<'webhook.listDeliveries'>;
    /** Deliver one event, or all events since a time, again. Name event_id or since. With since: the events of the endpoint’s event types, including those that it never received, at most 10000, the oldest first. `POST /v1/webhook-endpoints/:endpoint_id/redeliver`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    redeliver(input: Input<'webhook.redeliver'>, options?: CallOptions): Answer<'webhook.redeliver'>;
    /** Send a test event to a webhook endpoint `POST /v1/webhook-endpoints/:endpoint_id/test`. Errors: not_found, conflict, unauthorized, forbidden, payload_too_large, unsupported_media_type, validation_error, rate_limited, internal_error, service_unavailable. */
    testEndpoint(input: Input<'webhook.testEndpoint'>, options?: CallOptions): Answer<'webhook.testEndpoint'>;
    /** List events, as an alternative to webhooks. Newest first. Events are stored for 30 days. `GET /v1/events`. Errors: unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    listEvents(input?: Input<'webhook.listEvents'>, options?: CallOptions): Listing<'webhook.listEvents'>;
    /** Get an event `GET /v1/events/:event_id`. Errors: not_found, unauthorized, forbidden, validation_error, rate_limited, internal_error, service_unavailable. */
    getEvent(input: Input<'webhook.getEvent'>, options?: CallOptions): Answer<'webhook.getEvent'>;
  };
}

export const OPERATIONS = {
  gateway: {
    health: {"method":"GET","path":"/v1/health","anonymous":true},
    ready: {"method":"GET","path":"/v1/health/ready","anonymous":true},
    environments: {"method":"GET","path":"/v1/environments","anonymous":true},
    requests: {"method":"GET","path":"/v1/requests","query":["cursor","limit","refused"],"list":true},
    jwks: {"method":"GET","path":"/.well-known/jwks.json","query":["environment","all"],"anonymous":true},
  },
  quote: {
    create: {"method":"POST","path":"/v1/quote","body":true,"keyed":true},
    list: {"method":"GET","path":"/v1/quotes","query":["cursor","limit","service_id","status"],"list":true},
    get: {"method":"GET","path":"/v1/quotes/:quote_id"},
    createPaymentLink: {"method":"POST","path":"/v1/payment-links","body":true,"keyed":true},
    listPaymentLinks: {"method":"GET","path":"/v1/payment-links","query":["cursor","limit","service_id"],"list":true},
    getPaymentLink: {"method":"GET","path":"/v1/payment-links/:payment_link_id"},
    deactivatePaymentLink: {"method":"POST","path":"/v1/payment-links/:payment_link_id/deactivate","repeatable":true},
    openPaymentLink: {"method":"POST","path":"/v1/payment-links/:payment_link_id/quote","body":true,"anonymous":true,"repeatable":true},
    describePhonePayment: {"method":"GET","path":"/v1/payment-links/:payment_link_id/solana-pay/:environment/:handle","anonymous":true},
    requestPhonePayment: {"method":"POST","path":"/v1/payment-links/:payment_link_id/solana-pay/:environment/:handle","body":true,"anonymous":true,"repeatable":true,"timeoutSeconds":20},
  },
  settlement: {
    settle: {"method":"POST","path":"/v1/settle","body":true,"repeatable":true,"moves":true,"timeoutSeconds":20},
    redeem: {"method":"POST","path":"/v1/settlements/:settlement_id/redeem","body":true,"repeatable":"redeem_id"},
    consume: {"method":"POST","path":"/v1/settlements/:settlement_id/consume","body":true},
    verify: {"method":"POST","path":"/v1/settlements/:settlement_id/verify","repeatable":true},
    list: {"method":"GET","path":"/v1/settlements","query":["cursor","limit","status","rail","service_id","payment_attempt_id","role"],"list":true},
    get: {"method":"GET","path":"/v1/settlements/:settlement_id"},
    usage: {"method":"POST","path":"/v1/settlements/:settlement_id/usage","body":true,"repeatable":true},
    capture: {"method":"POST","path":"/v1/settlements/:settlement_id/capture","body":true,"repeatable":true,"moves":true,"timeoutSeconds":20},
    void: {"method":"POST","path":"/v1/settlements/:settlement_id/void","body":true,"repeatable":true},
    close: {"method":"POST","path":"/v1/settlements/:settlement_id/close","repeatable":true},
    listApprovals: {"method":"GET","path":"/v1/approvals","query":["cursor","limit","status"],"list":true},
    getApproval: {"method":"GET","path":"/v1/approvals/:approval_id"},
    denyApproval: {"method":"POST","path":"/v1/approvals/:approval_id/deny","repeatable":true},
    listDeclines: {"method":"GET","path":"/v1/declines","query":["cursor","limit","quote_id","service_id","delegate_id","code","role"],"list":true},
    payExternal: {"method":"POST","path":"/v1/payments","body":true,"repeatable":true,"moves":true,"timeoutSeconds":20},
    reportExternal: {"method":"POST","path":"/v1/payments/:settlement_id/report","body":true,"repeatable":true,"timeoutSeconds":10},
    getFees: {"method":"GET","path":"/v1/accounts/me/fees"},
    createFeeQuote: {"method":"POST","path":"/v1/accounts/me/fee-quote","repeatable":true},
    getAccountLimits: {"method":"GET","path":"/v1/accounts/me/limits"},
    updateAccountLimits: {"method":"PATCH","path":"/v1/accounts/me/limits","body":true},
    getBlockhash: {"method":"GET","path":"/v1/blockhash","query":["environment"],"anonymous":true},
    foreignTerms: {"method":"GET","path":"/v1/settlements/foreign/terms"},
    acceptForeign: {"method":"POST","path":"/v1/settlements/foreign","body":true,"repeatable":true,"moves":true,"timeoutSeconds":10},
    reissueForeign: {"method":"POST","path":"/v1/settlements/:settlement_id/reissue","body":true,"repeatable":"redeem_id"},
    payLink: {"method":"POST","path":"/v1/payment-links/payments","body":true,"anonymous":true,"repeatable":true,"moves":true,"timeoutSeconds":10},
    followPhonePayment: {"method":"POST","path":"/v1/payment-links/phone-payments","body":true,"anonymous":true,"repeatable":true},
    getReceipt: {"method":"GET","path":"/v1/settlements/:settlement_id/receipt"},
    x402Supported: {"method":"GET","path":"/v1/x402/supported"},
    x402Verify: {"method":"POST","path":"/v1/x402/verify","body":true,"repeatable":true,"timeoutSeconds":10},
    x402Settle: {"method":"POST","path":"/v1/x402/settle","body":true,"repeatable":true,"moves":true,"timeoutSeconds":10},
  },
  wallet: {
    link: {"method":"POST","path":"/v1/wallets","body":true},
    provision: {"method":"POST","path":"/v1/wallets/provision","body":true,"timeoutSeconds":20},
    list: {"method":"GET","path":"/v1/wallets","query":["cursor","limit"],"list":true},
    backup: {"method":"GET","path":"/v1/wallets/:wallet_id/backup"},
    replaceBackup: {"method":"PATCH","path":"/v1/wallets/:wallet_id/backup","body":true},
    onboarding: {"method":"POST","path":"/v1/wallets/:wallet_id/onboarding","body":true},
    delegate: {"method":"POST","path":"/v1/wallets/:wallet_id/delegate","body":true,"timeoutSeconds":29},
    revoke: {"method":"POST","path":"/v1/wallets/:wallet_id/revoke","body":true,"timeoutSeconds":29},
    listTransactions: {"method":"GET","path":"/v1/transactions","query":["cursor","limit","type","direction","status","service_id","delegate_id","object_id","tx_hash","from","to"],"list":true},
    spendingSummary: {"method":"GET","path":"/v1/spending/summary","query":["from","to","group_by"]},
    salesSummary: {"method":"GET","path":"/v1/sales/summary","query":["from","to","group_by"]},
  },
  funding: {
    devFund: {"method":"POST","path":"/v1/dev/fund","body":true,"keyed":true,"timeoutSeconds":20},
    createDeposit: {"method":"POST","path":"/v1/deposits/fiat","body":true,"keyed":true,"timeoutSeconds":15},
    listDeposits: {"method":"GET","path":"/v1/deposits","query":["cursor","limit","status","wallet_id"],"list":true},
    getDeposit: {"method":"GET","path":"/v1/deposits/:deposit_id"},
    createWithdrawal: {"method":"POST","path":"/v1/withdrawals","body":true,"keyed":true},
    approveWithdrawal: {"method":"POST","path":"/v1/withdrawals/:withdrawal_id/approve","body":true,"moves":true,"timeoutSeconds":29},
    cancelWithdrawal: {"method":"POST","path":"/v1/withdrawals/:withdrawal_id/cancel"},
    listWithdrawals: {"method":"GET","path":"/v1/withdrawals","query":["cursor","limit","wallet_id","status"],"list":true},
    getWithdrawal: {"method":"GET","path":"/v1/withdrawals/:withdrawal_id"},
    createRefund: {"method":"POST","path":"/v1/refunds","body":true,"keyed":true,"timeoutSeconds":10},
    submitRefund: {"method":"POST","path":"/v1/refunds/:refund_id/submit","body":true,"moves":true,"timeoutSeconds":29},
    cancelRefund: {"method":"POST","path":"/v1/refunds/:refund_id/cancel"},
    listRefunds: {"method":"GET","path":"/v1/refunds","query":["cursor","limit","settlement_id","status","role"],"list":true},
    getRefund: {"method":"GET","path":"/v1/refunds/:refund_id"},
  },
  identity: {
    createAccount: {"method":"POST","path":"/v1/accounts","body":true,"anonymous":true},
    requestMagicLink: {"method":"POST","path":"/v1/auth/magic-link","body":true,"anonymous":true},
    readMagicLink: {"method":"POST","path":"/v1/auth/magic-link/read","body":true,"anonymous":true,"repeatable":true},
    followMagicLink: {"method":"POST","path":"/v1/auth/magic-link/follow","body":true,"anonymous":true,"repeatable":true},
    verifyMagicLink: {"method":"POST","path":"/v1/auth/magic-link/verify","body":true,"anonymous":true},
    passkeyRegisterOptions: {"method":"POST","path":"/v1/auth/passkey/register/options","body":true},
    passkeyRegisterVerify: {"method":"POST","path":"/v1/auth/passkey/register/verify","body":true},
    passkeyLoginOptions: {"method":"POST","path":"/v1/auth/passkey/login/options","body":true,"anonymous":true},
    passkeyLoginVerify: {"method":"POST","path":"/v1/auth/passkey/login/verify","body":true,"anonymous":true},
    refresh: {"method":"POST","path":"/v1/auth/refresh","body":true,"anonymous":true},
    logout: {"method":"POST","path":"/v1/auth/logout","body":true},
    startDeviceSignIn: {"method":"POST","path":"/v1/auth/device","body":true,"anonymous":true},
    pollDeviceSignIn: {"method":"POST","path":"/v1/auth/device/token","body":true,"anonymous":true},
    readDeviceSignIn: {"method":"POST","path":"/v1/auth/device/read","body":true,"repeatable":true},
    decideDeviceSignIn: {"method":"POST","path":"/v1/auth/device/decide","body":true,"repeatable":true},
    approvalOptions: {"method":"POST","path":"/v1/approvals/:approval_id/options","repeatable":true},
    approve: {"method":"POST","path":"/v1/approvals/:approval_id/approve","body":true,"repeatable":true},
    getAccount: {"method":"GET","path":"/v1/accounts/me"},
    closeAccount: {"method":"POST","path":"/v1/accounts/me/close"},
    getSettings: {"method":"GET","path":"/v1/accounts/me/settings"},
    updateSettings: {"method":"PATCH","path":"/v1/accounts/me/settings","body":true},
    listPasskeys: {"method":"GET","path":"/v1/accounts/me/passkeys","query":["cursor","limit"],"list":true},
    deletePasskey: {"method":"DELETE","path":"/v1/accounts/me/passkeys/:passkey_id"},
    listKeys: {"method":"GET","path":"/v1/keys","query":["cursor","limit"],"list":true},
    listSessions: {"method":"GET","path":"/v1/accounts/me/sessions","query":["cursor","limit"],"list":true},
    deleteSession: {"method":"DELETE","path":"/v1/accounts/me/sessions/:session_id"},
    listSecurityEvents: {"method":"GET","path":"/v1/accounts/me/security-events","query":["cursor","limit"],"list":true},
    noteExport: {"method":"POST","path":"/v1/accounts/me/exports","body":true},
    createService: {"method":"POST","path":"/v1/services","body":true,"keyed":true},
    listServices: {"method":"GET","path":"/v1/services","query":["cursor","limit"],"list":true},
    getService: {"method":"GET","path":"/v1/services/:service_id"},
    showFee: {"method":"GET","path":"/v1/services/fee","query":["price"]},
    updateService: {"method":"PATCH","path":"/v1/services/:service_id","body":true},
    checkServiceDomain: {"method":"POST","path":"/v1/services/:service_id/domain/check"},
    deleteService: {"method":"DELETE","path":"/v1/services/:service_id","body":true},
    rotateServiceKey: {"method":"POST","path":"/v1/services/:service_id/key/rotate","body":true,"keyed":true},
    revealServiceKey: {"method":"POST","path":"/v1/services/:service_id/key/reveal","body":true},
    verifyServiceReveal: {"method":"POST","path":"/v1/services/:service_id/key/reveal/verify","body":true,"anonymous":true},
    createDelegate: {"method":"POST","path":"/v1/delegates","body":true,"keyed":true},
    listDelegates: {"method":"GET","path":"/v1/delegates","query":["cursor","limit","status"],"list":true},
    getOwnDelegate: {"method":"GET","path":"/v1/delegates/me"},
    getDelegate: {"method":"GET","path":"/v1/delegates/:delegate_id"},
    updateDelegate: {"method":"PATCH","path":"/v1/delegates/:delegate_id","body":true},
    deleteDelegate: {"method":"DELETE","path":"/v1/delegates/:delegate_id"},
    rotateDelegateKey: {"method":"POST","path":"/v1/delegates/:delegate_id/key/rotate","body":true,"keyed":true},
    revealDelegateKey: {"method":"POST","path":"/v1/delegates/:delegate_id/key/reveal","body":true},
    verifyDelegateReveal: {"method":"POST","path":"/v1/delegates/:delegate_id/key/reveal/verify","body":true,"anonymous":true},
  },
  webhook: {
    createEndpoint: {"method":"POST","path":"/v1/webhook-endpoints","body":true,"keyed":true,"timeoutSeconds":10},
    listEndpoints: {"method":"GET","path":"/v1/webhook-endpoints","query":["cursor","limit"],"list":true},
    getEndpoint: {"method":"GET","path":"/v1/webhook-endpoints/:endpoint_id"},
    updateEndpoint: {"method":"PATCH","path":"/v1/webhook-endpoints/:endpoint_id","body":true,"timeoutSeconds":10},
    deleteEndpoint: {"method":"DELETE","path":"/v1/webhook-endpoints/:endpoint_id"},
    rotateEndpointSecret: {"method":"POST","path":"/v1/webhook-endpoints/:endpoint_id/secret/rotate","keyed":true},
    listDeliveries: {"method":"GET","path":"/v1/webhook-endpoints/:endpoint_id/deliveries","query":["cursor","limit","status"],"list":true},
    redeliver: {"method":"POST","path":"/v1/webhook-endpoints/:endpoint_id/redeliver","body":true},
    testEndpoint: {"method":"POST","path":"/v1/webhook-endpoints/:endpoint_id/test"},
    listEvents: {"method":"GET","path":"/v1/events","query":["cursor","limit","type","object_id"],"list":true},
    getEvent: {"method":"GET","path":"/v1/events/:event_id"},
  },
} as const satisfies { [S in keyof Operations]: { [O in keyof Operations[S]]: OperationInfo } };

export type {
  Problem,
  Account,
  AccountId,
  AccountLimits,
  AccountSettings,
  ApiRequest,
  ApiRequestPage,
  Approval,
  ApprovalId,
  ApprovalPage,
  ApprovalStatus,
  ApprovePaymentRequest,
  Authorization,
  AuthorizedSettlement,
  Blockhash,
  CaptureFee,
  CaptureRequest,
  CaptureTerms,
  ChainStatus,
  ClosedAccount,
  ClosedAuthorization,
  CompactToken,
  ConfirmedCapture,
  ConfirmedIncomingPayment,
  ConfirmedSettlement,
  ConsumeRequest,
  Consumption,
  CreateDelegateRequest,
  CreateDepositRequest,
  CreatePaymentLinkRequest,
  CreateQuoteRequest,
  CreateRefundRequest,
  CreateServiceRequest,
  CreateWebhookEndpointRequest,
  CreateWithdrawalRequest,
  Currency,
  DecideDeviceSignInRequest,
  Decline,
  DeclineId,
  DeclineLimit,
  DeclinePage,
  DeclineReason,
  Delegate,
  DelegateChange,
  DelegateId,
  DelegateLimits,
  DelegateOutgoing,
  DelegateOutgoingRequest,
  DelegatePage,
  DelegateUsage,
  DelegateUsages,
  Delegation,
  DeleteServiceRequest,
  DeliveryAttempt,
  DeliveryStatus,
  Deposit,
  DepositChange,
  DepositId,
  DepositPage,
  DepositProblem,
  DepositStatus,
  DevFundRequest,
  DevFunding,
  DeviceSession,
  DeviceSignIn,
  DeviceSignInDecision,
  DeviceSignInDetails,
  Email,
  EndpointId,
  Environment,
  Environments,
  Event,
  EventId,
  EventPage,
  EventType,
  EventTypePattern,
  Extension,
  ExtensionId,
  Failure,
  Fees,
  FiatAmount,
  FiatCurrency,
  FollowMagicLinkRequest,
  FollowPhonePaymentRequest,
  FollowedMagicLink,
  Health,
  IdempotencyKey,
  IncomingPaymentRequest,
  IncomingTerms,
  IpBlock,
  KeyChange,
  KeyRotation,
  LinkWalletRequest,
  ListedKey,
  ListedKeyPage,
  LogoutRequest,
  MagicLink,
  MagicLinkRequest,
  MailSent,
  MicroUsdc,
  MicroUsdcOrZero,
  Moment,
  MppChallenge,
  NewDelegate,
  NewDelegateReplayed,
  NewKey,
  NewService,
  NewServiceReplayed,
  NewWebhookEndpoint,
  NewWebhookEndpointReplayed,
  NextCursor,
  NoteExportRequest,
  OnboardingRequest,
  OnrampProvider,
  OpenPaymentLinkRequest,
  OpenedPaymentLink,
  OutgoingPayment,
  OutgoingPaymentReport,
  OutgoingPaymentRequest,
  PageHandle,
  PageSecret,
  PaidPaymentLink,
  Passkey,
  PasskeyApprovalOptions,
  PasskeyAssertion,
  PasskeyDescriptor,
  PasskeyId,
  PasskeyLoginOptionsRequest,
  PasskeyLoginVerifyRequest,
  PasskeyOptions,
  PasskeyPage,
  PasskeyRegisterOptionsRequest,
  PasskeyRegisterVerifyRequest,
  PasskeyRegistration,
  PasskeyRegistrationOptions,
  PayPaymentLinkRequest,
  Payee,
  PayerPaymentChange,
  PaymentAttemptId,
  PaymentLink,
  PaymentLinkId,
  PaymentLinkPage,
  PaymentLinkPaid,
  PaymentLinkStatus,
  PendingCapture,
  PendingDeviceSignIn,
  PendingIncomingPayment,
  PendingSettlement,
  PhonePayment,
  PhonePaymentLabel,
  PhonePaymentStatus,
  PollDeviceSignInRequest,
  PreparedRefund,
  PreparedTransaction,
  PreparedWithdrawal,
  PriceFee,
  ProviderReportReceived,
  ProvisionWalletRequest,
  Quote,
  QuoteId,
  QuoteProgress,
  QuoteRecord,
  QuoteRecordPage,
  QuoteStatus,
  Rail,
  ReadDeviceSignInRequest,
  ReadMagicLinkRequest,
  Readiness,
  Receipt,
  ReceiptClaims,
  ReceiptRefund,
  RecentBlockhash,
  RecordedUsage,
  RedeemId,
  RedeemRequest,
  RedeliverRequest,
  Redelivery,
  Redemption,
  RefreshRequest,
  Refund,
  RefundId,
  RefundPage,
  RefundStatus,
  Reissue,
  ReissueRequest,
  ReplaceWalletBackupRequest,
  ReportOutgoingPaymentRequest,
  RequestId,
  RequestPhonePaymentRequest,
  RequestedPhonePayment,
  RevealKeyRequest,
  RotateKeyRequest,
  RotatedKey,
  RotatedKeyReplayed,
  RotatedWebhookSecret,
  RotatedWebhookSecretReplayed,
  SalesSummary,
  Scope,
  SecurityEvent,
  SecurityEventId,
  SecurityEventPage,
  Service,
  ServiceDomain,
  ServiceId,
  ServicePage,
  Session,
  SessionId,
  SettleRequest,
  Settlement,
  SettlementId,
  SettlementPage,
  SettlementReceipt,
  SettlementStatus,
  SettlementVerification,
  SignIn,
  SignInPage,
  SignedTransactionRequest,
  SigningKey,
  SigningKeys,
  SolanaAddress,
  SpendingSummary,
  StartDeviceSignInRequest,
  Timestamp,
  Transaction,
  TransactionHash,
  TransactionId,
  TransactionPage,
  TransactionType,
  UpdateAccountLimitsRequest,
  UpdateAccountSettingsRequest,
  UpdateDelegateRequest,
  UpdateServiceRequest,
  UpdateWebhookEndpointRequest,
  Usage,
  UsageId,
  UsageRequest,
  UserCode,
  VendorPaymentChange,
  VerifyKeyRevealRequest,
  VerifyMagicLinkRequest,
  VoidRequest,
  VoidedSettlement,
  Wallet,
  WalletBackup,
  WalletId,
  WalletPage,
  WalletProof,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookEndpoint,
  WebhookEndpointPage,
  WebhookEventApprovalDecided,
  WebhookEventApprovalRequested,
  WebhookEventDelegateCreated,
  WebhookEventDelegateDeleted,
  WebhookEventDelegateExhausted,
  WebhookEventDelegateUpdated,
  WebhookEventDepositAwaitingPayment,
  WebhookEventDepositCancelled,
  WebhookEventDepositCompleted,
  WebhookEventDepositExpired,
  WebhookEventDepositFailed,
  WebhookEventDepositProcessing,
  WebhookEventDepositSettling,
  WebhookEventKeyEnded,
  WebhookEventKeyRevealed,
  WebhookEventKeyRotated,
  WebhookEventPaymentLinkPaid,
  WebhookEventQuoteExpired,
  WebhookEventQuoteSettled,
  WebhookEventQuoteSettling,
  WebhookEventRefundCancelled,
  WebhookEventRefundConfirmed,
  WebhookEventRefundExpired,
  WebhookEventRefundFailed,
  WebhookEventRefundFinalized,
  WebhookEventRefundSubmitted,
  WebhookEventSettlementAtRisk,
  WebhookEventSettlementAuthorized,
  WebhookEventSettlementCaptured,
  WebhookEventSettlementDeclined,
  WebhookEventSettlementExpired,
  WebhookEventSettlementExtended,
  WebhookEventSettlementFailed,
  WebhookEventSettlementFinalized,
  WebhookEventSettlementIssued,
  WebhookEventSettlementRedeemed,
  WebhookEventSettlementReversed,
  WebhookEventSettlementVoided,
  WebhookEventWebhookTest,
  WebhookEventWithdrawalCancelled,
  WebhookEventWithdrawalConfirmed,
  WebhookEventWithdrawalExpired,
  WebhookEventWithdrawalFailed,
  WebhookEventWithdrawalFinalized,
  WebhookEventWithdrawalSubmitted,
  WebhookSecretRotation,
  WireTransaction,
  Withdrawal,
  WithdrawalId,
  WithdrawalPage,
  WithdrawalStatus,
  X402PaymentPayload,
  X402PaymentRequirements,
  X402Refusal,
  X402Request,
  X402Requirement,
  X402SettleResponse,
  X402Supported,
  X402VerifyResponse,
} from './types.ts';
