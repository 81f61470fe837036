// Generated from shared/contract/ by `npm run generate`; do not edit.
export interface paths {
    "/v1/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List vendor services
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.listServices"];
        put?: never;
        /**
         * Create a vendor service and its API key
         * @description The api_key is shown only in this answer.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 10 per minute per account.
         */
        post: operations["identity.createService"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a quote
         * @description A quote is a signed price: amount, currency, expiry and scope. It can be paid at most once.
         *
         *     Credential: a service key. Limit: 30 per minute per account.
         */
        post: operations["quote.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/{settlement_id}/redeem": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeem a settlement
         * @description Authorizes the delivery. It succeeds once. Deliver only if `replayed` is false or the `redeem_id` is yours.
         *
         *     Credential: a service key. Limit: 30 per minute per account.
         */
        post: operations["settlement.redeem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/{settlement_id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a settlement without consuming it
         * @description Credential: a service key. Limit: 120 per minute per account.
         */
        post: operations["settlement.verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/{settlement_id}/consume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Consume units of a prepaid settlement
         * @description For quotes whose scope has integer `units` (1 to 1e9), so that one payment covers many small calls. The first consume redeems the settlement. Units can be consumed for 30 days after it. A repeat with the same request_id consumes nothing more and returns the same answer.
         *
         *     Credential: a service key. Limit: 120 per minute per account.
         */
        post: operations["settlement.consume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quotes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List quotes
         * @description Credential: a service key or the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["quote.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quotes/{quote_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a quote
         * @description Credential: a service key or the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["quote.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{service_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a vendor service
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.getService"];
        put?: never;
        post?: never;
        /**
         * Delete a vendor service, or close it while payments are open
         * @description Refused while quotes or settlements are open, unless `mode` is `close`. A closing service creates no new quotes. Redeem, verify, consume and refunds work until 30 days after the last redeem window.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        delete: operations["identity.deleteService"];
        options?: never;
        head?: never;
        /**
         * Change a vendor service
         * @description The owner is notified of a new payout address, and of other `allowed_ips`, by mail. In live a new payout address takes effect after 24 hours. Until then, setting the current address again cancels the change. A change of `allowed_ips` applies within a second.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes, for a new payout address, or for other allowed_ips. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        patch: operations["identity.updateService"];
        trace?: never;
    };
    "/v1/services/fee": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the fee of a price and what you receive
         * @description Without a service, so that a form can show it before the price is saved. A price whose `net_amount` is 0 cannot be the price of a service.
         *
         *     Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.showFee"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{service_id}/key/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the key
         * @description Called with the current key, or with the owner’s sign-in of the last 5 minutes. Only the owner may set `revoke_previous`. At most two keys are valid: a further rotation revokes the older one.
         *
         *     Credential: a service key or the access token of a sign-in. Needs a sign-in of the last 5 minutes. With a service key it is authorised by the key that is replaced. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 3 per minute per account.
         */
        post: operations["identity.rotateServiceKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{service_id}/key/reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a link that replaces the key
         * @description Only hashes of keys are stored, so the link creates a replacement key. The link is valid for 15 minutes, once, and only the newest link works.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 5 per 5 minutes per account.
         */
        post: operations["identity.revealServiceKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{service_id}/key/reveal/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use the mailed link to get a replacement key, once
         * @description Needs no credential. Without a credential it is authorised by a link that was mailed to the owner. Limit: 30 per minute per address.
         */
        post: operations["identity.verifyServiceReveal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle a quote
         * @description Pays the quote on chain and returns the settlement token. A repeat with the same payment_attempt_id returns the same settlement and never charges twice. After a time-out, repeat with the same id. If the account has paid the quote, or is paying it, by another attempt, the call is refused with `settlement_id` and the action `read_settlement`. This holds for all credentials of the account.
         *
         *     Credential: the access token of a sign-in or a delegate key. With an access token it is authorised by the limits of the account for payments by a sign-in, or a sign-in of the last 5 minutes above them. With a delegate key it is authorised by the limits of the delegate, and the approvals that its owner requires. Limit: 20 per minute per account.
         */
        post: operations["settlement.settle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/{settlement_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a settlement
         * @description Credential: a service key or the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["settlement.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List settlements
         * @description A service key lists the settlements of its service. An access token lists the account’s payments, or with `role=vendor` the settlements of all its services. A delegate key lists its own payments.
         *
         *     Credential: a service key or the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["settlement.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/{settlement_id}/receipt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the signed receipt of a payment
         * @description Anyone can verify the receipt without an account: it is a compact JWS with EdDSA, signed by a key of `/.well-known/jwks.json?all=true` whose kid is `<env>.settlement.<n>`. Require the `typ` `quittance-receipt+jwt`, the `alg` `EdDSA`, and an `env` equal to that of the kid. The SDK does this with `verifyReceipt`. A receipt states what was known at its `iat`: get it again after a refund. It exists once the payment is confirmed; before that the call answers `conflict`.
         *
         *     Credential: a service key or the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["settlement.getReceipt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/declines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List declines
         * @description Payments of quotes that were refused, with the reason. A service key lists those of its service’s quotes. An access token lists the account’s own, or with `role=vendor` those of the quotes of all its services. A delegate key lists its own.
         *
         *     Credential: a service key or the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["settlement.listDeclines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pay a vendor of x402 that does not use Quittance
         * @description Signs the payment that a vendor’s 402 asks for, and returns the header that presents it. A repeat with the same payment_attempt_id returns the same signed payment and never pays twice. The vendor’s facilitator broadcasts it. A delegate needs `external`, and its limits apply. Send the vendor’s answer to `POST /v1/payments/:settlement_id/report`.
         *
         *     Credential: the access token of a sign-in or a delegate key. With an access token it is authorised by the limits of the account for payments by a sign-in, or a sign-in of the last 5 minutes above them. With a delegate key it is authorised by the limits of the delegate, and the approvals that its owner requires. Limit: 20 per minute per account.
         */
        post: operations["settlement.payExternal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments/{settlement_id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a vendor’s answer to an outgoing payment
         * @description A hint, so that the payment is seen sooner. The chain decides: a report of a failure releases nothing, because the vendor may still use the signed payment.
         *
         *     Credential: the access token of a sign-in or a delegate key. Limit: 60 per minute per account.
         */
        post: operations["settlement.reportExternal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/delegates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List delegates
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.listDelegates"];
        put?: never;
        /**
         * Create a delegate and its key
         * @description The api_key is shown only in this answer.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may call it only with a limit per_payment of at most 10 USDC, and a limit daily, monthly or total of at most 25 USDC, and without outgoing payments to any address. Limit: 30 per minute per account.
         */
        post: operations["identity.createDelegate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/delegates/{delegate_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delegate
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.getDelegate"];
        put?: never;
        post?: never;
        /**
         * Delete a delegate and revoke its keys immediately
         * @description Its past payments remain. A payment that was accepted before is still carried out.
         *
         *     Credential: the access token of a sign-in. Limit: 30 per minute per account.
         */
        delete: operations["identity.deleteDelegate"];
        options?: never;
        head?: never;
        /**
         * Change a delegate
         * @description Null removes a limit. A limit that is lowered below what is held and spent makes `remaining` 0. It never undoes a payment.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes, for a change that lets the key spend more, at other services, without approval, longer, or again after a pause, or at other vendors. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may call it only for what needs no recent sign-in. Limit: 30 per minute per account.
         */
        patch: operations["identity.updateDelegate"];
        trace?: never;
    };
    "/v1/delegates/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the delegate of this key, with its limits and what is spent, held and remaining
         * @description Credential: a delegate key. Limit: 120 per minute per account.
         */
        get: operations["identity.getOwnDelegate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/delegates/{delegate_id}/key/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the key
         * @description Called with the current key, or with the owner’s sign-in of the last 5 minutes. Only the owner may set `revoke_previous`. At most two keys are valid: a further rotation revokes the older one.
         *
         *     Credential: a delegate key or the access token of a sign-in. Needs a sign-in of the last 5 minutes. With a delegate key it is authorised by the key that is replaced. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 3 per minute per account.
         */
        post: operations["identity.rotateDelegateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/delegates/{delegate_id}/key/reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a link that replaces the key
         * @description Only hashes of keys are stored, so the link creates a replacement key. The link is valid for 15 minutes, once, and only the newest link works.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 5 per 5 minutes per account.
         */
        post: operations["identity.revealDelegateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/delegates/{delegate_id}/key/reveal/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use the mailed link to get a replacement key, once
         * @description Needs no credential. Without a credential it is authorised by a link that was mailed to the owner. Limit: 30 per minute per address.
         */
        post: operations["identity.verifyDelegateReveal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List approvals
         * @description A delegate key lists those of its own payments.
         *
         *     Credential: the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["settlement.listApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{approval_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an approval
         * @description Credential: the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["settlement.getApproval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{approval_id}/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to approve a payment with a passkey
         * @description The answer is the argument of navigator.credentials.get, in its JSON form. The challenge is a hash of the quote, the amount and the payee, so the signature approves nothing else. Valid for 5 minutes.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["identity.approvalOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{approval_id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a payment with a passkey
         * @description The payment is made when the delegate repeats its attempt. The limits are evaluated then.
         *
         *     Credential: the access token of a sign-in. With an access token it is authorised by a passkey. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["identity.approve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approvals/{approval_id}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deny a payment that waits for approval
         * @description A repeat, also of an approved one that is not used yet, denies it.
         *
         *     Credential: the access token of a sign-in. Limit: 30 per minute per account.
         */
        post: operations["settlement.denyApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List wallets with balance and delegation
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["wallet.list"];
        put?: never;
        /**
         * Link an existing wallet
         * @description A public key belongs to one account. A repeat that changes nothing returns the same wallet.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["wallet.link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/provision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Provision a wallet for a key pair that the user’s client has generated
         * @description Links the wallet and creates its token account, which the platform pays for. The private key never reaches the service.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 5 per minute per account.
         */
        post: operations["wallet.provision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet_id}/onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Prepare the transaction that lets the platform spend up to an allowance
         * @description Credential: the access token of a sign-in. With an access token it is authorised by the signature of the wallet whose money moves. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["wallet.onboarding"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet_id}/delegate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit the signed delegation, or prepare it again
         * @description Credential: the access token of a sign-in. With an access token it is authorised by the signature of the wallet whose money moves. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["wallet.delegate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet_id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Prepare or submit the transaction that ends the delegation
         * @description Credential: the access token of a sign-in. With an access token it is authorised by the signature of the wallet whose money moves. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["wallet.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/wallets/{wallet_id}/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the backup of a provisioned wallet
         * @description Returns the stored ciphertext.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 120 per minute per account.
         */
        get: operations["wallet.backup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Replace the backup of a provisioned wallet
         * @description For a backup that further devices can open. The proof shows that the caller holds the key. A repeat returns the same answer.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        patch: operations["wallet.replaceBackup"];
        trace?: never;
    };
    "/v1/dev/fund": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put test USDC into a wallet
         * @description Test environment only. At most 10,000 USDC per call.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["funding.devFund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List transactions
         * @description Lists the account’s transfers on chain: payments made and received, deposits, withdrawals, refunds. A transfer that a fork has finally undone remains in the list as reversed. A delegate key lists its own payments and their refunds. Attempts that are under way or have failed are listed with their own objects, for instance by GET /v1/settlements.
         *
         *     Credential: the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["wallet.listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spending/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Summarize spending
         * @description Sums the payments made from `from` up to `to`: at most 366 days, by default the last 30 UTC days including today. Payments that were reversed on chain are not counted.
         *
         *     Credential: the access token of a sign-in or a delegate key. Limit: 120 per minute per account.
         */
        get: operations["wallet.spendingSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deposits/fiat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy USDC with money from a bank or card
         * @description Opens a payment at MoonPay or Coinbase Onramp. The provider sends the USDC directly to the wallet. Send the customer’s browser to `redirect_url`. The deposit completes when the transfer is finalized on chain.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 5 per minute per account.
         */
        post: operations["funding.createDeposit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deposits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deposits
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["funding.listDeposits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deposits/{deposit_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a deposit
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["funding.getDeposit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/withdrawals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List withdrawals
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["funding.listWithdrawals"];
        put?: never;
        /**
         * Prepare a withdrawal from a wallet
         * @description The destination is a wallet or a token account of the mint. No money moves until the withdrawal is approved: sign the transaction and submit it to `approve` within 15 minutes.
         *
         *     Credential: the access token of a sign-in. With an access token it is authorised by the signature of the wallet whose money moves. The sign-in of a device may not call it. Limit: 5 per minute per account.
         */
        post: operations["funding.createWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/withdrawals/{withdrawal_id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit the signed withdrawal, or prepare it again
         * @description A repeat with the same transaction returns the same result.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["funding.approveWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/withdrawals/{withdrawal_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a withdrawal that was not submitted
         * @description Final. None of its transactions can be submitted any more.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["funding.cancelWithdrawal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/withdrawals/{withdrawal_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a withdrawal
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["funding.getWithdrawal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/{provider}/{environment}/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a provider’s report of a payment
         * @description For MoonPay and Coinbase only, which sign the bytes of the body. Repeated and out-of-order reports are answered with 200 and change nothing. No report completes a deposit: only the transfer on chain does.
         *
         *     Needs no credential. Limit: 600 per minute per address.
         */
        post: operations["funding.providerWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List refunds
         * @description A service key lists the refunds of its service. An access token lists the refunds that the account makes and receives.
         *
         *     Credential: a service key or the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["funding.listRefunds"];
        put?: never;
        /**
         * Prepare a refund of a settlement
         * @description Refunds the net amount or a part of it. Several refunds are possible until the net amount is used up. The fee is not returned. No money moves until the key of the payout address has signed the transaction and it is submitted, within 24 hours. A service key needs no recent sign-in.
         *
         *     Credential: a service key or the access token of a sign-in. Needs a sign-in of the last 5 minutes. With a service key it is authorised by the signature of the wallet whose money moves. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 5 per minute per account.
         */
        post: operations["funding.createRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds/{refund_id}/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit the signed refund, or prepare it again
         * @description A repeat with the same transaction returns the same result.
         *
         *     Credential: a service key or the access token of a sign-in. With a service key it is authorised by the signature of the wallet whose money moves. With an access token it is authorised by the signature of the wallet whose money moves. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["funding.submitRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds/{refund_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a refund that was not submitted
         * @description Final. The reserved part of the settlement is released.
         *
         *     Credential: a service key or the access token of a sign-in. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["funding.cancelRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds/{refund_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a refund
         * @description Credential: a service key or the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["funding.getRefund"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/fees": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the accrued fees of the account
         * @description A payment by x402 transfers the exact price, so its fee accrues: the largest of 0.5 %, 0.002 USDC and the cost of its transaction. A payment that fails returns its fee, unless the chain has included and refused its transaction. Beyond the credit, x402 payments are refused with `facilitator_credit_exhausted`.
         *
         *     Credential: the access token of a sign-in or a service key. Limit: 120 per minute per account.
         */
        get: operations["settlement.getFees"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/fee-quote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a quote for the fees that the account owes
         * @description Settle it with `POST /v1/settle`, from a wallet of any account: its scope names the account whose fees it pays. What is paid beyond the owed sum counts for later fees.
         *
         *     Credential: the access token of a sign-in. Limit: 30 per minute per account.
         */
        post: operations["settlement.createFeeQuote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook endpoints
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["webhook.listEndpoints"];
        put?: never;
        /**
         * Create a webhook endpoint
         * @description Events are POSTed to it as JSON `{ id, type, timestamp, data }`, signed as Standard Webhooks specify (webhook-id, webhook-timestamp, webhook-signature); `id` is the event_id, which identifies a repeat. A 2xx answer within 15 s acknowledges the event. Otherwise delivery is attempted 8 times over three days. Delivery is at least once, in no guaranteed order. An account has at most 10 endpoints.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["webhook.createEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook endpoint
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["webhook.getEndpoint"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook endpoint with its log
         * @description Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        delete: operations["webhook.deleteEndpoint"];
        options?: never;
        head?: never;
        /**
         * Change a webhook endpoint
         * @description An endpoint that is enabled again gets the pending deliveries. Use redeliver for events of the time while it was disabled.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes, for another url. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        patch: operations["webhook.updateEndpoint"];
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event to a webhook endpoint
         * @description Credential: the access token of a sign-in. Limit: 10 per minute per account.
         */
        post: operations["webhook.testEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint_id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook endpoint
         * @description For 24 hours deliveries are signed with both secrets, then only with the new one. A further rotation revokes the older one.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["webhook.rotateEndpointSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries to a webhook endpoint
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["webhook.listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-endpoints/{endpoint_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver one event, or all events since a time, again
         * @description Name event_id or since. With since: the events of the endpoint’s event types, including those that it never received, at most 10000, the oldest first.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 10 per minute per account.
         */
        post: operations["webhook.redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events, as an alternative to webhooks
         * @description Newest first. Events are stored for 30 days.
         *
         *     Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["webhook.listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an event
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["webhook.getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an account by a mailed sign-in link
         * @description The account is created when the link is used. The answer is the same for known and unknown addresses.
         *
         *     Needs no credential. Limit: 5 per 15 minutes per value of email; 30 per 10 minutes per address.
         */
        post: operations["identity.createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/magic-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mail a sign-in link
         * @description Needs no credential. Limit: 5 per 15 minutes per value of email; 30 per 10 minutes per address.
         */
        post: operations["identity.requestMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/magic-link/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the address of a sign-in link without using it
         * @description For the page that a link opens, which shows the address before the person signs in. same_browser is false if the link was requested by another browser or by no page.
         *
         *     Needs no credential. Limit: 30 per minute per address.
         */
        post: operations["identity.readMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/magic-link/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use a sign-in link
         * @description A link is valid for 15 minutes, once. The newest three links of an address work until one is used. The first sign-in creates the account. With refresh_in: cookie, a link that was requested by another browser or by no page needs the email that the person has confirmed. Without it the answer is conflict, and the link remains valid.
         *
         *     Needs no credential. Without a credential it is authorised by a link that was mailed to the owner. Limit: 30 per minute per address.
         */
        post: operations["identity.verifyMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/passkey/login/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to sign in with a passkey
         * @description The answer is the argument of navigator.credentials.get, in its JSON form. Valid for 5 minutes.
         *
         *     Needs no credential. Limit: 30 per minute per address.
         */
        post: operations["identity.passkeyLoginOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/passkey/login/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a passkey
         * @description Needs no credential. Without a credential it is authorised by a passkey. Limit: 30 per minute per address.
         */
        post: operations["identity.passkeyLoginVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/passkey/register/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to register a passkey
         * @description The answer is the argument of navigator.credentials.create, in its JSON form. Valid for 5 minutes.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 10 per minute per account.
         */
        post: operations["identity.passkeyRegisterOptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/passkey/register/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a passkey
         * @description An account may have several passkeys. The owner is notified by mail.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 10 per minute per account.
         */
        post: operations["identity.passkeyRegisterVerify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin to sign in a device
         * @description Show the person `user_code` and `verification_uri`, and poll `POST /v1/auth/device/token` every `interval` seconds. As RFC 8628 specifies it, in JSON.
         *
         *     Needs no credential. Limit: 20 per 10 minutes per address.
         */
        post: operations["identity.startDeviceSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get the session of a device that a person has confirmed
         * @description 202 while nobody has decided. rate_limited is slow_down of RFC 8628: poll again after Retry-After, and less often from then on. forbidden: the person has denied it, or the account is frozen. unauthorized: the code is unknown, has expired or was used.
         *
         *     Needs no credential. Without a credential it is authorised by a code that the owner has confirmed with a recent sign-in. Limit: 60 per minute per value of device_code; 120 per minute per address.
         */
        post: operations["identity.pollDeviceSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get what a device asks for, by the code that it shows
         * @description Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 20 per 10 minutes per account.
         */
        post: operations["identity.readDeviceSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/device/decide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Allow or deny the sign-in of a device
         * @description An allowed device gets a sign-in of this account, which GET /v1/accounts/me/sessions lists. The first decision stands: another one is conflict. The device reads, pays within the limits of the account, and creates delegates with limits, which end with its sign-in.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 20 per 10 minutes per account.
         */
        post: operations["identity.decideDeviceSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a refresh token for a new pair
         * @description A refresh token is rotated at every use. Reuse of an old token ends the sign-in. Without refresh_token, the token of the cookie is used, and the next one is set in the cookie.
         *
         *     Needs no credential. Without a credential it is authorised by the refresh token of the sign-in, which works once. Limit: 30 per minute per address.
         */
        post: operations["identity.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End this sign-in immediately
         * @description Credential: the access token of a sign-in. Limit: 30 per minute per account.
         */
        post: operations["identity.logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the account of this sign-in
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the account’s settings
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change some of the account’s settings
         * @description Omitted fields are unchanged. When the mails about keys are turned off, a last mail reports it.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes, to turn mails about keys off, or to turn mails about payments off, to raise or remove the alert, or to pay from another wallet. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        patch: operations["identity.updateSettings"];
        trace?: never;
    };
    "/v1/accounts/me/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what a sign-in may pay
         * @description These limits bind payments with an access token, to services and to other vendors. A person’s sign-in of the last 5 minutes may exceed them, that of a device never does. Its payments count in the day, too. A delegate has limits of its own.
         *
         *     Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["settlement.getAccountLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change what a sign-in may pay
         * @description Omitted fields are unchanged. A change is mailed to the owner. A limit that is lowered never undoes a payment.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        patch: operations["settlement.updateAccountLimits"];
        trace?: never;
    };
    "/v1/accounts/me/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close the account of this sign-in
         * @description Refused with `conflict` while something is open; `details` names each part. Otherwise every sign-in, passkey, service, delegate, key, webhook endpoint and linked wallet of the account ends at once.
         *
         *     Money in a linked wallet is its owner’s on the chain and stays there. A wallet that was created here must be empty, because its backup is erased.
         *
         *     At `erase_at` the personal data are erased. Payments are kept under the id of the account. The address can open a new account at once. Export the data first: `quittance account export`.
         *
         *     Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["identity.closeAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the account’s passkeys
         * @description Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.listPasskeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/passkeys/{passkey_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a passkey, which can then no longer sign in
         * @description Credential: the access token of a sign-in. Needs a sign-in of the last 5 minutes. With an access token it is authorised by a sign-in of the last 5 minutes. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        delete: operations["identity.deletePasskey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of the account that can be used
         * @description The keys of all its services and delegates. Only the beginning of a key is stored beside its hash, so that you recognise it.
         *
         *     Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.listKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the account’s open sign-ins, with the delegates that devices made
         * @description A sign-in of a device that has ended, by itself or by its program, is listed while a delegate that it made works. DELETE of it ends them.
         *
         *     Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a sign-in immediately, on every device that uses it
         * @description The delegates that a device made with it are deleted, and their keys are revoked. This is so for a sign-in that has ended before, too.
         *
         *     Credential: the access token of a sign-in. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        delete: operations["identity.deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/security-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the security events of the account
         * @description Sign-ins, and changes of passkeys, keys and payout addresses, for 90 days. Revoke what you do not recognise.
         *
         *     Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["identity.listSecurityEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/me/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Note an export of the account’s data, for its owner
         * @description Call it before you read lists to keep them elsewhere, as `quittance account export` and the console do. The owner sees it in the security events, and is mailed about an export of the whole account. It reads nothing.
         *
         *     Credential: the access token of a sign-in. Limit: 30 per hour per account.
         */
        post: operations["identity.noteExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/x402/supported": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The payment kinds of this x402 facilitator
         * @description Credential: a service key. Limit: 120 per minute per account.
         */
        get: operations["settlement.x402Supported"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/x402/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify an x402 payment without settling it
         * @description Checks the signed bytes, simulates them and writes nothing. A refused payment is answered with 200, `isValid: false`, the reason of x402, and `error`.
         *
         *     Credential: a service key. Limit: 600 per minute per account. Calls that are refused with `validation_error` do not count in it up to 6000 per minute per account.
         */
        post: operations["settlement.x402Verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/x402/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle an x402 payment
         * @description Co-signs, broadcasts and waits for the confirmation. The success of a payment is handed out once. A refused payment is answered with 200, `success: false`, the reason of x402, and `error`. A failure is reported only if no money moved and none will. If the outcome is unknown, the answer is 202 without JSON: repeat the call.
         *
         *     Credential: a service key. With a service key it is authorised by the signature of the wallet whose money moves. Limit: 300 per minute per account. Calls that are refused with `validation_error` do not count in it up to 3000 per minute per account.
         */
        post: operations["settlement.x402Settle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/foreign/terms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a vendor needs to offer its resource to clients of x402 and MPP
         * @description The values of a 402 of these protocols: network, mint, the fee payer that co-signs, the payout address of the service, and the fee. They change rarely; read them again every few minutes.
         *
         *     Credential: a service key. Limit: 120 per minute per account.
         */
        get: operations["settlement.foreignTerms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/foreign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle a payment that a client of x402 or MPP has signed, and redeem it
         * @description The vendor has verified that the payment answers its own offer, and names the amount and the memo of that offer. The platform checks the signed bytes, co-signs, and waits for the confirmation. The settlement is redeemed in the same step: deliver only if `replayed` is false or the `redeem_id` is yours. A repeat of the same transaction never pays twice. After 202, repeat the call.
         *
         *     Credential: a service key. With a service key it is authorised by the signature of the wallet whose money moves. Limit: 300 per minute per account. Calls that are refused with `validation_error` do not count in it up to 3000 per minute per account.
         */
        post: operations["settlement.acceptForeign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settlements/{settlement_id}/reissue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Allow the success of an undelivered x402 payment to be handed out once more
         * @description A payment whose success was handed out, but whose vendor did not deliver. The next settle of the same payload gets the success again. `redeem_id` names the success that was not delivered, so a repeat of this call makes no further one available: the `hand_out_id` of its answer, or the `redeem_id` of the settlement.
         *
         *     Credential: a service key or the access token of a sign-in. The sign-in of a device may not call it. Limit: 30 per minute per account.
         */
        post: operations["settlement.reissueForeign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Liveness: the process answers
         * @description Needs no credential. Limit: 1200 per minute per address.
         */
        get: operations["gateway.health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readiness: the process accepts calls
         * @description 503 while the process starts or drains. The body shows the state of each environment. An environment that is down does not affect the others.
         *
         *     Needs no credential. Limit: 1200 per minute per address.
         */
        get: operations["gateway.ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the environments that are served here, each with its USDC mint and its network
         * @description From the configuration only. A signer compares the mint of a transaction with this mint, never with one from another answer.
         *
         *     Needs no credential. Limit: 1200 per minute per address.
         */
        get: operations["gateway.environments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the newest API calls of the account
         * @description The calls of all keys and sign-ins of the account, and the refused ones apart: the newest 100 of each, for 7 days, of the 1,000 accounts that called last. It is a help for developers and no record: a call may be missing. Calls of pages of the console are left out, and so are calls whose credential was refused, because they belong to nobody.
         *
         *     Credential: the access token of a sign-in. Limit: 120 per minute per account.
         */
        get: operations["gateway.requests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the public signing keys
         * @description A key is valid only for the environment and the use in its kid: <env>.<quote|settlement|session>.<n>.
         *
         *     Needs no credential. Limit: 120 per minute per address.
         */
        get: operations["gateway.jwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "quote.settling": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * quote.settling
         * @description A buyer is paying your quote.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "quote.settling",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "quote.settling";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["QuoteProgress"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "quote.settled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * quote.settled
         * @description Your quote is paid.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "quote.settled",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "quote.settled";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["QuoteProgress"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "quote.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * quote.expired
         * @description Your quote was not paid and can no longer be paid. Sent five minutes after its expiry.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "quote.expired",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "expires_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "quote.expired";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            quote_id: components["schemas"]["QuoteId"];
                            service_id: components["schemas"]["ServiceId"];
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description Until when it could be paid */
                            expires_at: components["schemas"]["Timestamp"];
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.issued": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.issued
         * @description A payment is confirmed, and can be redeemed.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "settlement.issued",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "rail": "quittance",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500",
                     *         "scope": {
                     *           "resource": "https://api.example.com/report"
                     *         },
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "issued_at": "2026-11-21T10:00:00.000Z",
                     *         "role": "vendor",
                     *         "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "settlement.issued";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description The transaction on chain */
                            tx_hash: components["schemas"]["TransactionHash"];
                            /** @description When the payment was confirmed */
                            issued_at: components["schemas"]["Timestamp"];
                            /**
                             * @description The account sells in this payment
                             * @constant
                             */
                            role: "vendor";
                            /** @description The address that signed a payment of x402 or MPP. Absent for a payer with an account */
                            payer_address?: components["schemas"]["SolanaAddress"];
                        } | {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description The transaction on chain */
                            tx_hash: components["schemas"]["TransactionHash"];
                            /** @description When the payment was confirmed */
                            issued_at: components["schemas"]["Timestamp"];
                            /**
                             * @description The account pays in this payment
                             * @constant
                             */
                            role: "payer";
                            /** @description The wallet that paid */
                            wallet_id: components["schemas"]["WalletId"] | null;
                            /** @description Null if the owner’s own sign-in has paid */
                            delegate_id: components["schemas"]["DelegateId"] | null;
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.finalized": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.finalized
         * @description The chain can no longer reverse a payment.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "settlement.finalized",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "rail": "quittance",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500",
                     *         "scope": {
                     *           "resource": "https://api.example.com/report"
                     *         },
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "role": "vendor",
                     *         "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "settlement.finalized";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description The transaction on chain */
                            tx_hash: components["schemas"]["TransactionHash"];
                            /**
                             * @description The account sells in this payment
                             * @constant
                             */
                            role: "vendor";
                            /** @description The address that signed a payment of x402 or MPP. Absent for a payer with an account */
                            payer_address?: components["schemas"]["SolanaAddress"];
                        } | {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description The transaction on chain */
                            tx_hash: components["schemas"]["TransactionHash"];
                            /**
                             * @description The account pays in this payment
                             * @constant
                             */
                            role: "payer";
                            /** @description The wallet that paid */
                            wallet_id: components["schemas"]["WalletId"] | null;
                            /** @description Null if the owner’s own sign-in has paid */
                            delegate_id: components["schemas"]["DelegateId"] | null;
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.redeemed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.redeemed
         * @description The vendor has redeemed a payment.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "settlement.redeemed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "rail": "quittance",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500",
                     *         "scope": {
                     *           "resource": "https://api.example.com/report"
                     *         },
                     *         "redeemed_at": "2026-11-21T10:00:00.000Z",
                     *         "role": "vendor",
                     *         "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "redeem_id": "replica-1-request-88"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "settlement.redeemed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description When the vendor redeemed it */
                            redeemed_at: components["schemas"]["Timestamp"];
                            /**
                             * @description The account sells in this payment
                             * @constant
                             */
                            role: "vendor";
                            /** @description The address that signed a payment of x402 or MPP. Absent for a payer with an account */
                            payer_address?: components["schemas"]["SolanaAddress"];
                            /** @description The id that redeemed it. Null: none was sent */
                            redeem_id: components["schemas"]["RedeemId"] | null;
                        } | {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description When the vendor redeemed it */
                            redeemed_at: components["schemas"]["Timestamp"];
                            /**
                             * @description The account pays in this payment
                             * @constant
                             */
                            role: "payer";
                            /** @description The wallet that paid */
                            wallet_id: components["schemas"]["WalletId"] | null;
                            /** @description Null if the owner’s own sign-in has paid */
                            delegate_id: components["schemas"]["DelegateId"] | null;
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.expired
         * @description A payment was not redeemed in time. The money stays with the vendor.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "settlement.expired",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "rail": "quittance",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500",
                     *         "scope": {
                     *           "resource": "https://api.example.com/report"
                     *         },
                     *         "redeem_expires_at": "2026-11-21T10:00:00.000Z",
                     *         "role": "vendor",
                     *         "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "settlement.expired";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description Until when it could be redeemed */
                            redeem_expires_at: components["schemas"]["Timestamp"];
                            /**
                             * @description The account sells in this payment
                             * @constant
                             */
                            role: "vendor";
                            /** @description The address that signed a payment of x402 or MPP. Absent for a payer with an account */
                            payer_address?: components["schemas"]["SolanaAddress"];
                        } | {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description Until when it could be redeemed */
                            redeem_expires_at: components["schemas"]["Timestamp"];
                            /**
                             * @description The account pays in this payment
                             * @constant
                             */
                            role: "payer";
                            /** @description The wallet that paid */
                            wallet_id: components["schemas"]["WalletId"] | null;
                            /** @description Null if the owner’s own sign-in has paid */
                            delegate_id: components["schemas"]["DelegateId"] | null;
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.failed
         * @description A payment has failed. No money moved.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "settlement.failed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "rail": "quittance",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500",
                     *         "scope": {
                     *           "resource": "https://api.example.com/report"
                     *         },
                     *         "failure_code": "insufficient_funds",
                     *         "role": "vendor",
                     *         "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "settlement.failed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /**
                             * @description Why it failed. No money moved, and the quote may be paid again
                             * @example insufficient_funds
                             */
                            failure_code: string;
                            /**
                             * @description The account sells in this payment
                             * @constant
                             */
                            role: "vendor";
                            /** @description The address that signed a payment of x402 or MPP. Absent for a payer with an account */
                            payer_address?: components["schemas"]["SolanaAddress"];
                        } | {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /**
                             * @description Why it failed. No money moved, and the quote may be paid again
                             * @example insufficient_funds
                             */
                            failure_code: string;
                            /**
                             * @description The account pays in this payment
                             * @constant
                             */
                            role: "payer";
                            /** @description The wallet that paid */
                            wallet_id: components["schemas"]["WalletId"] | null;
                            /** @description Null if the owner’s own sign-in has paid */
                            delegate_id: components["schemas"]["DelegateId"] | null;
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.reversed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.reversed
         * @description The chain has reversed a confirmed payment for good.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "settlement.reversed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "rail": "quittance",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "quote_amount": "2500000",
                     *         "fee_amount": "12500",
                     *         "net_amount": "2487500",
                     *         "scope": {
                     *           "resource": "https://api.example.com/report"
                     *         },
                     *         "redeemed": false,
                     *         "role": "vendor",
                     *         "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "settlement.reversed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description Whether it was redeemed before the chain reversed it */
                            redeemed: boolean;
                            /**
                             * @description The account sells in this payment
                             * @constant
                             */
                            role: "vendor";
                            /** @description The address that signed a payment of x402 or MPP. Absent for a payer with an account */
                            payer_address?: components["schemas"]["SolanaAddress"];
                        } | {
                            settlement_id: components["schemas"]["SettlementId"];
                            rail: components["schemas"]["Rail"];
                            /** @description Null on another rail than `quittance` */
                            quote_id: components["schemas"]["QuoteId"] | null;
                            /** @description Null for a vendor that does not use Quittance */
                            service_id: components["schemas"]["ServiceId"] | null;
                            /** @description What the payer pays. In USDC micro-units */
                            quote_amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description What the platform gets of it. In USDC micro-units
                             * @example 12500
                             */
                            fee_amount: components["schemas"]["MicroUsdcOrZero"];
                            /**
                             * @description What the vendor gets of it. In USDC micro-units
                             * @example 2487500
                             */
                            net_amount: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The metadata of the quote, as its vendor sent it */
                            scope: components["schemas"]["Scope"] | null;
                            /** @description Whether it was redeemed before the chain reversed it */
                            redeemed: boolean;
                            /**
                             * @description The account pays in this payment
                             * @constant
                             */
                            role: "payer";
                            /** @description The wallet that paid */
                            wallet_id: components["schemas"]["WalletId"] | null;
                            /** @description Null if the owner’s own sign-in has paid */
                            delegate_id: components["schemas"]["DelegateId"] | null;
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "settlement.declined": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * settlement.declined
         * @description A payment of a quote was refused. No money moved.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "settlement.declined",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "decline_id": "dcl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "amount": "2500000",
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "code": "payer_declined",
                     *         "role": "vendor"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "settlement.declined";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            decline_id: components["schemas"]["DeclineId"];
                            quote_id: components["schemas"]["QuoteId"];
                            service_id: components["schemas"]["ServiceId"];
                            /** @description What the quote costs. In USDC micro-units */
                            amount: components["schemas"]["MicroUsdc"];
                            /** @description When the payment was refused first */
                            created_at: components["schemas"]["Timestamp"];
                            /**
                             * @description A vendor does not learn why
                             * @constant
                             */
                            code: "payer_declined";
                            /**
                             * @description The account sells in this payment
                             * @constant
                             */
                            role: "vendor";
                        } | {
                            decline_id: components["schemas"]["DeclineId"];
                            quote_id: components["schemas"]["QuoteId"];
                            service_id: components["schemas"]["ServiceId"];
                            /** @description What the quote costs. In USDC micro-units */
                            amount: components["schemas"]["MicroUsdc"];
                            /**
                             * @description The error code that the payer got. A vendor sees `payer_declined` only
                             * @enum {string}
                             */
                            code: "limit_exceeded" | "insufficient_funds" | "delegation_inactive" | "forbidden" | "conflict" | "quote_expired" | "approval_denied" | "approval_expired" | "service_unavailable" | "payer_declined";
                            /** @description When the payment was refused first */
                            created_at: components["schemas"]["Timestamp"];
                            /** @description The delegate whose key tried to pay; null: a sign-in of the account. Shown only to the payer */
                            delegate_id: components["schemas"]["DelegateId"] | null;
                            /** @description The first one. Shown only to the payer */
                            payment_attempt_id: components["schemas"]["PaymentAttemptId"];
                            /** @description Shown only to the payer */
                            reason: components["schemas"]["DeclineReason"];
                            /** @description Null if no limit of delegate or wallet is the reason. Shown only to the payer */
                            limit: components["schemas"]["DeclineLimit"] | null;
                            /**
                             * @description The account pays in this payment
                             * @constant
                             */
                            role: "payer";
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.submitted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * refund.submitted
         * @description A refund is sent to the chain.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "refund.submitted",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_signature",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z",
                     *         "reason": "The report was empty"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "refund.submitted";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Refund"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.confirmed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * refund.confirmed
         * @description A refund is confirmed.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "refund.confirmed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_signature",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z",
                     *         "reason": "The report was empty"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "refund.confirmed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Refund"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.finalized": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * refund.finalized
         * @description The chain can no longer reverse a refund.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "refund.finalized",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_signature",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z",
                     *         "reason": "The report was empty"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "refund.finalized";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Refund"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * refund.failed
         * @description A refund has failed. No money moved.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "refund.failed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_signature",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z",
                     *         "reason": "The report was empty"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "refund.failed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Refund"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * refund.cancelled
         * @description A refund was cancelled before it was sent.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "refund.cancelled",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_signature",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z",
                     *         "reason": "The report was empty"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "refund.cancelled";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Refund"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * refund.expired
         * @description A refund was not signed in time.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "refund.expired",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_signature",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z",
                     *         "reason": "The report was empty"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "refund.expired";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Refund"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "withdrawal.submitted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * withdrawal.submitted
         * @description A withdrawal is sent to the chain.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "withdrawal.submitted",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_approval",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "withdrawal.submitted";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Withdrawal"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "withdrawal.confirmed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * withdrawal.confirmed
         * @description A withdrawal is confirmed.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "withdrawal.confirmed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_approval",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "withdrawal.confirmed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Withdrawal"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "withdrawal.finalized": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * withdrawal.finalized
         * @description The chain can no longer reverse a withdrawal.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "withdrawal.finalized",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_approval",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "withdrawal.finalized";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Withdrawal"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "withdrawal.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * withdrawal.failed
         * @description A withdrawal has failed. No money moved.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "withdrawal.failed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_approval",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "withdrawal.failed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Withdrawal"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "withdrawal.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * withdrawal.cancelled
         * @description A withdrawal was cancelled before it was sent.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "withdrawal.cancelled",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_approval",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "withdrawal.cancelled";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Withdrawal"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "withdrawal.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * withdrawal.expired
         * @description A withdrawal was not signed in time.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "withdrawal.expired",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "pending_approval",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "amount": "2500000",
                     *         "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "failure": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "pending_until": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "withdrawal.expired";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Withdrawal"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.awaiting_payment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * deposit.awaiting_payment
         * @description The provider waits for the payment of a deposit.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "deposit.awaiting_payment",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "created",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "provider": "moonpay",
                     *         "fiat_currency": "USD",
                     *         "fiat_amount": "50.00",
                     *         "amount": "2500000",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "problem": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "completed_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "deposit.awaiting_payment";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DepositChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.processing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * deposit.processing
         * @description The provider has the payment of a deposit.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "deposit.processing",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "created",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "provider": "moonpay",
                     *         "fiat_currency": "USD",
                     *         "fiat_amount": "50.00",
                     *         "amount": "2500000",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "problem": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "completed_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "deposit.processing";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DepositChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.settling": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * deposit.settling
         * @description The provider has sent the USDC of a deposit.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "deposit.settling",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "created",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "provider": "moonpay",
                     *         "fiat_currency": "USD",
                     *         "fiat_amount": "50.00",
                     *         "amount": "2500000",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "problem": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "completed_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "deposit.settling";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DepositChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * deposit.completed
         * @description The USDC of a deposit arrived on chain.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "deposit.completed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "created",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "provider": "moonpay",
                     *         "fiat_currency": "USD",
                     *         "fiat_amount": "50.00",
                     *         "amount": "2500000",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "problem": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "completed_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "deposit.completed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DepositChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * deposit.failed
         * @description The provider has refused a deposit.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "deposit.failed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "created",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "provider": "moonpay",
                     *         "fiat_currency": "USD",
                     *         "fiat_amount": "50.00",
                     *         "amount": "2500000",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "problem": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "completed_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "deposit.failed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DepositChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * deposit.cancelled
         * @description A deposit was cancelled.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "deposit.cancelled",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "created",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "provider": "moonpay",
                     *         "fiat_currency": "USD",
                     *         "fiat_amount": "50.00",
                     *         "amount": "2500000",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "problem": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "completed_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "deposit.cancelled";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DepositChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "deposit.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * deposit.expired
         * @description A deposit was not paid in time.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "deposit.expired",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "created",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "provider": "moonpay",
                     *         "fiat_currency": "USD",
                     *         "fiat_amount": "50.00",
                     *         "amount": "2500000",
                     *         "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *         "problem": null,
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "completed_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "deposit.expired";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DepositChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "delegate.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * delegate.created
         * @description A delegate was created.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "delegate.created",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "name": "Research agent",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "expires_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "delegate.created";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DelegateChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "delegate.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * delegate.updated
         * @description A delegate was changed.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "delegate.updated",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "name": "Research agent",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "expires_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "delegate.updated";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DelegateChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "delegate.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * delegate.deleted
         * @description A delegate was deleted. Its keys are revoked.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "delegate.deleted",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "name": "Research agent",
                     *         "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "expires_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "delegate.deleted";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["DelegateChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "delegate.exhausted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * delegate.exhausted
         * @description A limit of a delegate is used up, and a payment was refused for it.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "delegate.exhausted",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "name": "daily",
                     *         "limit": "0",
                     *         "used": "0",
                     *         "left": "0",
                     *         "resets_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "delegate.exhausted";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            delegate_id: components["schemas"]["DelegateId"];
                            /**
                             * @description The limit that is used up
                             * @enum {string}
                             */
                            name: "daily" | "monthly" | "total";
                            /** @description The limit itself. In USDC micro-units */
                            limit: components["schemas"]["MicroUsdcOrZero"];
                            /** @description Spent, or held by payments that are under way. In USDC micro-units */
                            used: components["schemas"]["MicroUsdcOrZero"];
                            /** @description What may still be paid. In USDC micro-units */
                            left: components["schemas"]["MicroUsdcOrZero"];
                            /** @description When the limit starts again. Null: never */
                            resets_at: components["schemas"]["Timestamp"] | null;
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "approval.requested": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * approval.requested
         * @description A payment of a delegate waits for the owner.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "approval.requested",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "approval_id": "apr_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "awaiting_approval",
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "payment_attempt_id": "order-1042-1",
                     *         "rail": "quittance",
                     *         "amount": "2500000",
                     *         "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "service_name": "Weather API",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "resource": "https://api.example.com/report",
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "decided_at": "2026-11-21T10:00:00.000Z",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "approval.requested";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "approval.decided": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * approval.decided
         * @description The owner has decided about a payment of a delegate.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "approval.decided",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "approval_id": "apr_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "status": "awaiting_approval",
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "payment_attempt_id": "order-1042-1",
                     *         "rail": "quittance",
                     *         "amount": "2500000",
                     *         "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "service_name": "Weather API",
                     *         "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "resource": "https://api.example.com/report",
                     *         "created_at": "2026-11-21T10:00:00.000Z",
                     *         "expires_at": "2026-11-21T10:00:00.000Z",
                     *         "decided_at": "2026-11-21T10:00:00.000Z",
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "approval.decided";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["Approval"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "key.rotated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * key.rotated
         * @description A key was replaced by a new one.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "key.rotated",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "previous_key_expires_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "key.rotated";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["KeyChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "key.revealed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * key.revealed
         * @description A new key was shown to someone who followed a mailed link.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "key.revealed",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "previous_key_expires_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "key.revealed";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["KeyChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "key.ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * key.ended
         * @description A key is no longer valid.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "key.ended",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *         "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "previous_key_expires_at": "2026-11-21T10:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "key.ended";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: components["schemas"]["KeyChange"];
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * webhook.test
         * @description You have asked for a test event.
         */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description The id of the event. A repeat has the same id */
                    "webhook-id": string;
                    /** @description When this attempt was made, in seconds since 1970 */
                    "webhook-timestamp": string;
                    /** @description Signatures of `id.timestamp.body`, one for each valid secret, separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "webhook.test",
                     *       "timestamp": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "endpoint_id": "whe_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *       }
                     *     }
                     */
                    "application/json": {
                        id: components["schemas"]["EventId"];
                        /**
                         * @description What happened
                         * @constant
                         */
                        type: "webhook.test";
                        /** @description When it happened */
                        timestamp: components["schemas"]["Timestamp"];
                        /** @description The object of the event, as it was then */
                        data: {
                            endpoint_id: components["schemas"]["EndpointId"];
                        };
                    };
                };
            };
            responses: {
                /** @description The event is accepted. Any other answer is a failed attempt */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @example {
         *       "error": {
         *         "code": "not_found",
         *         "message": "no such quote",
         *         "request_id": "5b0f0a52-6a53-4b8e-9d2c-6e0c0c1f4f11",
         *         "docs_url": "https://api.quittance.example/docs/errors#not_found"
         *       }
         *     }
         */
        Error: {
            /** @description What is wrong, and what to do */
            error: {
                /**
                 * @description What is wrong, for programs
                 * @enum {string}
                 */
                code: "validation_error" | "unauthorized" | "payment_required" | "insufficient_funds" | "forbidden" | "limit_exceeded" | "approval_required" | "approval_denied" | "approval_expired" | "reauthentication_required" | "not_found" | "method_not_allowed" | "conflict" | "delegation_inactive" | "quote_already_settled" | "idempotency_mismatch" | "settlement_exhausted" | "payment_failed" | "quote_expired" | "settlement_expired" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "service_unavailable";
                /** @description What is wrong, then what to do. For people */
                message: string;
                /** @description Identifies this call in our logs, the same as the header x-request-id. Give it to support */
                request_id: string;
                /**
                 * Format: uri
                 * @description The page about the code: causes, whether money moved, what to do
                 */
                docs_url: string;
                /** @description Which fields are wrong */
                details?: {
                    /** @description The field, as `limits.daily` */
                    path: string;
                    /** @description What is wrong with it */
                    message: string;
                }[];
                /**
                 * @description Whether this call, or another call of the account for the same quote, moved money. `no`: the attempt was checked. Nothing was paid and no payment is under way. `unknown`: only a repeat with the same id, or GET /v1/settlements?payment_attempt_id=, shows whether it was paid. It never means "not paid".
                 * @enum {unknown}
                 */
                money_moved?: "no" | "yes" | "unknown";
                /**
                 * @description What to do next without the risk of paying twice. `read_settlement`: the account already has a settlement for this quote or attempt. Read it with GET /v1/settlements/:settlement_id.
                 * @enum {unknown}
                 */
                safe_action?: "retry_same_attempt" | "read_settlement" | "new_quote" | "top_up" | "raise_limit" | "await_approval" | "stop";
                /** @description The account’s own settlement of the quote or the attempt. It is never shown to another account. */
                settlement_id?: components["schemas"]["SettlementId"];
                /** @description The approval that the payment needs, or that was denied or has expired */
                approval_id?: components["schemas"]["ApprovalId"];
                /** @description The limit that refused the payment. Its amounts are in USDC micro-units */
                limit?: {
                    /**
                     * @description Which limit
                     * @enum {unknown}
                     */
                    name: "per_payment" | "daily" | "monthly" | "total" | "account_per_payment" | "account_daily" | "balance" | "allowance";
                    /** @description The amount of the payment */
                    asked: components["schemas"]["MicroUsdc"];
                    /** @description The limit itself */
                    limit: components["schemas"]["MicroUsdcOrZero"];
                    /** @description What no other payment has used or holds */
                    left: components["schemas"]["MicroUsdcOrZero"];
                    /** @description When a daily or monthly limit starts again. Null: never */
                    resets_at: components["schemas"]["Timestamp"] | null;
                };
            };
        };
        /**
         * @description Id of the account, beginning with acct_ (TypeID: UUIDv7 in base32)
         * @example acct_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        AccountId: string;
        /** @description What sign-ins of the account may pay without a recent sign-in */
        AccountLimits: {
            /** @description Largest single payment. In USDC micro-units */
            per_payment: components["schemas"]["MicroUsdc"];
            /** @description Sum of a UTC day. In USDC micro-units */
            daily: components["schemas"]["MicroUsdc"];
            /** @description What sign-ins have paid in this UTC day, or hold for payments that are under way. In USDC micro-units */
            used_today: components["schemas"]["MicroUsdcOrZero"];
            /** @description What a sign-in may still pay in this UTC day. In USDC micro-units */
            remaining_today: components["schemas"]["MicroUsdcOrZero"];
            /** @description When the day ends */
            resets_at: components["schemas"]["Timestamp"];
        };
        AccountSettings: {
            /**
             * @description A name that the owner’s pages and passkeys show. Null: none
             * @example Ada
             */
            display_name: string | null;
            /** @description The wallet from which a settle with an access token pays. Default: the first linked wallet. A change takes effect within 2 s */
            default_wallet_id: components["schemas"]["WalletId"] | null;
            /** @description Whether mails report new, removed and replaced keys and passkeys */
            mail_key_events: boolean;
            /** @description Whether mails report payments made and received. Default false */
            mail_payments: boolean;
            /** @description A mail is sent once a day when the payments of a UTC day exceed this amount, and again when they exceed a raised amount. Null: no mail. In USDC micro-units */
            spending_alert_threshold: components["schemas"]["MicroUsdc"] | null;
        };
        /** @description A call of the account to this API */
        ApiRequest: {
            /**
             * @description Id of the call, as in its header `x-request-id`
             * @example req-7f3a
             */
            request_id: string;
            /** @description When it was answered */
            created_at: components["schemas"]["Timestamp"];
            /**
             * @description HTTP method
             * @enum {string}
             */
            method: "GET" | "POST" | "PATCH" | "DELETE";
            /**
             * @description Path of the operation, with the names of its parameters
             * @example /v1/settlements/:settlement_id/redeem
             */
            path: string;
            /**
             * @description The operation
             * @example settlement.redeem
             */
            operation: string;
            /**
             * @description HTTP status of the answer
             * @example 409
             */
            status: number;
            /** @description The error code. Null: no error */
            code: ("validation_error" | "unauthorized" | "payment_required" | "insufficient_funds" | "forbidden" | "limit_exceeded" | "approval_required" | "approval_denied" | "approval_expired" | "reauthentication_required" | "not_found" | "method_not_allowed" | "conflict" | "delegation_inactive" | "quote_already_settled" | "idempotency_mismatch" | "settlement_exhausted" | "payment_failed" | "quote_expired" | "settlement_expired" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "service_unavailable") | null;
            /**
             * @description The message of the error, with words above 40 characters cut
             * @example the settlement is redeemed with another redeem_id
             */
            message: string | null;
            /**
             * @description How long the gateway needed
             * @example 12
             */
            duration_ms: number;
            /**
             * @description Kind of the credential
             * @enum {string}
             */
            credential: "service_key" | "delegate_key" | "jwt";
            /** @description The service whose key called */
            service_id: components["schemas"]["ServiceId"] | null;
            /** @description The delegate whose key called */
            delegate_id: components["schemas"]["DelegateId"] | null;
            /** @description Ids of objects in the call and its answer, by the name of the field */
            ids: {
                [key: string]: string;
            };
        };
        /** @description A payment of a delegate that its owner must approve. It reserves nothing */
        Approval: {
            approval_id: components["schemas"]["ApprovalId"];
            status: components["schemas"]["ApprovalStatus"];
            delegate_id: components["schemas"]["DelegateId"];
            payment_attempt_id: components["schemas"]["PaymentAttemptId"];
            rail: components["schemas"]["Rail"];
            /** @description What would be paid. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /** @description Address that would be paid */
            pay_to: components["schemas"]["SolanaAddress"];
            /** @description Null for a vendor that does not use Quittance */
            service_id: components["schemas"]["ServiceId"] | null;
            /**
             * @description Name of the service, or host of the vendor
             * @example Weather API
             */
            service_name: string;
            /** @description The quote to pay. Null for a vendor that does not use Quittance */
            quote_id: components["schemas"]["QuoteId"] | null;
            /**
             * @description What the delegate says it pays for
             * @example https://api.example.com/report
             */
            resource: string | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description It cannot be approved or used after this time */
            expires_at: components["schemas"]["Timestamp"];
            /** @description When the owner decided. Null: not yet */
            decided_at: components["schemas"]["Timestamp"] | null;
            /** @description The payment that used the approval */
            settlement_id: components["schemas"]["SettlementId"] | null;
        };
        /**
         * @description Id of the approval, beginning with apr_ (TypeID: UUIDv7 in base32)
         * @example apr_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        ApprovalId: string;
        /**
         * @description awaiting_approval: the owner has not decided. expired: the owner did not decide in time
         * @enum {string}
         */
        ApprovalStatus: "awaiting_approval" | "approved" | "denied" | "expired";
        /**
         * @description The state of the payment on chain. finalized: no fork can undo it any more
         * @enum {string}
         */
        ChainStatus: "pending" | "confirmed" | "finalized" | "failed";
        /**
         * @description base64url(payload).base64url(signature), Ed25519
         * @example eyJ2IjoxfQ.c2lnbmF0dXJl
         */
        CompactToken: string;
        /**
         * @description Always USDC
         * @constant
         */
        Currency: "USDC";
        /** @description A settle that was refused, once for each quote, delegate or sign-in, and reason. Nothing was paid. Stored for 90 days */
        Decline: {
            decline_id: components["schemas"]["DeclineId"];
            quote_id: components["schemas"]["QuoteId"];
            service_id: components["schemas"]["ServiceId"];
            /** @description What the quote costs. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /**
             * @description The error code that the payer got. A vendor sees `payer_declined` only
             * @enum {string}
             */
            code: "limit_exceeded" | "insufficient_funds" | "delegation_inactive" | "forbidden" | "conflict" | "quote_expired" | "approval_denied" | "approval_expired" | "service_unavailable" | "payer_declined";
            /** @description When the payment was refused first */
            created_at: components["schemas"]["Timestamp"];
            /** @description The delegate whose key tried to pay; null: a sign-in of the account. Shown only to the payer */
            delegate_id?: components["schemas"]["DelegateId"] | null;
            /** @description The first one. Shown only to the payer */
            payment_attempt_id?: components["schemas"]["PaymentAttemptId"];
            /** @description Shown only to the payer */
            reason?: components["schemas"]["DeclineReason"];
            /** @description Null if no limit of delegate or wallet is the reason. Shown only to the payer */
            limit?: components["schemas"]["DeclineLimit"] | null;
        };
        /**
         * @description Id of the decline, beginning with dcl_ (TypeID: UUIDv7 in base32)
         * @example dcl_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        DeclineId: string;
        /** @description The limit that refused the payment */
        DeclineLimit: {
            /** @description Amount of the payment. In USDC micro-units */
            asked: components["schemas"]["MicroUsdc"];
            /** @description The limit itself. In USDC micro-units */
            limit: components["schemas"]["MicroUsdcOrZero"];
            /** @description What no other payment has used or holds. In USDC micro-units */
            left: components["schemas"]["MicroUsdcOrZero"];
            /** @description When a daily or monthly limit starts again */
            resets_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @description per_payment, daily, monthly, total: the limit of the delegate. account_per_payment, account_daily: the limit of the account for a sign-in. balance, allowance: of the wallet, less what other payments hold. hourly_cap, fee_budget, payments_paused: the platform accepts no further payment at the moment
         * @enum {string}
         */
        DeclineReason: "per_payment" | "daily" | "monthly" | "total" | "account_per_payment" | "account_daily" | "balance" | "allowance" | "service_not_allowed" | "delegate_unknown" | "delegate_paused" | "account_frozen" | "vendor_frozen" | "own_quote" | "quote_expired" | "approval_denied" | "approval_expired" | "payments_paused" | "hourly_cap" | "fee_budget";
        /** @description A key with spending limits */
        Delegate: {
            delegate_id: components["schemas"]["DelegateId"];
            /**
             * @description A name for the owner
             * @example Research agent
             */
            name: string;
            wallet_id: components["schemas"]["WalletId"];
            limits: components["schemas"]["DelegateLimits"];
            /** @description How much of the limits is used */
            usage: {
                /** @description Of this UTC day */
                daily: components["schemas"]["DelegateUsage"];
                /** @description Of this UTC month */
                monthly: components["schemas"]["DelegateUsage"];
                /** @description Of all time */
                total: components["schemas"]["DelegateUsage"];
            };
            /**
             * @description The only services that the key may pay. Null or omitted: any
             * @example null
             */
            allowed_service_ids: components["schemas"]["ServiceId"][] | null;
            /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
            external: {
                /** @description Addresses that may be paid, or `any` */
                pay_to: "any" | components["schemas"]["SolanaAddress"][];
                /** @description Null: any origin */
                origins: string[] | null;
            } | null;
            /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
            approval_above: components["schemas"]["MicroUsdc"] | null;
            expires_at: components["schemas"]["Timestamp"] | null;
            /**
             * @description paused: the owner has stopped its payments for now. expired: the key can no longer pay. revoked: it was deleted
             * @enum {string}
             */
            status: "active" | "paused" | "expired" | "revoked";
            /** @description When it was deleted and its keys were revoked. Null: it was not */
            revoked_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
        };
        DelegateChange: {
            delegate_id: components["schemas"]["DelegateId"];
            /**
             * @description A name for the owner
             * @example Research agent
             */
            name: string;
            wallet_id: components["schemas"]["WalletId"];
            /** @description When the key ends. Null: never */
            expires_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @description Id of the delegate, beginning with del_ (TypeID: UUIDv7 in base32)
         * @example del_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        DelegateId: string;
        /** @description What the key may spend. Null: no limit */
        DelegateLimits: {
            per_payment: components["schemas"]["MicroUsdc"] | null;
            daily: components["schemas"]["MicroUsdc"] | null;
            monthly: components["schemas"]["MicroUsdc"] | null;
            total: components["schemas"]["MicroUsdc"] | null;
        };
        /** @description How much of a limit is used */
        DelegateUsage: {
            /** @description What was paid in this period. In USDC micro-units */
            spent: components["schemas"]["MicroUsdcOrZero"];
            /** @description Reserved for payments that are under way. In USDC micro-units */
            held: components["schemas"]["MicroUsdcOrZero"];
            /** @description What may still be paid. Null: no limit. In USDC micro-units */
            remaining: components["schemas"]["MicroUsdcOrZero"] | null;
            /** @description When the period ends. Null: never */
            resets_at: components["schemas"]["Timestamp"] | null;
        };
        /** @description Read from the chain */
        Delegation: {
            /**
             * @description active: the platform may spend the allowance. pending: submitted, and not seen on chain yet. exhausted: the allowance is used up. overwritten: another program has become the delegate
             * @enum {string}
             */
            status: "none" | "pending" | "active" | "exhausted" | "overwritten" | "revoked";
            /** @description The delegate authority on chain now */
            delegate: components["schemas"]["SolanaAddress"] | null;
            /** @description What the platform may still spend. In USDC micro-units */
            allowance: components["schemas"]["MicroUsdcOrZero"];
            /** @description When the chain was read: now, or earlier if it cannot be read now */
            as_of: components["schemas"]["Timestamp"];
        };
        /**
         * @description pending: a further attempt follows. failed: none follows
         * @enum {string}
         */
        DeliveryStatus: "pending" | "delivered" | "failed";
        Deposit: {
            deposit_id: components["schemas"]["DepositId"];
            status: components["schemas"]["DepositStatus"];
            wallet_id: components["schemas"]["WalletId"];
            provider: components["schemas"]["OnrampProvider"];
            fiat_currency: components["schemas"]["FiatCurrency"];
            fiat_amount: components["schemas"]["FiatAmount"];
            /** @description The provider’s estimate, and after completion the amount that arrived. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"] | null;
            /**
             * @description The provider’s payment page, for the customer’s browser
             * @example https://buy.moonpay.com/?signature=Zk3mQ9
             */
            redirect_url: string | null;
            /** @description The transfer on chain, null until it is seen */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /**
             * @description Why it failed, or what keeps a settling deposit from completing
             * @example null
             */
            problem: {
                /** @description What happened, for programs */
                code: string;
                /** @description What happened, for people */
                message: string;
            } | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the deposit expires if it is not paid */
            expires_at: components["schemas"]["Timestamp"];
            /** @description When the USDC had arrived, finally. Null: not yet */
            completed_at: components["schemas"]["Timestamp"] | null;
        };
        DepositChange: {
            deposit_id: components["schemas"]["DepositId"];
            status: components["schemas"]["DepositStatus"];
            wallet_id: components["schemas"]["WalletId"];
            provider: components["schemas"]["OnrampProvider"];
            fiat_currency: components["schemas"]["FiatCurrency"];
            fiat_amount: components["schemas"]["FiatAmount"];
            /** @description The provider’s estimate, and after completion the amount that arrived. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"] | null;
            /** @description The transfer on chain, null until it is seen */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /**
             * @description Why it failed, or what keeps a settling deposit from completing
             * @example null
             */
            problem: {
                /** @description What happened, for programs */
                code: string;
                /** @description What happened, for people */
                message: string;
            } | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description When the deposit expires if it is not paid */
            expires_at: components["schemas"]["Timestamp"];
            /** @description When the USDC had arrived, finally. Null: not yet */
            completed_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @description Id of the deposit, beginning with dep_ (TypeID: UUIDv7 in base32)
         * @example dep_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        DepositId: string;
        /**
         * @description settling: the provider reports that it has sent the USDC. completed: the transfer is finalized on chain
         * @enum {string}
         */
        DepositStatus: "created" | "awaiting_payment" | "processing" | "settling" | "completed" | "failed" | "cancelled" | "expired";
        /**
         * @description Mail address
         * @example ada@example.com
         */
        Email: string;
        /**
         * @description Id of the endpoint, beginning with whe_ (TypeID: UUIDv7 in base32)
         * @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        EndpointId: string;
        /**
         * @description test or live. Each is a separate deployment
         * @enum {string}
         */
        Environment: "test" | "live";
        /** @description Stored for 30 days */
        Event: {
            event_id: components["schemas"]["EventId"];
            type: components["schemas"]["EventType"];
            /**
             * @description The object of the event: a quote, settlement, decline, refund, withdrawal, deposit, delegate or service
             * @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs
             */
            object_id: string;
            /** @description When it happened */
            created_at: components["schemas"]["Timestamp"];
            /**
             * @description A refund, withdrawal or deposit has the fields of its GET. A settlement has ids, amounts and `role`, the account’s role in it: `payer` or `vendor`. A decline has the fields of GET /v1/declines and `role`. The data never contain a token or a key.
             * @example {
             *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
             *       "role": "vendor"
             *     }
             */
            data: {
                [key: string]: components["schemas"]["__schema0"];
            };
        };
        /**
         * @description Id of the event, beginning with evt_ (TypeID: UUIDv7 in base32)
         * @example evt_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        EventId: string;
        /**
         * @description The object and what happened to it
         * @enum {string}
         */
        EventType: "quote.settling" | "quote.settled" | "quote.expired" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test";
        Fees: {
            /** @description Of all payments that are under way or confirmed, or failed on chain. In USDC micro-units */
            accrued: components["schemas"]["MicroUsdcOrZero"];
            /** @description What the account has paid of them. In USDC micro-units */
            paid: components["schemas"]["MicroUsdcOrZero"];
            /** @description What is still to pay. In USDC micro-units */
            owed: components["schemas"]["MicroUsdcOrZero"];
            /** @description How much the account may owe. It rises with what the account has paid of its fees. In USDC micro-units */
            credit: components["schemas"]["MicroUsdcOrZero"];
        };
        /**
         * @description Amount in the fiat currency, including the provider’s fees
         * @example 50.00
         */
        FiatAmount: string;
        /**
         * @description ISO 4217
         * @example USD
         */
        FiatCurrency: string;
        /**
         * @description Chosen by the client, a new one for each object to create (for example a UUID). A repeat with the same key and the same request within 24 hours creates nothing. It gets the first answer, with the header `idempotent-replayed: true`. Another request with the same key is refused. Keys are separate per account and operation.
         * @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17
         */
        IdempotencyKey: string;
        /**
         * @description An address or a CIDR block
         * @example 203.0.113.0/24
         */
        IpBlock: string;
        KeyChange: {
            /** @description Whose key it is. Null for the key of a delegate */
            service_id: components["schemas"]["ServiceId"] | null;
            /** @description Whose key it is. Null for the key of a service */
            delegate_id: components["schemas"]["DelegateId"] | null;
            /** @description Until then the previous key works, too. Null: there is none */
            previous_key_expires_at: components["schemas"]["Timestamp"] | null;
        };
        ListedKey: {
            /**
             * @description Id of the key
             * @example key_01kapbqv1ge0krf0fxxfcz15re
             */
            key_id: string;
            /** @description The service that it belongs to. Null: a delegate */
            service_id: components["schemas"]["ServiceId"] | null;
            /** @description The delegate that it belongs to. Null: a service */
            delegate_id: components["schemas"]["DelegateId"] | null;
            /**
             * @description Name of the service or delegate
             * @example Weather API
             */
            name: string;
            /**
             * @description How the key begins
             * @example vendor_test_V7mq
             */
            beginning: string;
            /** @description false: a rotation has replaced it, and its grace period runs */
            current: boolean;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it was last used, exact to an hour. Null: never */
            last_used_at: components["schemas"]["Timestamp"] | null;
            /** @description When it ends by itself. Null: never */
            expires_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @description USDC micro-units (1 USDC = 1,000,000) as decimal digits
         * @example 2500000
         */
        MicroUsdc: string;
        /**
         * @description USDC micro-units as decimal digits, zero included
         * @example 0
         */
        MicroUsdcOrZero: string;
        /** @description The key is shown only in this answer */
        NewKey: {
            /**
             * @description The key. It is shown only in this answer. Keep it secret
             * @example vendor_test_Zk3mQ9
             */
            api_key: string;
            /** @description Until when the previous key works, too. Null: it works no longer */
            previous_key_expires_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @description Who sells the USDC: MoonPay or Coinbase Onramp
         * @enum {string}
         */
        OnrampProvider: "moonpay" | "coinbase";
        OutgoingPayment: {
            settlement_id: components["schemas"]["SettlementId"];
            /**
             * @description pending: signed, and not seen on chain yet. The amount stays reserved until the payment is seen, or until it is proven that it can no longer be included
             * @enum {string}
             */
            status: "pending" | "confirmed";
            /**
             * @description Value of the header PAYMENT-SIGNATURE (x402 version 1: X-PAYMENT). Every answer to the same attempt has the same value
             * @example eyJ4NDAyVmVyc2lvbiI6Mn0=
             */
            payment_signature: string;
            /** @description The signed transaction, without the fee payer’s signature */
            transaction: components["schemas"]["WireTransaction"];
            /** @description The transaction on chain. Null until it is seen there */
            tx_hash: components["schemas"]["TransactionHash"] | null;
        };
        Passkey: {
            passkey_id: components["schemas"]["PasskeyId"];
            /**
             * @description A name for the owner
             * @example Laptop
             */
            label: string;
            /** @description Synced between devices by its provider */
            backed_up: boolean;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description When it last signed in or approved. Null: never */
            last_used_at: components["schemas"]["Timestamp"] | null;
        };
        /**
         * @description Id of the passkey, beginning with pk_ (TypeID: UUIDv7 in base32)
         * @example pk_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        PasskeyId: string;
        /**
         * @description Chosen by the client, unique per payment attempt. It is the idempotency key of settle
         * @example order-1042-1
         */
        PaymentAttemptId: string;
        /** @description To be signed by the wallet and sent back before it expires */
        Prepared: {
            /** @description For the owner to sign. Every signature slot is empty */
            transaction: components["schemas"]["WireTransaction"];
            /** @description When the transaction expires, after 60 to 90 s. Then have it prepared again */
            expires_at: components["schemas"]["Timestamp"];
        };
        PreparedRefund: {
            refund_id: components["schemas"]["RefundId"];
            status: components["schemas"]["RefundStatus"];
            settlement_id: components["schemas"]["SettlementId"];
            service_id: components["schemas"]["ServiceId"];
            /** @description The address that the settlement paid, whose key signs the refund */
            payout_address: components["schemas"]["SolanaAddress"];
            /** @description What the destination receives. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /** @description The wallet or token account that receives it */
            destination_address: components["schemas"]["SolanaAddress"];
            /** @description The token account that receives it */
            destination_token_account: components["schemas"]["SolanaAddress"];
            /** @description The transaction on chain. Null until it is seen there */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /**
             * @description Why it failed. Null: it has not failed
             * @example null
             */
            failure: {
                /** @description Why it failed, for programs */
                code: string;
                /** @description Why it failed, for people */
                message: string;
            } | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description Until then it can be signed and submitted. Afterwards it is expired */
            pending_until: components["schemas"]["Timestamp"];
            /**
             * @description Why the vendor refunds
             * @example The report was empty
             */
            reason: string | null;
            /** @description To be signed by the owner. Every signature slot is empty */
            transaction: components["schemas"]["WireTransaction"];
            /** @description When the transaction expires, after 60 to 90 s. Then have it prepared again */
            expires_at: components["schemas"]["Timestamp"];
        };
        PreparedWithdrawal: {
            withdrawal_id: components["schemas"]["WithdrawalId"];
            status: components["schemas"]["WithdrawalStatus"];
            wallet_id: components["schemas"]["WalletId"];
            /** @description What the destination receives. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /** @description The wallet or token account that receives it */
            destination_address: components["schemas"]["SolanaAddress"];
            /** @description The token account that receives it */
            destination_token_account: components["schemas"]["SolanaAddress"];
            /** @description The transaction on chain. Null until it is seen there */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /**
             * @description Why it failed. Null: it has not failed
             * @example null
             */
            failure: {
                /** @description Why it failed, for programs */
                code: string;
                /** @description Why it failed, for people */
                message: string;
            } | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description Until then it can be signed and submitted. Afterwards it is expired */
            pending_until: components["schemas"]["Timestamp"];
            /** @description To be signed by the owner. Every signature slot is empty */
            transaction: components["schemas"]["WireTransaction"];
            /** @description When the transaction expires, after 60 to 90 s. Then have it prepared again */
            expires_at: components["schemas"]["Timestamp"];
        };
        Quote: {
            quote_id: components["schemas"]["QuoteId"];
            /** @description The signed quote. Give it to the payer */
            quote_token: components["schemas"]["CompactToken"];
            /** @description What the payer pays. In USDC micro-units */
            quote_amount: components["schemas"]["MicroUsdc"];
            /**
             * @description What the platform gets of it. In USDC micro-units
             * @example 12500
             */
            fee_amount: components["schemas"]["MicroUsdcOrZero"];
            currency: components["schemas"]["Currency"];
            /** @description Until when the quote can be paid */
            expires_at: components["schemas"]["Timestamp"];
            status: components["schemas"]["QuoteStatus"];
        };
        /**
         * @description Id of the quote, beginning with q_ (TypeID: UUIDv7 in base32)
         * @example q_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        QuoteId: string;
        QuoteProgress: {
            quote_id: components["schemas"]["QuoteId"];
            service_id: components["schemas"]["ServiceId"];
            /** @description The settlement that pays the quote */
            settlement_id: components["schemas"]["SettlementId"];
            /** @description What the payer pays. In USDC micro-units */
            quote_amount: components["schemas"]["MicroUsdc"];
            /**
             * @description What the platform gets of it. In USDC micro-units
             * @example 12500
             */
            fee_amount: components["schemas"]["MicroUsdcOrZero"];
            /**
             * @description What the vendor gets of it. In USDC micro-units
             * @example 2487500
             */
            net_amount: components["schemas"]["MicroUsdcOrZero"];
        };
        /** @description A quote as its vendor reads it */
        QuoteRecord: {
            quote_id: components["schemas"]["QuoteId"];
            /** @description The signed quote. Give it to the payer */
            quote_token: components["schemas"]["CompactToken"];
            /** @description What the payer pays. In USDC micro-units */
            quote_amount: components["schemas"]["MicroUsdc"];
            /**
             * @description What the platform gets of it. In USDC micro-units
             * @example 12500
             */
            fee_amount: components["schemas"]["MicroUsdcOrZero"];
            currency: components["schemas"]["Currency"];
            /** @description Until when the quote can be paid */
            expires_at: components["schemas"]["Timestamp"];
            status: components["schemas"]["QuoteStatus"];
            service_id: components["schemas"]["ServiceId"];
            /**
             * @description Seconds to redeem the settlement, after it is paid
             * @example 900
             */
            redeem_window_seconds: number;
            scope: components["schemas"]["Scope"] | null;
            /** @description The settlement that pays the quote. Null: there is none */
            settlement_id: components["schemas"]["SettlementId"] | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @description pending: not paid. settling: a payment is under way. settled: paid. expired: not paid in time
         * @enum {string}
         */
        QuoteStatus: "pending" | "settling" | "settled" | "expired";
        /**
         * @description quittance: paid by POST /v1/settle. x402, mpp: paid by a client of that protocol. x402_out: paid by POST /v1/payments to a vendor that does not use Quittance
         * @enum {string}
         */
        Rail: "quittance" | "x402" | "mpp" | "x402_out";
        /**
         * @description Compact JWS (RFC 7515) with EdDSA
         * @example eyJhbGciOiJFZERTQSIsImtpZCI6InRlc3Quc2V0dGxlbWVudC4xIn0.eyJpc3MiOiJodHRwczovL2FwaSJ9.c2lnbmF0dXJl
         */
        Receipt: string;
        ReceiptClaims: {
            /**
             * @description The address of the API that signed it
             * @example https://api.quittance.example
             */
            iss: string;
            /** @description Of the payment. A payment of test moved no real money */
            env: components["schemas"]["Environment"];
            /**
             * @description When it was signed, in seconds since 1970. It states what was known then
             * @example 1795255200
             */
            iat: number;
            settlement_id: components["schemas"]["SettlementId"];
            rail: components["schemas"]["Rail"];
            status: components["schemas"]["SettlementStatus"];
            /** @description `failed`: the chain reversed the payment after it was confirmed */
            chain_status: components["schemas"]["ChainStatus"];
            /**
             * @description CAIP-2 id of the chain
             * @example solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1
             */
            network: string;
            /** @description Null for a payment of another protocol */
            quote: {
                quote_id: components["schemas"]["QuoteId"];
                /** @description When the vendor made the quote */
                issued_at: components["schemas"]["Timestamp"];
            } | null;
            /** @description Who was paid */
            vendor: {
                /** @description Null for an outgoing payment of x402 */
                service_id: components["schemas"]["ServiceId"] | null;
                /**
                 * @description The name when the payment was priced
                 * @example Weather API
                 */
                service_name: string;
                /** @description The address that was paid */
                payout_address: components["schemas"]["SolanaAddress"];
            };
            /** @description Owner of the wallet that paid. Of a client of another protocol: the address that signed */
            payer_address: components["schemas"]["SolanaAddress"];
            /** @description How much was paid */
            amount: {
                /** @description What the payer paid. In USDC micro-units */
                gross: components["schemas"]["MicroUsdc"];
                /** @description What the transaction paid to the platform. In USDC micro-units */
                fee: components["schemas"]["MicroUsdcOrZero"];
                /** @description What the vendor received. In USDC micro-units */
                net: components["schemas"]["MicroUsdc"];
                currency: components["schemas"]["Currency"];
                /** @description The mint of USDC on this network */
                mint: components["schemas"]["SolanaAddress"];
            };
            /** @description The transaction on chain */
            transaction: {
                /** @description Its signature, which names it on chain */
                signature: components["schemas"]["TransactionHash"];
                /** @description Earlier transactions of this payment, which a fork replaced */
                superseded: components["schemas"]["TransactionHash"][];
            };
            /** @description When the payment was confirmed on chain */
            confirmed_at: components["schemas"]["Timestamp"];
            /** @description When the vendor redeemed it. Null: not redeemed */
            redeemed_at: components["schemas"]["Timestamp"] | null;
            /** @description The confirmed refunds, oldest first, at most 50 */
            refunds: components["schemas"]["ReceiptRefund"][];
            /** @description Number of all confirmed refunds */
            refund_count: number;
            /** @description Sum of all confirmed refunds. In USDC micro-units */
            refunded: components["schemas"]["MicroUsdcOrZero"];
        };
        ReceiptRefund: {
            refund_id: components["schemas"]["RefundId"];
            /** @description What the payer got back. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /** @description The transaction on chain */
            signature: components["schemas"]["TransactionHash"];
            /**
             * @description finalized: no fork can undo it any more
             * @enum {string}
             */
            status: "confirmed" | "finalized";
            /** @description When the refund was requested */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @description Chosen by the vendor’s replica that redeems, so that it recognizes its own repeat
         * @example replica-1-request-88
         */
        RedeemId: string;
        Refund: {
            refund_id: components["schemas"]["RefundId"];
            status: components["schemas"]["RefundStatus"];
            settlement_id: components["schemas"]["SettlementId"];
            service_id: components["schemas"]["ServiceId"];
            /** @description The address that the settlement paid, whose key signs the refund */
            payout_address: components["schemas"]["SolanaAddress"];
            /** @description What the destination receives. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /** @description The wallet or token account that receives it */
            destination_address: components["schemas"]["SolanaAddress"];
            /** @description The token account that receives it */
            destination_token_account: components["schemas"]["SolanaAddress"];
            /** @description The transaction on chain. Null until it is seen there */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /**
             * @description Why it failed. Null: it has not failed
             * @example null
             */
            failure: {
                /** @description Why it failed, for programs */
                code: string;
                /** @description Why it failed, for people */
                message: string;
            } | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description Until then it can be signed and submitted. Afterwards it is expired */
            pending_until: components["schemas"]["Timestamp"];
            /**
             * @description Why the vendor refunds
             * @example The report was empty
             */
            reason: string | null;
        };
        /**
         * @description Id of the refund, beginning with ref_ (TypeID: UUIDv7 in base32)
         * @example ref_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        RefundId: string;
        /**
         * @description pending_signature: waits for the signature of the payout address. submitted: sent to the chain. confirmed, finalized: the money has arrived. failed, cancelled, expired: no money moved and none will
         * @enum {string}
         */
        RefundStatus: "pending_signature" | "submitted" | "confirmed" | "finalized" | "failed" | "cancelled" | "expired";
        /**
         * @description Chosen by the vendor for each delivery, unique within the settlement
         * @example Weather API
         */
        RequestId: string;
        /**
         * @description What the quote is for: any JSON object, at most 4096 bytes, without the character U+0000. The token signs it
         * @example {
         *       "resource": "https://api.example.com/report"
         *     }
         */
        Scope: {
            [key: string]: components["schemas"]["__schema0"];
        };
        SecurityEvent: {
            security_event_id: components["schemas"]["SecurityEventId"];
            /**
             * @description passkey_copied: a sign-in was refused, because the passkey may be a copy. key_reveal: a link to a new key was requested. key_revealed: that link was used. key_mails_off: mails about keys were turned off. session_reused: an old refresh token was used again, so the sign-in was ended. delegate_widened: a delegate may do more. allowed_ips_changed: the keys of a service work from other addresses. export_made: a program has announced an export
             * @enum {string}
             */
            kind: "signed_in" | "device_signed_in" | "passkey_added" | "passkey_removed" | "passkey_copied" | "key_created" | "key_rotated" | "key_reveal" | "key_revealed" | "keys_revoked" | "payout_changed" | "allowed_ips_changed" | "key_mails_off" | "account_limits_changed" | "first_payment" | "session_reused" | "delegate_created" | "delegate_widened" | "external_allowed" | "device_allowed" | "wallet_linked" | "default_wallet_changed" | "backup_read" | "backup_replaced" | "warnings_reduced" | "withdrawal_approved" | "refund_created" | "endpoint_created" | "endpoint_changed" | "endpoint_deleted" | "endpoint_secret_rotated" | "account_closed" | "export_made";
            /**
             * @description What it was about: names, ids, how a sign-in was made
             * @example {
             *       "method": "passkey"
             *     }
             */
            details: {
                [key: string]: string;
            };
            /**
             * @description The network from which it was done. Null: unknown, or not by a call
             * @example 203.0.113.0/24
             */
            address: string | null;
            /**
             * @description The kind of program that did it, by its own word
             * @example Firefox
             */
            agent: string | null;
            /** @description When it happened */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @description Id of the security event, beginning with sev_ (TypeID: UUIDv7 in base32)
         * @example sev_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        SecurityEventId: string;
        Service: {
            service_id: components["schemas"]["ServiceId"];
            /**
             * @description Payers see it
             * @example Weather API
             */
            name: string;
            /** @description What the payer pays, unless a quote has its own amount. In USDC micro-units */
            price: components["schemas"]["MicroUsdc"];
            /** @description The wallet that is paid */
            payout_address: components["schemas"]["SolanaAddress"];
            /** @description A change of the payout address that is not effective yet. Null: none */
            next_payout: {
                /** @description The wallet that is paid */
                payout_address: components["schemas"]["SolanaAddress"];
                /** @description From when payments go there */
                effective_at: components["schemas"]["Timestamp"];
            } | null;
            /**
             * @description Seconds to redeem a settlement, after it is paid
             * @example 900
             */
            redeem_window_seconds: number;
            /**
             * @description Hours for which a key remains valid after its rotation
             * @example 24
             */
            key_grace_hours: number;
            /**
             * @description closing: no new quotes. Payments can still be redeemed and refunded
             * @enum {string}
             */
            status: "active" | "closing";
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description From where the keys of the service may be used. Null: from any address */
            allowed_ips: components["schemas"]["IpBlock"][] | null;
            /** @description The fee of a quote for the price. In USDC micro-units */
            fee_amount: components["schemas"]["MicroUsdcOrZero"];
            /** @description What you receive of a quote for the price: the price less the fee. In USDC micro-units */
            net_amount: components["schemas"]["MicroUsdcOrZero"];
        };
        /**
         * @description Id of the vendor’s service, a UUID
         * @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17
         */
        ServiceId: string;
        Session: {
            /**
             * @description The credential of this person: a JWT, valid for `expires_in`
             * @example eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl
             */
            access_token: string;
            /**
             * @description How the access token is sent: `Authorization: Bearer …`
             * @constant
             */
            token_type: "Bearer";
            /**
             * @description Seconds until the access token expires
             * @example 900
             */
            expires_in: number;
            /**
             * @description Gets the next access token, once. Absent if it was set in the cookie
             * @example rt_test_Zk3mQ9
             */
            refresh_token?: string;
            /** @description Who signed in */
            account: {
                account_id: components["schemas"]["AccountId"];
                /**
                 * @description The mail address that signs in
                 * @example ada@example.com
                 */
                email: string;
            };
        };
        /**
         * @description Id of the session, beginning with ses_ (TypeID: UUIDv7 in base32)
         * @example ses_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        SessionId: string;
        Settlement: {
            settlement_id: components["schemas"]["SettlementId"];
            status: components["schemas"]["SettlementStatus"];
            chain_status: components["schemas"]["ChainStatus"];
            rail: components["schemas"]["Rail"];
            /** @description Null for a payment of another protocol */
            quote_id: components["schemas"]["QuoteId"] | null;
            /** @description Null for an outgoing payment of x402 */
            service_id: components["schemas"]["ServiceId"] | null;
            /**
             * @description The name when the payment was priced. Of an outgoing payment of x402: the host that was paid
             * @example Weather API
             */
            service_name: string;
            /** @description What the payer pays. In USDC micro-units */
            quote_amount: components["schemas"]["MicroUsdc"];
            /**
             * @description What the platform gets of it. In USDC micro-units
             * @example 12500
             */
            fee_amount: components["schemas"]["MicroUsdcOrZero"];
            /**
             * @description What the vendor gets of it. In USDC micro-units
             * @example 2487500
             */
            net_amount: components["schemas"]["MicroUsdc"];
            scope: components["schemas"]["Scope"] | null;
            /** @description Units that were paid. Only of a prepaid settlement */
            units_total?: number;
            /** @description Units that are left. Only of a prepaid settlement */
            units_remaining?: number;
            /** @description The transaction on chain. Null until it is seen there */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /** @description Earlier transactions of this payment, which a fork replaced */
            superseded_tx_hashes: components["schemas"]["TransactionHash"][];
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description Until when the vendor can redeem it. Null: not paid yet */
            redeem_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description When the vendor redeemed it. Null: not redeemed */
            redeemed_at: components["schemas"]["Timestamp"] | null;
            /**
             * @description Why it failed. Null: it has not failed
             * @example null
             */
            failure: {
                /** @description Why it failed, for programs */
                code: string;
                /** @description Why it failed, for people */
                message: string;
            } | null;
            /** @description Address that signed. Only of a payment of another protocol */
            payer_address?: components["schemas"]["SolanaAddress"];
            /**
             * @description What the client said it pays for. Only of a payment of another protocol
             * @example https://api.example.com/report
             */
            resource?: string;
            /** @description Fee that the vendor owes for an x402 payment. 0: it failed. Shown only to the vendor. In USDC micro-units */
            accrued_fee?: components["schemas"]["MicroUsdcOrZero"];
            /** @description Which delivery redeemed it; of x402 the hand-out of its success. Null: none. Shown only to the vendor of a payment of another protocol */
            redeem_id?: components["schemas"]["RedeemId"] | null;
            /** @description Address that is paid. Only of an outgoing payment of x402 */
            pay_to?: components["schemas"]["SolanaAddress"];
            /** @description The id that the payer chose. Shown only to the payer */
            payment_attempt_id?: components["schemas"]["PaymentAttemptId"];
            /** @description The wallet that pays. Shown only to the payer */
            wallet_id?: components["schemas"]["WalletId"];
            /** @description The delegate whose key paid; null: the account itself. Shown only to the payer */
            delegate_id?: components["schemas"]["DelegateId"] | null;
            /** @description Proof of the payment, for the vendor. Shown only to the payer, after it is issued */
            settlement_token?: components["schemas"]["CompactToken"];
            /** @description The quote that was paid. Shown only to the payer, and not in lists */
            quote_token?: components["schemas"]["CompactToken"];
        };
        /**
         * @description Id of the settlement, beginning with stl_ (TypeID: UUIDv7 in base32)
         * @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        SettlementId: string;
        /**
         * @description pending: the payment is under way. issued: it is confirmed and can be redeemed. redeemed: the vendor delivers. expired: paid, and not redeemed in time. failed: no money moved and none will
         * @enum {string}
         */
        SettlementStatus: "pending" | "issued" | "redeemed" | "expired" | "failed";
        SignIn: {
            session_id: components["schemas"]["SessionId"];
            /** @description Whether this call was made with it */
            current: boolean;
            /** @description false: it has ended, and its delegates have not */
            open: boolean;
            /**
             * @description How it was made. device: confirmed in the console for a command line
             * @enum {string}
             */
            method: "email" | "passkey" | "device";
            /** @description Of a device: the name that it gave itself */
            client_name: string | null;
            /** @description When the person signed in */
            signed_in_at: components["schemas"]["Timestamp"];
            /** @description When it was last used to get an access token */
            last_refreshed_at: components["schemas"]["Timestamp"];
            /** @description When it ends if it is not refreshed, or has ended */
            expires_at: components["schemas"]["Timestamp"];
            /** @description The delegates that a device made with it and that work. They end with it */
            delegates: {
                delegate_id: components["schemas"]["DelegateId"];
                /**
                 * @description Name of the delegate
                 * @example Research agent
                 */
                name: string;
            }[];
        };
        /**
         * @description Base58 address
         * @example Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u
         */
        SolanaAddress: string;
        SpendingSummary: {
            /** @description Begin of the range */
            from: components["schemas"]["Timestamp"];
            /** @description End of the range, which is not part of it */
            to: components["schemas"]["Timestamp"];
            /** @description Gross, fees included. In USDC micro-units */
            total_spent: components["schemas"]["MicroUsdcOrZero"];
            /** @description Refunds that arrived in this range. In USDC micro-units */
            total_refunded: components["schemas"]["MicroUsdcOrZero"];
            /** @description What the platform got of the payments. In USDC micro-units */
            total_fees: components["schemas"]["MicroUsdcOrZero"];
            /** @description Number of payments */
            payment_count: number;
            /** @description At most 1,000 groups, those with the most spent. The totals include all groups */
            groups: {
                /** @description Day, service_id or delegate_id; null: paid by the account itself and not by a delegate, or to vendors that do not use Quittance and have no service_id */
                key: (string | components["schemas"]["ServiceId"] | components["schemas"]["DelegateId"]) | null;
                /** @description Gross, fees included. In USDC micro-units */
                spent: components["schemas"]["MicroUsdc"];
                /** @description Number of payments of this group */
                payment_count: number;
            }[];
        };
        /**
         * Format: date-time
         * @description ISO 8601, UTC
         * @example 2026-11-21T10:00:00.000Z
         */
        Timestamp: string;
        /** @description A transfer on chain as one account sees it */
        Transaction: {
            transaction_id: components["schemas"]["TransactionId"];
            type: components["schemas"]["TransactionType"];
            /**
             * @description in: the account received it. out: the account sent it
             * @enum {string}
             */
            direction: "in" | "out";
            /** @description The amount that left or reached the account. Of a payment: the gross amount for its payer, the net amount for its vendor. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /** @description The platform’s fee on the payment. It is included in the payer’s amount and not in the vendor’s. In USDC micro-units */
            fee_amount: components["schemas"]["MicroUsdcOrZero"];
            /**
             * @description finalized: no fork can undo it any more. reversed: a fork has undone it
             * @enum {string}
             */
            status: "confirmed" | "finalized" | "reversed";
            /** @description The transaction on chain */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /**
             * @description The settlement, deposit, withdrawal, refund or test funding
             * @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs
             */
            object_id: string;
            /** @description Set for a payment and its refund */
            service_id: components["schemas"]["ServiceId"] | null;
            /** @description The delegate that paid, or whose payment was refunded. Shown only to the payer */
            delegate_id: components["schemas"]["DelegateId"] | null;
            /** @description When the transfer was first seen confirmed */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @description Base58 signature of the transaction on chain
         * @example 5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW
         */
        TransactionHash: string;
        /**
         * @description Id of the transaction, beginning with txn_ (TypeID: UUIDv7 in base32)
         * @example txn_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        TransactionId: string;
        /**
         * @description What the transfer is. dev_fund: test USDC
         * @enum {string}
         */
        TransactionType: "payment" | "deposit" | "withdrawal" | "refund" | "dev_fund";
        /**
         * @description The code that the device shows and the person types
         * @example WDJB-MJHT
         */
        UserCode: string;
        Wallet: {
            wallet_id: components["schemas"]["WalletId"];
            /**
             * @description external: linked by its owner. provisioned: made by a client of ours
             * @enum {string}
             */
            kind: "external" | "provisioned";
            /** @description The public key of the wallet */
            address: components["schemas"]["SolanaAddress"];
            /** @description The account on chain that holds its USDC */
            token_account: components["schemas"]["SolanaAddress"];
            /**
             * @description Chosen by the owner
             * @example Main wallet
             */
            label: string | null;
            /** @description Whether the token account existed and was closed, or was given to another owner */
            token_account_closed: boolean;
            /** @description The USDC in the wallet, as of `delegation.as_of`. In USDC micro-units */
            balance: components["schemas"]["MicroUsdcOrZero"];
            delegation: components["schemas"]["Delegation"];
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @description Id of the wallet, beginning with wal_ (TypeID: UUIDv7 in base32)
         * @example wal_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        WalletId: string;
        WebhookDelivery: {
            event_id: components["schemas"]["EventId"];
            type: components["schemas"]["EventType"];
            status: components["schemas"]["DeliveryStatus"];
            /** @description The last 16 attempts, oldest first */
            attempts: {
                /** @description When it was made */
                at: components["schemas"]["Timestamp"];
                /**
                 * @description HTTP status of the answer. Null: there was none
                 * @example 200
                 */
                status_code: number | null;
                /** @description Why it failed. Null: it succeeded */
                error: ("timeout" | "unreachable" | "not_resolved" | "address_refused" | "tls" | "redirect" | "status") | null;
                /**
                 * @description Milliseconds until the answer or the failure
                 * @example 84
                 */
                duration_ms: number;
                /**
                 * @description The beginning of the answer’s body, at most 200 characters
                 * @example ok
                 */
                response: string | null;
            }[];
            /** @description When the next attempt is made. Null: none */
            next_attempt_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
        };
        WebhookEndpoint: {
            endpoint_id: components["schemas"]["EndpointId"];
            /**
             * @description An https URL with a public address, port 443 or from 1024. Redirects are not followed
             * @example https://api.example.com/quittance
             */
            url: string;
            /** @description A note for the owner */
            description: string | null;
            /**
             * @description Types, groups like `settlement.*`, or `*` for all
             * @example [
             *       "settlement.*"
             *     ]
             */
            event_types: ("*" | "quote.*" | "settlement.*" | "refund.*" | "withdrawal.*" | "deposit.*" | "delegate.*" | "approval.*" | "key.*" | "quote.settling" | "quote.settled" | "quote.expired" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test")[];
            /**
             * @description Whether events are delivered
             * @example true
             */
            enabled: boolean;
            /** @description owner: disabled by PATCH. failing: every attempt failed for five days. gone: the endpoint answered 410 */
            disabled_reason: ("owner" | "failing" | "gone") | null;
            /** @description When the first failure since the last success was */
            failing_since: components["schemas"]["Timestamp"] | null;
            /** @description Until then deliveries are also signed with the previous secret */
            previous_secret_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
        };
        /**
         * @description Base64 of a Solana wire transaction
         * @example AQAAAAAAAAAAAAAAAAAAAA==
         */
        WireTransaction: string;
        Withdrawal: {
            withdrawal_id: components["schemas"]["WithdrawalId"];
            status: components["schemas"]["WithdrawalStatus"];
            wallet_id: components["schemas"]["WalletId"];
            /** @description What the destination receives. In USDC micro-units */
            amount: components["schemas"]["MicroUsdc"];
            /** @description The wallet or token account that receives it */
            destination_address: components["schemas"]["SolanaAddress"];
            /** @description The token account that receives it */
            destination_token_account: components["schemas"]["SolanaAddress"];
            /** @description The transaction on chain. Null until it is seen there */
            tx_hash: components["schemas"]["TransactionHash"] | null;
            /**
             * @description Why it failed. Null: it has not failed
             * @example null
             */
            failure: {
                /** @description Why it failed, for programs */
                code: string;
                /** @description Why it failed, for people */
                message: string;
            } | null;
            /** @description When it was created */
            created_at: components["schemas"]["Timestamp"];
            /** @description Until then it can be signed and submitted. Afterwards it is expired */
            pending_until: components["schemas"]["Timestamp"];
        };
        /**
         * @description Id of the withdrawal, beginning with wd_ (TypeID: UUIDv7 in base32)
         * @example wd_01kaj5w0c0e8h9x2m4n6p8q0rs
         */
        WithdrawalId: string;
        /**
         * @description pending_approval: waits for the owner’s signature. submitted: sent to the chain. confirmed, finalized: the money has arrived. failed, cancelled, expired: no money moved and none will
         * @enum {string}
         */
        WithdrawalStatus: "pending_approval" | "submitted" | "confirmed" | "finalized" | "failed" | "cancelled" | "expired";
        /**
         * @description What the client sent in its header
         * @example {
         *       "x402Version": 2,
         *       "accepted": {
         *         "scheme": "exact",
         *         "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
         *         "amount": "50000",
         *         "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
         *         "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
         *         "maxTimeoutSeconds": 60,
         *         "extra": {
         *           "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
         *         }
         *       },
         *       "payload": {
         *         "transaction": "AgAAAAAAAAAAAAAAAAAAAA=="
         *       }
         *     }
         */
        X402PaymentPayload: {
            /** @description The version of x402 */
            x402Version?: number;
            /** @description Always `exact` */
            scheme?: string;
            /** @description CAIP-2 id of the chain, or its name in version 1 */
            network?: string;
            /** @description What the client pays for */
            resource?: {
                /** @description Its URL */
                url?: string;
            } | null;
            /** @description The offer that the client has accepted, in version 2 */
            accepted?: components["schemas"]["X402PaymentRequirements"];
            /** @description The payment itself */
            payload: {
                /** @description The signed transaction, base64 */
                transaction: string;
            };
            /** @description Extensions of x402, for instance `payment-identifier` */
            extensions?: {
                [key: string]: components["schemas"]["__schema0"];
            } | null;
        };
        /**
         * @description The offer of the vendor’s 402
         * @example {
         *       "scheme": "exact",
         *       "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
         *       "amount": "50000",
         *       "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
         *       "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
         *       "maxTimeoutSeconds": 60,
         *       "extra": {
         *         "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
         *       }
         *     }
         */
        X402PaymentRequirements: {
            /** @description Always `exact` */
            scheme: string;
            /** @description CAIP-2 id of the chain, or its name in version 1 */
            network: string;
            /** @description The mint of USDC */
            asset: string;
            /** @description The address that is paid */
            payTo: string;
            /** @description The price in micro-units, in version 2 */
            amount?: string;
            /** @description The price in micro-units, in version 1 */
            maxAmountRequired?: string;
            /** @description What is paid for, in version 1 */
            resource?: string;
            /** @description How long the vendor waits for the payment */
            maxTimeoutSeconds?: number;
            /** @description What the scheme needs besides: the fee payer, a memo */
            extra?: {
                [key: string]: components["schemas"]["__schema0"];
            } | null;
        };
        /**
         * @description One entry of `accepts` of the vendor’s 402, unchanged
         * @example {
         *       "scheme": "exact",
         *       "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
         *       "amount": "50000",
         *       "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
         *       "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
         *       "maxTimeoutSeconds": 60,
         *       "extra": {
         *         "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
         *       }
         *     }
         */
        X402Requirement: {
            /** @description Always `exact` */
            scheme: string;
            /** @description CAIP-2 id of the chain, or its name in version 1 */
            network: string;
            /** @description The mint of USDC */
            asset: string;
            /** @description The address that is paid */
            payTo: components["schemas"]["SolanaAddress"];
            /** @description The price, in version 2. In USDC micro-units */
            amount?: components["schemas"]["MicroUsdc"];
            /** @description The price, in version 1. In USDC micro-units */
            maxAmountRequired?: components["schemas"]["MicroUsdc"];
            /** @description What the scheme needs besides */
            extra: {
                /** @description Who pays the fee of the transaction */
                feePayer: components["schemas"]["SolanaAddress"];
                /** @description The memo that the transaction must have */
                memo?: string;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "success": true,
         *       "transaction": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
         *       "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
         *       "payer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
         *       "amount": "50000",
         *       "extra": {
         *         "quittance": {
         *           "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
         *         }
         *       }
         *     }
         */
        X402SettleResponse: {
            /** @description Whether this call got the payment. Deliver only if it is true */
            success: boolean;
            /** @description The transaction on chain. Empty: none */
            transaction: string;
            /** @description CAIP-2 id of the chain, or its name in version 1 */
            network: string;
            /** @description The address that signed the payment */
            payer?: string;
            /** @description What was paid, in micro-units */
            amount?: string;
            /** @description Why not: a reason of x402 */
            errorReason?: string;
            /** @description Why not, for people */
            errorMessage?: string;
            /** @description Fields beyond x402 */
            extra?: {
                /** @description The payment in this API */
                quittance: {
                    settlement_id: components["schemas"]["SettlementId"];
                    /** @description Identifies this hand-out of the success */
                    hand_out_id?: string;
                };
            };
            /** @description Why it was refused. Absent: it was not */
            error?: {
                /** @description Code of the error, as other calls answer it */
                code: string;
                /** @description What is wrong, then what to do. For people */
                message: string;
                /**
                 * @description Whether money moved
                 * @enum {string}
                 */
                money_moved: "no" | "yes" | "unknown";
            };
        };
        /**
         * @example {
         *       "isValid": true,
         *       "payer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
         *     }
         */
        X402VerifyResponse: {
            /** @description Whether settle would accept it now */
            isValid: boolean;
            /** @description Why not: a reason of x402 */
            invalidReason?: string;
            /** @description Why not, for people */
            invalidMessage?: string;
            /** @description The address that signed the payment */
            payer?: string;
            /** @description Why it was refused. Absent: it was not */
            error?: {
                /** @description Code of the error, as other calls answer it */
                code: string;
                /** @description What is wrong, then what to do. For people */
                message: string;
                /**
                 * @description Whether money moved
                 * @enum {string}
                 */
                money_moved: "no" | "yes" | "unknown";
            };
        };
        __schema0: unknown;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "identity.listServices": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "name": "Weather API",
                     *           "price": "2500000",
                     *           "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "next_payout": {
                     *             "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *             "effective_at": "2026-11-21T10:00:00.000Z"
                     *           },
                     *           "redeem_window_seconds": 900,
                     *           "key_grace_hours": 24,
                     *           "status": "active",
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "allowed_ips": [
                     *             "203.0.113.0/24"
                     *           ],
                     *           "fee_amount": "0",
                     *           "net_amount": "0"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Service"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "identity.createService": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Weather API",
                 *       "price": "2500000",
                 *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *       "redeem_window_seconds": 900,
                 *       "key_grace_hours": 24,
                 *       "allow_off_curve": false
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Payers see it
                     * @example Weather API
                     */
                    name: string;
                    /** @description What the payer pays. It must exceed the fee, which the vendor absorbs: `net_amount` of the answer is what you receive. Prices of x402 routes may be lower. In USDC micro-units */
                    price: components["schemas"]["MicroUsdc"];
                    /** @description The wallet that is paid */
                    payout_address: components["schemas"]["SolanaAddress"];
                    /**
                     * @description Seconds to redeem a settlement, after it is paid. Default 900
                     * @example 900
                     */
                    redeem_window_seconds?: number;
                    /**
                     * @description Hours for which a key remains valid after its rotation. Default 24
                     * @example 24
                     */
                    key_grace_hours?: number;
                    /** @description Needed for a multisig vault as payout address */
                    allow_off_curve?: boolean;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "name": "Weather API",
                     *       "price": "2500000",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "next_payout": {
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "effective_at": "2026-11-21T10:00:00.000Z"
                     *       },
                     *       "redeem_window_seconds": 900,
                     *       "key_grace_hours": 24,
                     *       "status": "active",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "allowed_ips": [
                     *         "203.0.113.0/24"
                     *       ],
                     *       "fee_amount": "0",
                     *       "net_amount": "0",
                     *       "api_key": "vendor_test_Zk3mQ9"
                     *     }
                     */
                    "application/json": {
                        service_id: components["schemas"]["ServiceId"];
                        /**
                         * @description Payers see it
                         * @example Weather API
                         */
                        name: string;
                        /** @description What the payer pays, unless a quote has its own amount. In USDC micro-units */
                        price: components["schemas"]["MicroUsdc"];
                        /** @description The wallet that is paid */
                        payout_address: components["schemas"]["SolanaAddress"];
                        /** @description A change of the payout address that is not effective yet. Null: none */
                        next_payout: {
                            /** @description The wallet that is paid */
                            payout_address: components["schemas"]["SolanaAddress"];
                            /** @description From when payments go there */
                            effective_at: components["schemas"]["Timestamp"];
                        } | null;
                        /**
                         * @description Seconds to redeem a settlement, after it is paid
                         * @example 900
                         */
                        redeem_window_seconds: number;
                        /**
                         * @description Hours for which a key remains valid after its rotation
                         * @example 24
                         */
                        key_grace_hours: number;
                        /**
                         * @description closing: no new quotes. Payments can still be redeemed and refunded
                         * @enum {string}
                         */
                        status: "active" | "closing";
                        /** @description When it was created */
                        created_at: components["schemas"]["Timestamp"];
                        /** @description From where the keys of the service may be used. Null: from any address */
                        allowed_ips: components["schemas"]["IpBlock"][] | null;
                        /** @description The fee of a quote for the price. In USDC micro-units */
                        fee_amount: components["schemas"]["MicroUsdcOrZero"];
                        /** @description What you receive of a quote for the price: the price less the fee. In USDC micro-units */
                        net_amount: components["schemas"]["MicroUsdcOrZero"];
                        /**
                         * @description The key. It is shown only in this answer. Keep it secret
                         * @example vendor_test_Zk3mQ9
                         */
                        api_key: string;
                    } | {
                        service_id: components["schemas"]["ServiceId"];
                        /**
                         * @description Payers see it
                         * @example Weather API
                         */
                        name: string;
                        /** @description What the payer pays, unless a quote has its own amount. In USDC micro-units */
                        price: components["schemas"]["MicroUsdc"];
                        /** @description The wallet that is paid */
                        payout_address: components["schemas"]["SolanaAddress"];
                        /** @description A change of the payout address that is not effective yet. Null: none */
                        next_payout: {
                            /** @description The wallet that is paid */
                            payout_address: components["schemas"]["SolanaAddress"];
                            /** @description From when payments go there */
                            effective_at: components["schemas"]["Timestamp"];
                        } | null;
                        /**
                         * @description Seconds to redeem a settlement, after it is paid
                         * @example 900
                         */
                        redeem_window_seconds: number;
                        /**
                         * @description Hours for which a key remains valid after its rotation
                         * @example 24
                         */
                        key_grace_hours: number;
                        /**
                         * @description closing: no new quotes. Payments can still be redeemed and refunded
                         * @enum {string}
                         */
                        status: "active" | "closing";
                        /** @description When it was created */
                        created_at: components["schemas"]["Timestamp"];
                        /** @description From where the keys of the service may be used. Null: from any address */
                        allowed_ips: components["schemas"]["IpBlock"][] | null;
                        /** @description The fee of a quote for the price. In USDC micro-units */
                        fee_amount: components["schemas"]["MicroUsdcOrZero"];
                        /** @description What you receive of a quote for the price: the price less the fee. In USDC micro-units */
                        net_amount: components["schemas"]["MicroUsdcOrZero"];
                        /**
                         * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
                         * @constant
                         */
                        secret_already_shown: true;
                    };
                };
            };
        };
    };
    "quote.create": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                 *       "quote_amount": "2500000",
                 *       "currency": "USDC",
                 *       "expires_in_seconds": 600,
                 *       "redeem_window_seconds": 900,
                 *       "scope": {
                 *         "resource": "https://api.example.com/report"
                 *       }
                 *     }
                 */
                "application/json": {
                    service_id: components["schemas"]["ServiceId"];
                    /** @description What the payer pays. Default: the price of the service. In USDC micro-units */
                    quote_amount?: components["schemas"]["MicroUsdc"];
                    currency?: components["schemas"]["Currency"];
                    /**
                     * @description Seconds until the quote expires. Default 600
                     * @example 600
                     */
                    expires_in_seconds?: number;
                    /**
                     * @description Seconds to redeem the settlement, after it is paid. Default: those of the service, 900 unless changed
                     * @example 900
                     */
                    redeem_window_seconds?: number;
                    scope?: components["schemas"]["Scope"];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "quote_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                     *       "quote_amount": "2500000",
                     *       "fee_amount": "12500",
                     *       "currency": "USDC",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "status": "pending"
                     *     }
                     */
                    "application/json": components["schemas"]["Quote"];
                };
            };
        };
    };
    "settlement.redeem": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs */
                settlement_id: components["schemas"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "settlement_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                 *       "redeem_id": "replica-1-request-88"
                 *     }
                 */
                "application/json": {
                    /** @description The settlement token, as the payer gave it */
                    settlement_token: components["schemas"]["CompactToken"];
                    redeem_id?: components["schemas"]["RedeemId"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "redeemed",
                     *       "redeemed_at": "2026-11-21T10:00:00.000Z",
                     *       "redeem_id": "replica-1-request-88",
                     *       "replayed": false
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /**
                         * @description Also of a repeat, so read `replayed`
                         * @constant
                         */
                        status: "redeemed";
                        /** @description When it was redeemed first */
                        redeemed_at: components["schemas"]["Timestamp"];
                        /** @description The id that redeemed it first. Null: none was sent */
                        redeem_id: components["schemas"]["RedeemId"] | null;
                        /** @description Whether an earlier call has redeemed it. If it has, do not deliver again */
                        replayed: boolean;
                    };
                };
            };
        };
    };
    "settlement.verify": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs */
                settlement_id: components["schemas"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending",
                     *       "chain_status": "pending",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "quote_amount": "2500000",
                     *       "fee_amount": "12500",
                     *       "net_amount": "2487500",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "scope": {
                     *         "resource": "https://api.example.com/report"
                     *       },
                     *       "units_total": 1,
                     *       "units_remaining": 0,
                     *       "redeem_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "redeemed_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        status: components["schemas"]["SettlementStatus"];
                        chain_status: components["schemas"]["ChainStatus"];
                        /** @description The transaction on chain. Null until it is seen there */
                        tx_hash: components["schemas"]["TransactionHash"] | null;
                        /** @description What the payer pays. In USDC micro-units */
                        quote_amount: components["schemas"]["MicroUsdc"];
                        /**
                         * @description What the platform gets of it. In USDC micro-units
                         * @example 12500
                         */
                        fee_amount: components["schemas"]["MicroUsdcOrZero"];
                        /**
                         * @description What the vendor gets of it. In USDC micro-units
                         * @example 2487500
                         */
                        net_amount: components["schemas"]["MicroUsdc"];
                        service_id: components["schemas"]["ServiceId"];
                        scope: components["schemas"]["Scope"] | null;
                        /** @description Units that were paid. Only of a prepaid settlement */
                        units_total?: number;
                        /** @description Units that are left. Only of a prepaid settlement */
                        units_remaining?: number;
                        /** @description Until when the vendor can redeem it. Null: not paid yet */
                        redeem_expires_at: components["schemas"]["Timestamp"] | null;
                        /** @description When the vendor redeemed it. Null: not redeemed */
                        redeemed_at: components["schemas"]["Timestamp"] | null;
                    };
                };
            };
        };
    };
    "settlement.consume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs */
                settlement_id: components["schemas"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "settlement_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                 *       "units": 1,
                 *       "request_id": "Weather API"
                 *     }
                 */
                "application/json": {
                    /** @description The settlement token, as the payer gave it */
                    settlement_token: components["schemas"]["CompactToken"];
                    /** @description How many units to consume */
                    units: number;
                    request_id: components["schemas"]["RequestId"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "units_consumed": 1,
                     *       "units_remaining": 0
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /** @description Units of the settlement consumed by this request and all earlier ones */
                        units_consumed: number;
                        /** @description Units of the settlement that remain after this request */
                        units_remaining: number;
                    };
                };
            };
        };
    };
    "quote.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only quotes of this service */
                service_id?: components["schemas"]["ServiceId"];
                /** @description Only quotes of this status */
                status?: components["schemas"]["QuoteStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "quote_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                     *           "quote_amount": "2500000",
                     *           "fee_amount": "12500",
                     *           "currency": "USDC",
                     *           "expires_at": "2026-11-21T10:00:00.000Z",
                     *           "status": "pending",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "redeem_window_seconds": 900,
                     *           "scope": {
                     *             "resource": "https://api.example.com/report"
                     *           },
                     *           "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "created_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["QuoteRecord"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "quote.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example q_01kaj5w0c0e8h9x2m4n6p8q0rs */
                quote_id: components["schemas"]["QuoteId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "quote_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                     *       "quote_amount": "2500000",
                     *       "fee_amount": "12500",
                     *       "currency": "USDC",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "status": "pending",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "redeem_window_seconds": 900,
                     *       "scope": {
                     *         "resource": "https://api.example.com/report"
                     *       },
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["QuoteRecord"];
                };
            };
        };
    };
    "identity.getService": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17 */
                service_id: components["schemas"]["ServiceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "name": "Weather API",
                     *       "price": "2500000",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "next_payout": {
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "effective_at": "2026-11-21T10:00:00.000Z"
                     *       },
                     *       "redeem_window_seconds": 900,
                     *       "key_grace_hours": 24,
                     *       "status": "active",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "allowed_ips": [
                     *         "203.0.113.0/24"
                     *       ],
                     *       "fee_amount": "0",
                     *       "net_amount": "0"
                     *     }
                     */
                    "application/json": components["schemas"]["Service"];
                };
            };
        };
    };
    "identity.deleteService": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17 */
                service_id: components["schemas"]["ServiceId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "mode": "close"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Closes the service if it cannot be deleted yet
                     * @constant
                     */
                    mode?: "close";
                };
            };
        };
        responses: {
            /** @description OK, no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "identity.updateService": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17 */
                service_id: components["schemas"]["ServiceId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Weather API",
                 *       "price": "2500000",
                 *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *       "redeem_window_seconds": 900,
                 *       "key_grace_hours": 24,
                 *       "allow_off_curve": false,
                 *       "allowed_ips": [
                 *         "203.0.113.0/24"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Payers see it
                     * @example Weather API
                     */
                    name?: string;
                    /** @description What the payer pays. It must exceed the fee, which the vendor absorbs: `net_amount` of the answer is what you receive. Prices of x402 routes may be lower. In USDC micro-units */
                    price?: components["schemas"]["MicroUsdc"];
                    /** @description The wallet that is paid */
                    payout_address?: components["schemas"]["SolanaAddress"];
                    /**
                     * @description Seconds to redeem a settlement, after it is paid. Default 900
                     * @example 900
                     */
                    redeem_window_seconds?: number;
                    /**
                     * @description Hours for which a key remains valid after its rotation. Default 24
                     * @example 24
                     */
                    key_grace_hours?: number;
                    /** @description Needed for a multisig vault as payout address */
                    allow_off_curve?: boolean;
                    /** @description From where the keys of the service may be used. Null: from any address */
                    allowed_ips?: components["schemas"]["IpBlock"][] | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "name": "Weather API",
                     *       "price": "2500000",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "next_payout": {
                     *         "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "effective_at": "2026-11-21T10:00:00.000Z"
                     *       },
                     *       "redeem_window_seconds": 900,
                     *       "key_grace_hours": 24,
                     *       "status": "active",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "allowed_ips": [
                     *         "203.0.113.0/24"
                     *       ],
                     *       "fee_amount": "0",
                     *       "net_amount": "0"
                     *     }
                     */
                    "application/json": components["schemas"]["Service"];
                };
            };
        };
    };
    "identity.showFee": {
        parameters: {
            query: {
                /**
                 * @description A price in micro-units. In USDC micro-units
                 * @example 2500000
                 */
                price: components["schemas"]["MicroUsdc"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "price": "2500000",
                     *       "fee_amount": "0",
                     *       "net_amount": "0",
                     *       "lowest_price": "10001"
                     *     }
                     */
                    "application/json": {
                        /** @description The price that was asked for. In USDC micro-units */
                        price: components["schemas"]["MicroUsdc"];
                        /** @description The fee of a quote for the price. In USDC micro-units */
                        fee_amount: components["schemas"]["MicroUsdcOrZero"];
                        /** @description What you receive of a quote for the price: the price less the fee. In USDC micro-units */
                        net_amount: components["schemas"]["MicroUsdcOrZero"];
                        /**
                         * @description The lowest price that a service may have. In USDC micro-units
                         * @example 10001
                         */
                        lowest_price: components["schemas"]["MicroUsdc"];
                    };
                };
            };
        };
    };
    "identity.rotateServiceKey": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path: {
                /** @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17 */
                service_id: components["schemas"]["ServiceId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "revoke_previous": false
                 *     }
                 */
                "application/json": {
                    /** @description Revoke all other keys immediately. Without it the previous key stays valid for its grace period */
                    revoke_previous?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "previous_key_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "api_key": "vendor_test_Zk3mQ9"
                     *     }
                     */
                    "application/json": {
                        /** @description Until when the previous key works, too. Null: it works no longer */
                        previous_key_expires_at: components["schemas"]["Timestamp"] | null;
                        /**
                         * @description The key. It is shown only in this answer. Keep it secret
                         * @example vendor_test_Zk3mQ9
                         */
                        api_key: string;
                    } | {
                        /** @description Until when the previous key works, too. Null: it works no longer */
                        previous_key_expires_at: components["schemas"]["Timestamp"] | null;
                        /**
                         * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
                         * @constant
                         */
                        secret_already_shown: true;
                    };
                };
            };
        };
    };
    "identity.revealServiceKey": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17 */
                service_id: components["schemas"]["ServiceId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "revoke_previous": false
                 *     }
                 */
                "application/json": {
                    /** @description Revoke all other keys immediately. Without it the previous key stays valid for its grace period */
                    revoke_previous?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "sent"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The mail is on its way
                         * @constant
                         */
                        status: "sent";
                    };
                };
            };
        };
    };
    "identity.verifyServiceReveal": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17 */
                service_id: components["schemas"]["ServiceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "rv_test_Zk3mQ9"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The token of the mailed link
                     * @example rv_test_Zk3mQ9
                     */
                    token: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_key": "vendor_test_Zk3mQ9",
                     *       "previous_key_expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["NewKey"];
                };
            };
        };
    };
    "settlement.settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "quote_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                 *       "payment_attempt_id": "order-1042-1"
                 *     }
                 */
                "application/json": {
                    /** @description The signed quote, as the vendor gave it */
                    quote_token: components["schemas"]["CompactToken"];
                    payment_attempt_id: components["schemas"]["PaymentAttemptId"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "settlement_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                     *       "status": "confirmed",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "redeem_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "superseded_tx_hashes": [
                     *         "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /** @description Proof of the payment. The payer gives it to the vendor */
                        settlement_token: components["schemas"]["CompactToken"];
                        /**
                         * @description The payment is on chain
                         * @constant
                         */
                        status: "confirmed";
                        /** @description The transaction on chain */
                        tx_hash: components["schemas"]["TransactionHash"];
                        /** @description Until when the vendor can redeem it */
                        redeem_expires_at: components["schemas"]["Timestamp"];
                        /** @description Earlier transactions of this payment, which a fork replaced */
                        superseded_tx_hashes?: components["schemas"]["TransactionHash"][];
                    };
                };
            };
            /** @description Accepted, not final yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /**
                         * @description The payment is under way. Repeat the call with the same id
                         * @constant
                         */
                        status: "pending";
                        /** @description The transaction on chain. Null until it is seen there */
                        tx_hash: components["schemas"]["TransactionHash"] | null;
                    };
                };
            };
        };
    };
    "settlement.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs */
                settlement_id: components["schemas"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending",
                     *       "chain_status": "pending",
                     *       "rail": "quittance",
                     *       "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "service_name": "Weather API",
                     *       "quote_amount": "2500000",
                     *       "fee_amount": "12500",
                     *       "net_amount": "2487500",
                     *       "scope": {
                     *         "resource": "https://api.example.com/report"
                     *       },
                     *       "units_total": 1,
                     *       "units_remaining": 0,
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "superseded_tx_hashes": [
                     *         "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *       ],
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "redeem_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "redeemed_at": "2026-11-21T10:00:00.000Z",
                     *       "failure": null,
                     *       "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "resource": "https://api.example.com/report",
                     *       "accrued_fee": "0",
                     *       "redeem_id": "replica-1-request-88",
                     *       "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "payment_attempt_id": "order-1042-1",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "settlement_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                     *       "quote_token": "eyJ2IjoxfQ.c2lnbmF0dXJl"
                     *     }
                     */
                    "application/json": components["schemas"]["Settlement"];
                };
            };
        };
    };
    "settlement.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only settlements of this status */
                status?: components["schemas"]["SettlementStatus"];
                /** @description Only settlements that were paid in this way */
                rail?: components["schemas"]["Rail"];
                /** @description Only payments of this service */
                service_id?: components["schemas"]["ServiceId"];
                /** @description Only the payment of this attempt. For the payer */
                payment_attempt_id?: components["schemas"]["PaymentAttemptId"];
                /** @description Which side of the payments to list. For an access token. Default payer */
                role?: "payer" | "vendor";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "status": "pending",
                     *           "chain_status": "pending",
                     *           "rail": "quittance",
                     *           "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "service_name": "Weather API",
                     *           "quote_amount": "2500000",
                     *           "fee_amount": "12500",
                     *           "net_amount": "2487500",
                     *           "scope": {
                     *             "resource": "https://api.example.com/report"
                     *           },
                     *           "units_total": 1,
                     *           "units_remaining": 0,
                     *           "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *           "superseded_tx_hashes": [
                     *             "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *           ],
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "redeem_expires_at": "2026-11-21T10:00:00.000Z",
                     *           "redeemed_at": "2026-11-21T10:00:00.000Z",
                     *           "failure": null,
                     *           "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "resource": "https://api.example.com/report",
                     *           "accrued_fee": "0",
                     *           "redeem_id": "replica-1-request-88",
                     *           "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "payment_attempt_id": "order-1042-1",
                     *           "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "settlement_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                     *           "quote_token": "eyJ2IjoxfQ.c2lnbmF0dXJl"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Settlement"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "settlement.getReceipt": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs */
                settlement_id: components["schemas"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "receipt": "eyJhbGciOiJFZERTQSIsImtpZCI6InRlc3Quc2V0dGxlbWVudC4xIn0.eyJpc3MiOiJodHRwczovL2FwaSJ9.c2lnbmF0dXJl",
                     *       "receipt_url": "https://api.quittance.example/receipt#eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl",
                     *       "claims": {
                     *         "iss": "https://api.quittance.example",
                     *         "env": "test",
                     *         "iat": 1795255200,
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "rail": "quittance",
                     *         "status": "pending",
                     *         "chain_status": "pending",
                     *         "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                     *         "quote": {
                     *           "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "issued_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "vendor": {
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "service_name": "Weather API",
                     *           "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *         },
                     *         "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "amount": {
                     *           "gross": "2500000",
                     *           "fee": "0",
                     *           "net": "2500000",
                     *           "currency": "USDC",
                     *           "mint": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *         },
                     *         "transaction": {
                     *           "signature": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *           "superseded": [
                     *             "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *           ]
                     *         },
                     *         "confirmed_at": "2026-11-21T10:00:00.000Z",
                     *         "redeemed_at": "2026-11-21T10:00:00.000Z",
                     *         "refunds": [
                     *           {
                     *             "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *             "amount": "2500000",
                     *             "signature": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *             "status": "confirmed",
                     *             "created_at": "2026-11-21T10:00:00.000Z"
                     *           }
                     *         ],
                     *         "refund_count": 0,
                     *         "refunded": "0"
                     *       }
                     *     }
                     */
                    "application/json": {
                        receipt: components["schemas"]["Receipt"];
                        /**
                         * @description A page that verifies and shows the receipt, for people. Its fragment is the receipt, which no server sees
                         * @example https://api.quittance.example/receipt#eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl
                         */
                        receipt_url: string;
                        /** @description The content of the receipt */
                        claims: components["schemas"]["ReceiptClaims"];
                    };
                };
            };
        };
    };
    "settlement.listDeclines": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only declines of this quote */
                quote_id?: components["schemas"]["QuoteId"];
                /** @description Only declines of quotes of this service */
                service_id?: components["schemas"]["ServiceId"];
                /** @description Only declines of this delegate. For the payer */
                delegate_id?: components["schemas"]["DelegateId"];
                /** @description Only declines with this error code. For the payer */
                code?: "limit_exceeded" | "insufficient_funds" | "delegation_inactive" | "forbidden" | "conflict" | "quote_expired" | "approval_denied" | "approval_expired" | "service_unavailable";
                /** @description Which side of the payments to list. For an access token. Default payer */
                role?: "payer" | "vendor";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "decline_id": "dcl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "amount": "2500000",
                     *           "code": "limit_exceeded",
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "payment_attempt_id": "order-1042-1",
                     *           "reason": "per_payment",
                     *           "limit": {
                     *             "asked": "2500000",
                     *             "limit": "0",
                     *             "left": "0",
                     *             "resets_at": "2026-11-21T10:00:00.000Z"
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Decline"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "settlement.payExternal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "payment_attempt_id": "order-1042-1",
                 *       "resource": "https://api.example.com/report",
                 *       "x402_version": 1,
                 *       "requirement": {
                 *         "scheme": "exact",
                 *         "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                 *         "amount": "50000",
                 *         "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
                 *         "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *         "maxTimeoutSeconds": 60,
                 *         "extra": {
                 *           "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    payment_attempt_id: components["schemas"]["PaymentAttemptId"];
                    /**
                     * @description The URL that asked for the payment. The word of the caller: it is shown, and compared with `origins`
                     * @example https://api.example.com/report
                     */
                    resource: string;
                    /** @description The version of x402 that the vendor speaks. Default 2 */
                    x402_version?: 1 | 2;
                    requirement: components["schemas"]["X402Requirement"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending",
                     *       "payment_signature": "eyJ4NDAyVmVyc2lvbiI6Mn0=",
                     *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA==",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *     }
                     */
                    "application/json": components["schemas"]["OutgoingPayment"];
                };
            };
        };
    };
    "settlement.reportExternal": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs */
                settlement_id: components["schemas"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "payment_response": "eyJzdWNjZXNzIjp0cnVlfQ=="
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Value of the header PAYMENT-RESPONSE (x402 version 1: X-PAYMENT-RESPONSE)
                     * @example eyJzdWNjZXNzIjp0cnVlfQ==
                     */
                    payment_response: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /**
                         * @description failed: the payment can no longer be included
                         * @enum {string}
                         */
                        status: "pending" | "confirmed" | "failed";
                        /** @description The transaction on chain. Null until it is seen there */
                        tx_hash: components["schemas"]["TransactionHash"] | null;
                    };
                };
            };
        };
    };
    "identity.listDelegates": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description current: those that are not revoked, which is the default. revoked: the deleted ones */
                status?: "current" | "revoked";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "name": "Research agent",
                     *           "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "limits": {
                     *             "per_payment": "2500000",
                     *             "daily": "2500000",
                     *             "monthly": "2500000",
                     *             "total": "2500000"
                     *           },
                     *           "usage": {
                     *             "daily": {
                     *               "spent": "0",
                     *               "held": "0",
                     *               "remaining": "0",
                     *               "resets_at": "2026-11-21T10:00:00.000Z"
                     *             },
                     *             "monthly": {
                     *               "spent": "0",
                     *               "held": "0",
                     *               "remaining": "0",
                     *               "resets_at": "2026-11-21T10:00:00.000Z"
                     *             },
                     *             "total": {
                     *               "spent": "0",
                     *               "held": "0",
                     *               "remaining": "0",
                     *               "resets_at": "2026-11-21T10:00:00.000Z"
                     *             }
                     *           },
                     *           "allowed_service_ids": null,
                     *           "external": {
                     *             "pay_to": "any",
                     *             "origins": [
                     *               "https://api.example.com"
                     *             ]
                     *           },
                     *           "approval_above": "2500000",
                     *           "expires_at": "2026-11-21T10:00:00.000Z",
                     *           "status": "active",
                     *           "revoked_at": "2026-11-21T10:00:00.000Z",
                     *           "created_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Delegate"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "identity.createDelegate": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Research agent",
                 *       "limits": {
                 *         "per_payment": "500000",
                 *         "daily": "5000000"
                 *       },
                 *       "external": {
                 *         "pay_to": [
                 *           "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *         ],
                 *         "origins": [
                 *           "https://api.example.com"
                 *         ]
                 *       },
                 *       "approval_above": "1000000",
                 *       "expires_at": "2099-12-31T00:00:00.000Z",
                 *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description A name for the owner
                     * @example Research agent
                     */
                    name: string;
                    wallet_id: components["schemas"]["WalletId"];
                    /** @description What the key may spend. An omitted limit does not exist */
                    limits: {
                        /** @description Largest single payment. In USDC micro-units */
                        per_payment?: components["schemas"]["MicroUsdc"];
                        /** @description Sum of a UTC day. In USDC micro-units */
                        daily?: components["schemas"]["MicroUsdc"];
                        /** @description Sum of a UTC month. In USDC micro-units */
                        monthly?: components["schemas"]["MicroUsdc"];
                        /** @description Sum of all payments. In USDC micro-units */
                        total?: components["schemas"]["MicroUsdc"];
                    };
                    /** @description The only services that the key may pay. Null or omitted: any */
                    allowed_service_ids?: components["schemas"]["ServiceId"][];
                    /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
                    external?: {
                        /** @description Addresses that may be paid, or `any` */
                        pay_to: "any" | components["schemas"]["SolanaAddress"][];
                        /** @description Null: any origin */
                        origins: string[] | null;
                    } | null;
                    /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
                    approval_above?: components["schemas"]["MicroUsdc"] | null;
                    /**
                     * @description When the key ends. Null or omitted: never
                     * @example 2099-12-31T00:00:00.000Z
                     */
                    expires_at?: components["schemas"]["Timestamp"];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "name": "Research agent",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "limits": {
                     *         "per_payment": "2500000",
                     *         "daily": "2500000",
                     *         "monthly": "2500000",
                     *         "total": "2500000"
                     *       },
                     *       "usage": {
                     *         "daily": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "monthly": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "total": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       },
                     *       "allowed_service_ids": null,
                     *       "external": {
                     *         "pay_to": "any",
                     *         "origins": [
                     *           "https://api.example.com"
                     *         ]
                     *       },
                     *       "approval_above": "2500000",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "status": "active",
                     *       "revoked_at": "2026-11-21T10:00:00.000Z",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "api_key": "dk_test_Zk3mQ9"
                     *     }
                     */
                    "application/json": {
                        delegate_id: components["schemas"]["DelegateId"];
                        /**
                         * @description A name for the owner
                         * @example Research agent
                         */
                        name: string;
                        wallet_id: components["schemas"]["WalletId"];
                        limits: components["schemas"]["DelegateLimits"];
                        /** @description How much of the limits is used */
                        usage: {
                            /** @description Of this UTC day */
                            daily: components["schemas"]["DelegateUsage"];
                            /** @description Of this UTC month */
                            monthly: components["schemas"]["DelegateUsage"];
                            /** @description Of all time */
                            total: components["schemas"]["DelegateUsage"];
                        };
                        /**
                         * @description The only services that the key may pay. Null or omitted: any
                         * @example null
                         */
                        allowed_service_ids: components["schemas"]["ServiceId"][] | null;
                        /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
                        external: {
                            /** @description Addresses that may be paid, or `any` */
                            pay_to: "any" | components["schemas"]["SolanaAddress"][];
                            /** @description Null: any origin */
                            origins: string[] | null;
                        } | null;
                        /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
                        approval_above: components["schemas"]["MicroUsdc"] | null;
                        expires_at: components["schemas"]["Timestamp"] | null;
                        /**
                         * @description paused: the owner has stopped its payments for now. expired: the key can no longer pay. revoked: it was deleted
                         * @enum {string}
                         */
                        status: "active" | "paused" | "expired" | "revoked";
                        /** @description When it was deleted and its keys were revoked. Null: it was not */
                        revoked_at: components["schemas"]["Timestamp"] | null;
                        /** @description When it was created */
                        created_at: components["schemas"]["Timestamp"];
                        /**
                         * @description The key. It is shown only in this answer. Keep it secret
                         * @example dk_test_Zk3mQ9
                         */
                        api_key: string;
                    } | {
                        delegate_id: components["schemas"]["DelegateId"];
                        /**
                         * @description A name for the owner
                         * @example Research agent
                         */
                        name: string;
                        wallet_id: components["schemas"]["WalletId"];
                        limits: components["schemas"]["DelegateLimits"];
                        /** @description How much of the limits is used */
                        usage: {
                            /** @description Of this UTC day */
                            daily: components["schemas"]["DelegateUsage"];
                            /** @description Of this UTC month */
                            monthly: components["schemas"]["DelegateUsage"];
                            /** @description Of all time */
                            total: components["schemas"]["DelegateUsage"];
                        };
                        /**
                         * @description The only services that the key may pay. Null or omitted: any
                         * @example null
                         */
                        allowed_service_ids: components["schemas"]["ServiceId"][] | null;
                        /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
                        external: {
                            /** @description Addresses that may be paid, or `any` */
                            pay_to: "any" | components["schemas"]["SolanaAddress"][];
                            /** @description Null: any origin */
                            origins: string[] | null;
                        } | null;
                        /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
                        approval_above: components["schemas"]["MicroUsdc"] | null;
                        expires_at: components["schemas"]["Timestamp"] | null;
                        /**
                         * @description paused: the owner has stopped its payments for now. expired: the key can no longer pay. revoked: it was deleted
                         * @enum {string}
                         */
                        status: "active" | "paused" | "expired" | "revoked";
                        /** @description When it was deleted and its keys were revoked. Null: it was not */
                        revoked_at: components["schemas"]["Timestamp"] | null;
                        /** @description When it was created */
                        created_at: components["schemas"]["Timestamp"];
                        /**
                         * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
                         * @constant
                         */
                        secret_already_shown: true;
                    };
                };
            };
        };
    };
    "identity.getDelegate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example del_01kaj5w0c0e8h9x2m4n6p8q0rs */
                delegate_id: components["schemas"]["DelegateId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "name": "Research agent",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "limits": {
                     *         "per_payment": "2500000",
                     *         "daily": "2500000",
                     *         "monthly": "2500000",
                     *         "total": "2500000"
                     *       },
                     *       "usage": {
                     *         "daily": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "monthly": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "total": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       },
                     *       "allowed_service_ids": null,
                     *       "external": {
                     *         "pay_to": "any",
                     *         "origins": [
                     *           "https://api.example.com"
                     *         ]
                     *       },
                     *       "approval_above": "2500000",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "status": "active",
                     *       "revoked_at": "2026-11-21T10:00:00.000Z",
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Delegate"];
                };
            };
        };
    };
    "identity.deleteDelegate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example del_01kaj5w0c0e8h9x2m4n6p8q0rs */
                delegate_id: components["schemas"]["DelegateId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK, no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "identity.updateDelegate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example del_01kaj5w0c0e8h9x2m4n6p8q0rs */
                delegate_id: components["schemas"]["DelegateId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Research agent",
                 *       "limits": {
                 *         "per_payment": "500000",
                 *         "daily": "5000000"
                 *       },
                 *       "external": {
                 *         "pay_to": [
                 *           "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *         ],
                 *         "origins": [
                 *           "https://api.example.com"
                 *         ]
                 *       },
                 *       "approval_above": "1000000",
                 *       "expires_at": "2099-12-31T00:00:00.000Z"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description A name for the owner
                     * @example Research agent
                     */
                    name?: string;
                    /** @description The limits to change. Null removes one */
                    limits?: {
                        per_payment?: components["schemas"]["MicroUsdc"] | null;
                        daily?: components["schemas"]["MicroUsdc"] | null;
                        monthly?: components["schemas"]["MicroUsdc"] | null;
                        total?: components["schemas"]["MicroUsdc"] | null;
                    };
                    /** @description The only services that the key may pay. Null or omitted: any */
                    allowed_service_ids?: components["schemas"]["ServiceId"][] | null;
                    /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
                    external?: {
                        /** @description Addresses that may be paid, or `any` */
                        pay_to: "any" | components["schemas"]["SolanaAddress"][];
                        /** @description Null: any origin */
                        origins: string[] | null;
                    } | null;
                    /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
                    approval_above?: components["schemas"]["MicroUsdc"] | null;
                    /** @example 2099-12-31T00:00:00.000Z */
                    expires_at?: components["schemas"]["Timestamp"] | null;
                    /**
                     * @description true: its new payments are refused until it is false again. Accepted ones continue
                     * @example false
                     */
                    paused?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "name": "Research agent",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "limits": {
                     *         "per_payment": "2500000",
                     *         "daily": "2500000",
                     *         "monthly": "2500000",
                     *         "total": "2500000"
                     *       },
                     *       "usage": {
                     *         "daily": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "monthly": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "total": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       },
                     *       "allowed_service_ids": null,
                     *       "external": {
                     *         "pay_to": "any",
                     *         "origins": [
                     *           "https://api.example.com"
                     *         ]
                     *       },
                     *       "approval_above": "2500000",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "status": "active",
                     *       "revoked_at": "2026-11-21T10:00:00.000Z",
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Delegate"];
                };
            };
        };
    };
    "identity.getOwnDelegate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "name": "Research agent",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "limits": {
                     *         "per_payment": "2500000",
                     *         "daily": "2500000",
                     *         "monthly": "2500000",
                     *         "total": "2500000"
                     *       },
                     *       "usage": {
                     *         "daily": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "monthly": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         },
                     *         "total": {
                     *           "spent": "0",
                     *           "held": "0",
                     *           "remaining": "0",
                     *           "resets_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       },
                     *       "allowed_service_ids": null,
                     *       "external": {
                     *         "pay_to": "any",
                     *         "origins": [
                     *           "https://api.example.com"
                     *         ]
                     *       },
                     *       "approval_above": "2500000",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "status": "active",
                     *       "revoked_at": "2026-11-21T10:00:00.000Z",
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Delegate"];
                };
            };
        };
    };
    "identity.rotateDelegateKey": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path: {
                /** @example del_01kaj5w0c0e8h9x2m4n6p8q0rs */
                delegate_id: components["schemas"]["DelegateId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "revoke_previous": false
                 *     }
                 */
                "application/json": {
                    /** @description Revoke all other keys immediately. Without it the previous key stays valid for its grace period */
                    revoke_previous?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "previous_key_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "api_key": "vendor_test_Zk3mQ9"
                     *     }
                     */
                    "application/json": {
                        /** @description Until when the previous key works, too. Null: it works no longer */
                        previous_key_expires_at: components["schemas"]["Timestamp"] | null;
                        /**
                         * @description The key. It is shown only in this answer. Keep it secret
                         * @example vendor_test_Zk3mQ9
                         */
                        api_key: string;
                    } | {
                        /** @description Until when the previous key works, too. Null: it works no longer */
                        previous_key_expires_at: components["schemas"]["Timestamp"] | null;
                        /**
                         * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
                         * @constant
                         */
                        secret_already_shown: true;
                    };
                };
            };
        };
    };
    "identity.revealDelegateKey": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example del_01kaj5w0c0e8h9x2m4n6p8q0rs */
                delegate_id: components["schemas"]["DelegateId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "revoke_previous": false
                 *     }
                 */
                "application/json": {
                    /** @description Revoke all other keys immediately. Without it the previous key stays valid for its grace period */
                    revoke_previous?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "sent"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The mail is on its way
                         * @constant
                         */
                        status: "sent";
                    };
                };
            };
        };
    };
    "identity.verifyDelegateReveal": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example del_01kaj5w0c0e8h9x2m4n6p8q0rs */
                delegate_id: components["schemas"]["DelegateId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "rv_test_Zk3mQ9"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The token of the mailed link
                     * @example rv_test_Zk3mQ9
                     */
                    token: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_key": "vendor_test_Zk3mQ9",
                     *       "previous_key_expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["NewKey"];
                };
            };
        };
    };
    "settlement.listApprovals": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only approvals of this status */
                status?: components["schemas"]["ApprovalStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "approval_id": "apr_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "status": "awaiting_approval",
                     *           "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "payment_attempt_id": "order-1042-1",
                     *           "rail": "quittance",
                     *           "amount": "2500000",
                     *           "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "service_name": "Weather API",
                     *           "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "resource": "https://api.example.com/report",
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "expires_at": "2026-11-21T10:00:00.000Z",
                     *           "decided_at": "2026-11-21T10:00:00.000Z",
                     *           "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Approval"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "settlement.getApproval": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example apr_01kaj5w0c0e8h9x2m4n6p8q0rs */
                approval_id: components["schemas"]["ApprovalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "approval_id": "apr_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "awaiting_approval",
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "payment_attempt_id": "order-1042-1",
                     *       "rail": "quittance",
                     *       "amount": "2500000",
                     *       "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "service_name": "Weather API",
                     *       "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "resource": "https://api.example.com/report",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "decided_at": "2026-11-21T10:00:00.000Z",
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    "identity.approvalOptions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example apr_01kaj5w0c0e8h9x2m4n6p8q0rs */
                approval_id: components["schemas"]["ApprovalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "challenge": "Zk3mQ9",
                     *       "rpId": "quittance.example",
                     *       "timeout": 0,
                     *       "userVerification": "required",
                     *       "allowCredentials": [
                     *         {
                     *           "id": "Zk3mQ9",
                     *           "type": "public-key",
                     *           "transports": [
                     *             "internal"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The value to sign, base64url
                         * @example Zk3mQ9
                         */
                        challenge: string;
                        /**
                         * @description The domain of the passkeys
                         * @example quittance.example
                         */
                        rpId: string;
                        /** @description Milliseconds that the person has */
                        timeout: number;
                        /**
                         * @description The person must unlock the passkey
                         * @constant
                         */
                        userVerification: "required";
                        /** @description The passkeys of the account */
                        allowCredentials: {
                            /**
                             * @description Id of the passkey, base64url
                             * @example Zk3mQ9
                             */
                            id: string;
                            /**
                             * @description Kind of the credential
                             * @constant
                             */
                            type: "public-key";
                            /**
                             * @description How the passkey can be reached
                             * @example [
                             *       "internal"
                             *     ]
                             */
                            transports?: string[];
                        }[];
                    };
                };
            };
        };
    };
    "identity.approve": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example apr_01kaj5w0c0e8h9x2m4n6p8q0rs */
                approval_id: components["schemas"]["ApprovalId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "response": {
                 *         "id": "Zk3mQ9",
                 *         "rawId": "Zk3mQ9",
                 *         "type": "public-key",
                 *         "clientExtensionResults": {},
                 *         "authenticatorAttachment": "platform",
                 *         "response": {
                 *           "clientDataJSON": "Zk3mQ9",
                 *           "authenticatorData": "Zk3mQ9",
                 *           "signature": "Zk3mQ9",
                 *           "userHandle": "Zk3mQ9"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description What the browser returned, as JSON */
                    response: {
                        /**
                         * @description Id of the passkey, base64url
                         * @example Zk3mQ9
                         */
                        id: string;
                        /**
                         * @description The same id, base64url
                         * @example Zk3mQ9
                         */
                        rawId: string;
                        /**
                         * @description Kind of the credential
                         * @constant
                         */
                        type: "public-key";
                        /** @description Accepted and not used */
                        clientExtensionResults: {
                            [key: string]: unknown;
                        };
                        /** @description Whether the passkey is part of the device */
                        authenticatorAttachment?: ("platform" | "cross-platform") | null;
                        /** @description The passkey’s answer */
                        response: {
                            /**
                             * @description What the browser has signed, base64url
                             * @example Zk3mQ9
                             */
                            clientDataJSON: string;
                            /**
                             * @description What the authenticator has signed, base64url
                             * @example Zk3mQ9
                             */
                            authenticatorData: string;
                            /**
                             * @description The signature, base64url
                             * @example Zk3mQ9
                             */
                            signature: string;
                            userHandle?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "approval_id": "apr_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "awaiting_approval",
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "payment_attempt_id": "order-1042-1",
                     *       "rail": "quittance",
                     *       "amount": "2500000",
                     *       "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "service_name": "Weather API",
                     *       "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "resource": "https://api.example.com/report",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "decided_at": "2026-11-21T10:00:00.000Z",
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    "settlement.denyApproval": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example apr_01kaj5w0c0e8h9x2m4n6p8q0rs */
                approval_id: components["schemas"]["ApprovalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "approval_id": "apr_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "awaiting_approval",
                     *       "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "payment_attempt_id": "order-1042-1",
                     *       "rail": "quittance",
                     *       "amount": "2500000",
                     *       "pay_to": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "service_name": "Weather API",
                     *       "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "resource": "https://api.example.com/report",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "decided_at": "2026-11-21T10:00:00.000Z",
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *     }
                     */
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    "wallet.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "kind": "external",
                     *           "address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "label": "Main wallet",
                     *           "token_account_closed": false,
                     *           "balance": "0",
                     *           "delegation": {
                     *             "status": "none",
                     *             "delegate": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *             "allowance": "0",
                     *             "as_of": "2026-11-21T10:00:00.000Z"
                     *           },
                     *           "created_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Wallet"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "wallet.link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "public_key": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *       "proof": {
                 *         "message": "Quittance wallet proof\naccount: acct_01kaj5w0c0e8h9x2m4n6p8q0rs\nwallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u\nissued_at: 2026-11-21T10:00:00.000Z",
                 *         "signature": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                 *       },
                 *       "label": "Main wallet"
                 *     }
                 */
                "application/json": {
                    /** @description The public key of the wallet */
                    public_key: components["schemas"]["SolanaAddress"];
                    /** @description Shows that the caller holds the private key. Valid for 5 minutes */
                    proof: {
                        /**
                         * @description Four lines: "Quittance wallet proof", "account: <account_id>", "wallet: <public_key>", "issued_at: <time>"
                         * @example Quittance wallet proof
                         *     account: acct_01kaj5w0c0e8h9x2m4n6p8q0rs
                         *     wallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u
                         *     issued_at: 2026-11-21T10:00:00.000Z
                         */
                        message: string;
                        /**
                         * @description Base58 of the Ed25519 signature over the UTF-8 bytes of message
                         * @example 5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW
                         */
                        signature: string;
                    };
                    /**
                     * @description A name for the owner
                     * @example Main wallet
                     */
                    label?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "kind": "external",
                     *       "address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "label": "Main wallet",
                     *       "token_account_closed": false,
                     *       "balance": "0",
                     *       "delegation": {
                     *         "status": "none",
                     *         "delegate": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "allowance": "0",
                     *         "as_of": "2026-11-21T10:00:00.000Z"
                     *       },
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Wallet"];
                };
            };
        };
    };
    "wallet.provision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "public_key": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *       "proof": {
                 *         "message": "Quittance wallet proof\naccount: acct_01kaj5w0c0e8h9x2m4n6p8q0rs\nwallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u\nissued_at: 2026-11-21T10:00:00.000Z",
                 *         "signature": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                 *       },
                 *       "label": "Main wallet",
                 *       "backup": "eyJhbGciOiJkaXIifQ..Zk3mQ9"
                 *     }
                 */
                "application/json": {
                    /** @description The public key of the wallet */
                    public_key: components["schemas"]["SolanaAddress"];
                    /** @description Shows that the caller holds the private key. Valid for 5 minutes */
                    proof: {
                        /**
                         * @description Four lines: "Quittance wallet proof", "account: <account_id>", "wallet: <public_key>", "issued_at: <time>"
                         * @example Quittance wallet proof
                         *     account: acct_01kaj5w0c0e8h9x2m4n6p8q0rs
                         *     wallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u
                         *     issued_at: 2026-11-21T10:00:00.000Z
                         */
                        message: string;
                        /**
                         * @description Base58 of the Ed25519 signature over the UTF-8 bytes of message
                         * @example 5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW
                         */
                        signature: string;
                    };
                    /**
                     * @description A name for the owner
                     * @example Main wallet
                     */
                    label?: string;
                    /**
                     * @description Ciphertext of the private key, which the service cannot read
                     * @example eyJhbGciOiJkaXIifQ..Zk3mQ9
                     */
                    backup?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "kind": "external",
                     *       "address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "label": "Main wallet",
                     *       "token_account_closed": false,
                     *       "balance": "0",
                     *       "delegation": {
                     *         "status": "none",
                     *         "delegate": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "allowance": "0",
                     *         "as_of": "2026-11-21T10:00:00.000Z"
                     *       },
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Wallet"];
                };
            };
        };
    };
    "wallet.onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wal_01kaj5w0c0e8h9x2m4n6p8q0rs */
                wallet_id: components["schemas"]["WalletId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "allowance": "2500000"
                 *     }
                 */
                "application/json": {
                    /** @description What the platform may spend in total. In USDC micro-units */
                    allowance: components["schemas"]["MicroUsdc"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA==",
                     *       "expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Prepared"];
                };
            };
        };
    };
    "wallet.delegate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wal_01kaj5w0c0e8h9x2m4n6p8q0rs */
                wallet_id: components["schemas"]["WalletId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA=="
                 *     }
                 */
                "application/json": {
                    /** @description Signed by the owner. Omit it to have a transaction prepared again */
                    transaction?: components["schemas"]["WireTransaction"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "kind": "external",
                     *       "address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "label": "Main wallet",
                     *       "token_account_closed": false,
                     *       "balance": "0",
                     *       "delegation": {
                     *         "status": "none",
                     *         "delegate": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "allowance": "0",
                     *         "as_of": "2026-11-21T10:00:00.000Z"
                     *       },
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Wallet"] | components["schemas"]["Prepared"];
                };
            };
        };
    };
    "wallet.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wal_01kaj5w0c0e8h9x2m4n6p8q0rs */
                wallet_id: components["schemas"]["WalletId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA=="
                 *     }
                 */
                "application/json": {
                    /** @description Signed by the owner. Omit it to have a transaction prepared again */
                    transaction?: components["schemas"]["WireTransaction"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "kind": "external",
                     *       "address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "label": "Main wallet",
                     *       "token_account_closed": false,
                     *       "balance": "0",
                     *       "delegation": {
                     *         "status": "none",
                     *         "delegate": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *         "allowance": "0",
                     *         "as_of": "2026-11-21T10:00:00.000Z"
                     *       },
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Wallet"] | components["schemas"]["Prepared"];
                };
            };
        };
    };
    "wallet.backup": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wal_01kaj5w0c0e8h9x2m4n6p8q0rs */
                wallet_id: components["schemas"]["WalletId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "backup": "eyJhbGciOiJkaXIifQ..Zk3mQ9"
                     *     }
                     */
                    "application/json": {
                        wallet_id: components["schemas"]["WalletId"];
                        /**
                         * @description Ciphertext of the private key, which the service cannot read
                         * @example eyJhbGciOiJkaXIifQ..Zk3mQ9
                         */
                        backup: string;
                    };
                };
            };
        };
    };
    "wallet.replaceBackup": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wal_01kaj5w0c0e8h9x2m4n6p8q0rs */
                wallet_id: components["schemas"]["WalletId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "proof": {
                 *         "message": "Quittance wallet proof\naccount: acct_01kaj5w0c0e8h9x2m4n6p8q0rs\nwallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u\nissued_at: 2026-11-21T10:00:00.000Z",
                 *         "signature": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                 *       },
                 *       "replaces": "eyJhbGciOiJkaXIifQ..Zk3mQ9",
                 *       "backup": "eyJhbGciOiJkaXIifQ..Zk3mQ9"
                 *     }
                 */
                "application/json": {
                    /** @description Shows that the caller holds the private key. Valid for 5 minutes */
                    proof: {
                        /**
                         * @description Four lines: "Quittance wallet proof", "account: <account_id>", "wallet: <public_key>", "issued_at: <time>"
                         * @example Quittance wallet proof
                         *     account: acct_01kaj5w0c0e8h9x2m4n6p8q0rs
                         *     wallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u
                         *     issued_at: 2026-11-21T10:00:00.000Z
                         */
                        message: string;
                        /**
                         * @description Base58 of the Ed25519 signature over the UTF-8 bytes of message
                         * @example 5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW
                         */
                        signature: string;
                    };
                    /**
                     * @description The backup as it was read. If it was replaced since, the answer is conflict
                     * @example eyJhbGciOiJkaXIifQ..Zk3mQ9
                     */
                    replaces: string;
                    /**
                     * @description Ciphertext of the private key, which the service cannot read
                     * @example eyJhbGciOiJkaXIifQ..Zk3mQ9
                     */
                    backup: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "backup": "eyJhbGciOiJkaXIifQ..Zk3mQ9"
                     *     }
                     */
                    "application/json": {
                        wallet_id: components["schemas"]["WalletId"];
                        /**
                         * @description Ciphertext of the private key, which the service cannot read
                         * @example eyJhbGciOiJkaXIifQ..Zk3mQ9
                         */
                        backup: string;
                    };
                };
            };
        };
    };
    "funding.devFund": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                 *       "amount": "2500000"
                 *     }
                 */
                "application/json": {
                    wallet_id: components["schemas"]["WalletId"];
                    /** @description How much, at most "10000000000". In USDC micro-units */
                    amount: components["schemas"]["MicroUsdc"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "amount": "2500000",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "balance": "0"
                     *     }
                     */
                    "application/json": {
                        wallet_id: components["schemas"]["WalletId"];
                        /** @description What arrived. In USDC micro-units */
                        amount: components["schemas"]["MicroUsdc"];
                        /** @description The transaction on chain */
                        tx_hash: components["schemas"]["TransactionHash"];
                        /** @description The USDC in the wallet afterwards. In USDC micro-units */
                        balance: components["schemas"]["MicroUsdcOrZero"];
                    };
                };
            };
        };
    };
    "wallet.listTransactions": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only transfers of this type */
                type?: components["schemas"]["TransactionType"];
                /** @description Only transfers in this direction */
                direction?: "in" | "out";
                /** @description Only transfers of this status */
                status?: "confirmed" | "finalized" | "reversed";
                /** @description Only payments of this service and their refunds */
                service_id?: components["schemas"]["ServiceId"];
                /** @description Only payments of this delegate and their refunds */
                delegate_id?: components["schemas"]["DelegateId"];
                /** @description Only transfers of this settlement, deposit, withdrawal, refund or test funding */
                object_id?: string;
                /** @description Only transfers of this transaction on chain */
                tx_hash?: components["schemas"]["TransactionHash"];
                /** @description This time and later */
                from?: components["schemas"]["Timestamp"];
                /** @description Before this time */
                to?: components["schemas"]["Timestamp"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "transaction_id": "txn_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "type": "payment",
                     *           "direction": "in",
                     *           "amount": "2500000",
                     *           "fee_amount": "0",
                     *           "status": "confirmed",
                     *           "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *           "object_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "created_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Transaction"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "wallet.spendingSummary": {
        parameters: {
            query?: {
                /** @description This time and later */
                from?: components["schemas"]["Timestamp"];
                /** @description Before this time */
                to?: components["schemas"]["Timestamp"];
                /** @description Default day (UTC). Days are in their order, other groups in the order of what was spent */
                group_by?: "day" | "service" | "delegate";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-11-21T10:00:00.000Z",
                     *       "to": "2026-11-21T10:00:00.000Z",
                     *       "total_spent": "0",
                     *       "total_refunded": "0",
                     *       "total_fees": "0",
                     *       "payment_count": 0,
                     *       "groups": [
                     *         {
                     *           "key": "2026-01-31",
                     *           "spent": "2500000",
                     *           "payment_count": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SpendingSummary"];
                };
            };
        };
    };
    "funding.createDeposit": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                 *       "provider": "moonpay",
                 *       "fiat_currency": "USD",
                 *       "fiat_amount": "50.00",
                 *       "redirect_url": "https://shop.example.com/thanks"
                 *     }
                 */
                "application/json": {
                    wallet_id: components["schemas"]["WalletId"];
                    provider: components["schemas"]["OnrampProvider"];
                    fiat_currency: components["schemas"]["FiatCurrency"];
                    fiat_amount: components["schemas"]["FiatAmount"];
                    /**
                     * @description Where the browser is sent after the payment
                     * @example https://shop.example.com/thanks
                     */
                    redirect_url?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "created",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "provider": "moonpay",
                     *       "fiat_currency": "USD",
                     *       "fiat_amount": "50.00",
                     *       "amount": "2500000",
                     *       "redirect_url": "https://buy.moonpay.com/?signature=Zk3mQ9",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "problem": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "completed_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Deposit"];
                };
            };
        };
    };
    "funding.listDeposits": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only deposits of this status */
                status?: components["schemas"]["DepositStatus"];
                /** @description Only deposits into this wallet */
                wallet_id?: components["schemas"]["WalletId"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "status": "created",
                     *           "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "provider": "moonpay",
                     *           "fiat_currency": "USD",
                     *           "fiat_amount": "50.00",
                     *           "amount": "2500000",
                     *           "redirect_url": "https://buy.moonpay.com/?signature=Zk3mQ9",
                     *           "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *           "problem": null,
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "expires_at": "2026-11-21T10:00:00.000Z",
                     *           "completed_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Deposit"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "funding.getDeposit": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example dep_01kaj5w0c0e8h9x2m4n6p8q0rs */
                deposit_id: components["schemas"]["DepositId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deposit_id": "dep_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "created",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "provider": "moonpay",
                     *       "fiat_currency": "USD",
                     *       "fiat_amount": "50.00",
                     *       "amount": "2500000",
                     *       "redirect_url": "https://buy.moonpay.com/?signature=Zk3mQ9",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "problem": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "completed_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Deposit"];
                };
            };
        };
    };
    "funding.listWithdrawals": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only withdrawals from this wallet */
                wallet_id?: components["schemas"]["WalletId"];
                /** @description Only withdrawals of this status */
                status?: components["schemas"]["WithdrawalStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "status": "pending_approval",
                     *           "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "amount": "2500000",
                     *           "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *           "failure": null,
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "pending_until": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Withdrawal"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "funding.createWithdrawal": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                 *       "amount": "2500000",
                 *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *     }
                 */
                "application/json": {
                    /** @description The wallet that pays */
                    wallet_id: components["schemas"]["WalletId"];
                    /** @description How much to withdraw. In USDC micro-units */
                    amount: components["schemas"]["MicroUsdc"];
                    /** @description The wallet or token account that receives it */
                    destination_address: components["schemas"]["SolanaAddress"];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_approval",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z",
                     *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA==",
                     *       "expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PreparedWithdrawal"];
                };
            };
        };
    };
    "funding.approveWithdrawal": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wd_01kaj5w0c0e8h9x2m4n6p8q0rs */
                withdrawal_id: components["schemas"]["WithdrawalId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA=="
                 *     }
                 */
                "application/json": {
                    /** @description Signed by the owner. Omit it to have a transaction prepared again */
                    transaction?: components["schemas"]["WireTransaction"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_approval",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z",
                     *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA==",
                     *       "expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PreparedWithdrawal"] | components["schemas"]["Withdrawal"];
                };
            };
        };
    };
    "funding.cancelWithdrawal": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wd_01kaj5w0c0e8h9x2m4n6p8q0rs */
                withdrawal_id: components["schemas"]["WithdrawalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_approval",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Withdrawal"];
                };
            };
        };
    };
    "funding.getWithdrawal": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wd_01kaj5w0c0e8h9x2m4n6p8q0rs */
                withdrawal_id: components["schemas"]["WithdrawalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "withdrawal_id": "wd_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_approval",
                     *       "wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Withdrawal"];
                };
            };
        };
    };
    "funding.providerWebhook": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example moonpay */
                provider: components["schemas"]["OnrampProvider"];
                /**
                 * @description The environment of the deposit
                 * @example test
                 */
                environment: components["schemas"]["Environment"];
            };
            cookie?: never;
        };
        /** @description The bytes that the sender signed. The signature is checked over them */
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "received": true
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The report is stored
                         * @constant
                         */
                        received: true;
                    };
                };
            };
        };
    };
    "funding.listRefunds": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only refunds of this settlement */
                settlement_id?: components["schemas"]["SettlementId"];
                /** @description Only refunds of this status */
                status?: components["schemas"]["RefundStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "status": "pending_signature",
                     *           "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "amount": "2500000",
                     *           "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *           "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *           "failure": null,
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "pending_until": "2026-11-21T10:00:00.000Z",
                     *           "reason": "The report was empty"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Refund"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "funding.createRefund": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                 *       "amount": "2500000",
                 *       "reason": "The report was empty"
                 *     }
                 */
                "application/json": {
                    settlement_id: components["schemas"]["SettlementId"];
                    /** @description How much to refund. Default: the rest of the net amount. In USDC micro-units */
                    amount?: components["schemas"]["MicroUsdc"];
                    /**
                     * @description Why. Payer and vendor see it
                     * @example The report was empty
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_signature",
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z",
                     *       "reason": "The report was empty",
                     *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA==",
                     *       "expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PreparedRefund"];
                };
            };
        };
    };
    "funding.submitRefund": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example ref_01kaj5w0c0e8h9x2m4n6p8q0rs */
                refund_id: components["schemas"]["RefundId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA=="
                 *     }
                 */
                "application/json": {
                    /** @description Signed by the owner. Omit it to have a transaction prepared again */
                    transaction?: components["schemas"]["WireTransaction"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_signature",
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z",
                     *       "reason": "The report was empty",
                     *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA==",
                     *       "expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PreparedRefund"] | components["schemas"]["Refund"];
                };
            };
        };
    };
    "funding.cancelRefund": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example ref_01kaj5w0c0e8h9x2m4n6p8q0rs */
                refund_id: components["schemas"]["RefundId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_signature",
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z",
                     *       "reason": "The report was empty"
                     *     }
                     */
                    "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    "funding.getRefund": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example ref_01kaj5w0c0e8h9x2m4n6p8q0rs */
                refund_id: components["schemas"]["RefundId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "refund_id": "ref_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending_signature",
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "amount": "2500000",
                     *       "destination_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "destination_token_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "failure": null,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "pending_until": "2026-11-21T10:00:00.000Z",
                     *       "reason": "The report was empty"
                     *     }
                     */
                    "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    "settlement.getFees": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "accrued": "0",
                     *       "paid": "0",
                     *       "owed": "0",
                     *       "credit": "0"
                     *     }
                     */
                    "application/json": components["schemas"]["Fees"];
                };
            };
        };
    };
    "settlement.createFeeQuote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "quote_id": "q_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "quote_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
                     *       "quote_amount": "2500000",
                     *       "fee_amount": "12500",
                     *       "currency": "USDC",
                     *       "expires_at": "2026-11-21T10:00:00.000Z",
                     *       "status": "pending"
                     *     }
                     */
                    "application/json": components["schemas"]["Quote"];
                };
            };
        };
    };
    "webhook.listEndpoints": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "endpoint_id": "whe_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "url": "https://api.example.com/quittance",
                     *           "description": "Order service",
                     *           "event_types": [
                     *             "settlement.*"
                     *           ],
                     *           "enabled": true,
                     *           "disabled_reason": "owner",
                     *           "failing_since": "2026-11-21T10:00:00.000Z",
                     *           "previous_secret_expires_at": "2026-11-21T10:00:00.000Z",
                     *           "created_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["WebhookEndpoint"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "webhook.createEndpoint": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://api.example.com/quittance",
                 *       "description": "Order service",
                 *       "event_types": [
                 *         "settlement.*"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * @description An https URL with a public address, port 443 or from 1024. Redirects are not followed
                     * @example https://api.example.com/quittance
                     */
                    url: string;
                    /**
                     * @description A note for the owner
                     * @example Order service
                     */
                    description?: string;
                    /**
                     * @description Default all: `["*"]`
                     * @example [
                     *       "settlement.*"
                     *     ]
                     */
                    event_types?: ("*" | "quote.*" | "settlement.*" | "refund.*" | "withdrawal.*" | "deposit.*" | "delegate.*" | "approval.*" | "key.*" | "quote.settling" | "quote.settled" | "quote.expired" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test")[];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "endpoint_id": "whe_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "url": "https://api.example.com/quittance",
                     *       "description": "Order service",
                     *       "event_types": [
                     *         "settlement.*"
                     *       ],
                     *       "enabled": true,
                     *       "disabled_reason": "owner",
                     *       "failing_since": "2026-11-21T10:00:00.000Z",
                     *       "previous_secret_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
                     *     }
                     */
                    "application/json": {
                        endpoint_id: components["schemas"]["EndpointId"];
                        /**
                         * @description An https URL with a public address, port 443 or from 1024. Redirects are not followed
                         * @example https://api.example.com/quittance
                         */
                        url: string;
                        /** @description A note for the owner */
                        description: string | null;
                        /**
                         * @description Types, groups like `settlement.*`, or `*` for all
                         * @example [
                         *       "settlement.*"
                         *     ]
                         */
                        event_types: ("*" | "quote.*" | "settlement.*" | "refund.*" | "withdrawal.*" | "deposit.*" | "delegate.*" | "approval.*" | "key.*" | "quote.settling" | "quote.settled" | "quote.expired" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test")[];
                        /**
                         * @description Whether events are delivered
                         * @example true
                         */
                        enabled: boolean;
                        /** @description owner: disabled by PATCH. failing: every attempt failed for five days. gone: the endpoint answered 410 */
                        disabled_reason: ("owner" | "failing" | "gone") | null;
                        /** @description When the first failure since the last success was */
                        failing_since: components["schemas"]["Timestamp"] | null;
                        /** @description Until then deliveries are also signed with the previous secret */
                        previous_secret_expires_at: components["schemas"]["Timestamp"] | null;
                        /** @description When it was created */
                        created_at: components["schemas"]["Timestamp"];
                        /**
                         * @description Shown only in this answer, in the format of standardwebhooks.com
                         * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
                         */
                        secret: string;
                    } | {
                        endpoint_id: components["schemas"]["EndpointId"];
                        /**
                         * @description An https URL with a public address, port 443 or from 1024. Redirects are not followed
                         * @example https://api.example.com/quittance
                         */
                        url: string;
                        /** @description A note for the owner */
                        description: string | null;
                        /**
                         * @description Types, groups like `settlement.*`, or `*` for all
                         * @example [
                         *       "settlement.*"
                         *     ]
                         */
                        event_types: ("*" | "quote.*" | "settlement.*" | "refund.*" | "withdrawal.*" | "deposit.*" | "delegate.*" | "approval.*" | "key.*" | "quote.settling" | "quote.settled" | "quote.expired" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test")[];
                        /**
                         * @description Whether events are delivered
                         * @example true
                         */
                        enabled: boolean;
                        /** @description owner: disabled by PATCH. failing: every attempt failed for five days. gone: the endpoint answered 410 */
                        disabled_reason: ("owner" | "failing" | "gone") | null;
                        /** @description When the first failure since the last success was */
                        failing_since: components["schemas"]["Timestamp"] | null;
                        /** @description Until then deliveries are also signed with the previous secret */
                        previous_secret_expires_at: components["schemas"]["Timestamp"] | null;
                        /** @description When it was created */
                        created_at: components["schemas"]["Timestamp"];
                        /**
                         * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
                         * @constant
                         */
                        secret_already_shown: true;
                    };
                };
            };
        };
    };
    "webhook.getEndpoint": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs */
                endpoint_id: components["schemas"]["EndpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "endpoint_id": "whe_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "url": "https://api.example.com/quittance",
                     *       "description": "Order service",
                     *       "event_types": [
                     *         "settlement.*"
                     *       ],
                     *       "enabled": true,
                     *       "disabled_reason": "owner",
                     *       "failing_since": "2026-11-21T10:00:00.000Z",
                     *       "previous_secret_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    "webhook.deleteEndpoint": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs */
                endpoint_id: components["schemas"]["EndpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK, no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.updateEndpoint": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs */
                endpoint_id: components["schemas"]["EndpointId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "url": "https://api.example.com/quittance",
                 *       "description": "Order service",
                 *       "event_types": [
                 *         "settlement.*"
                 *       ],
                 *       "enabled": true
                 *     }
                 */
                "application/json": {
                    /**
                     * @description An https URL with a public address, port 443 or from 1024. Redirects are not followed
                     * @example https://api.example.com/quittance
                     */
                    url?: string;
                    /** @description A note for the owner */
                    description?: string | null;
                    /**
                     * @description Types, groups like `settlement.*`, or `*` for all
                     * @example [
                     *       "settlement.*"
                     *     ]
                     */
                    event_types?: ("*" | "quote.*" | "settlement.*" | "refund.*" | "withdrawal.*" | "deposit.*" | "delegate.*" | "approval.*" | "key.*" | "quote.settling" | "quote.settled" | "quote.expired" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test")[];
                    /**
                     * @description Whether events are delivered
                     * @example true
                     */
                    enabled?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "endpoint_id": "whe_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "url": "https://api.example.com/quittance",
                     *       "description": "Order service",
                     *       "event_types": [
                     *         "settlement.*"
                     *       ],
                     *       "enabled": true,
                     *       "disabled_reason": "owner",
                     *       "failing_since": "2026-11-21T10:00:00.000Z",
                     *       "previous_secret_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    "webhook.testEndpoint": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs */
                endpoint_id: components["schemas"]["EndpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "event_id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "quote.settling",
                     *       "object_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "role": "vendor"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    "webhook.rotateEndpointSecret": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["IdempotencyKey"];
            };
            path: {
                /** @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs */
                endpoint_id: components["schemas"]["EndpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "previous_secret_expires_at": "2026-11-21T10:00:00.000Z",
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
                     *     }
                     */
                    "application/json": {
                        /** @description Until then deliveries are also signed with the previous secret */
                        previous_secret_expires_at: components["schemas"]["Timestamp"];
                        /**
                         * @description Shown only in this answer, in the format of standardwebhooks.com
                         * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
                         */
                        secret: string;
                    } | {
                        /** @description Until then deliveries are also signed with the previous secret */
                        previous_secret_expires_at: components["schemas"]["Timestamp"];
                        /**
                         * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
                         * @constant
                         */
                        secret_already_shown: true;
                    };
                };
            };
        };
    };
    "webhook.listDeliveries": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only deliveries of this status */
                status?: components["schemas"]["DeliveryStatus"];
            };
            header?: never;
            path: {
                /** @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs */
                endpoint_id: components["schemas"]["EndpointId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "event_id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "type": "quote.settling",
                     *           "status": "pending",
                     *           "attempts": [
                     *             {
                     *               "at": "2026-11-21T10:00:00.000Z",
                     *               "status_code": 200,
                     *               "error": "timeout",
                     *               "duration_ms": 84,
                     *               "response": "ok"
                     *             }
                     *           ],
                     *           "next_attempt_at": "2026-11-21T10:00:00.000Z",
                     *           "created_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["WebhookDelivery"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "webhook.redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs */
                endpoint_id: components["schemas"]["EndpointId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "event_id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                 *       "since": "2026-11-21T10:00:00.000Z"
                 *     }
                 */
                "application/json": {
                    /** @description Deliver this event, of any type */
                    event_id?: components["schemas"]["EventId"];
                    /** @description Deliver the events since this time */
                    since?: components["schemas"]["Timestamp"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "redelivering": 3
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Number of events that are delivered again
                         * @example 3
                         */
                        redelivering: number;
                    };
                };
            };
        };
    };
    "webhook.listEvents": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description Only events of this type */
                type?: components["schemas"]["EventType"];
                /** @description Only events of this object */
                object_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "event_id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "type": "quote.settling",
                     *           "object_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "data": {
                     *             "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *             "role": "vendor"
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Event"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "webhook.getEvent": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example evt_01kaj5w0c0e8h9x2m4n6p8q0rs */
                event_id: components["schemas"]["EventId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "event_id": "evt_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "type": "quote.settling",
                     *       "object_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "data": {
                     *         "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "role": "vendor"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    "identity.createAccount": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "environment": "test",
                 *       "browser_nonce": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                 *     }
                 */
                "application/json": {
                    /** @description Where the link is sent */
                    email: components["schemas"]["Email"];
                    /** @description The environment to sign in to. Default test */
                    environment?: components["schemas"]["Environment"];
                    /**
                     * @description Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its own. For pages of our own origins the API sets it in a cookie that scripts cannot read. Other clients omit it.
                     * @example nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
                     */
                    browser_nonce?: string;
                };
            };
        };
        responses: {
            /** @description Accepted, not final yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "sent"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The mail is on its way
                         * @constant
                         */
                        status: "sent";
                    };
                };
            };
        };
    };
    "identity.requestMagicLink": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "environment": "test",
                 *       "browser_nonce": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                 *     }
                 */
                "application/json": {
                    /** @description Where the link is sent */
                    email: components["schemas"]["Email"];
                    /** @description The environment to sign in to. Default test */
                    environment?: components["schemas"]["Environment"];
                    /**
                     * @description Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its own. For pages of our own origins the API sets it in a cookie that scripts cannot read. Other clients omit it.
                     * @example nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
                     */
                    browser_nonce?: string;
                };
            };
        };
        responses: {
            /** @description Accepted, not final yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "sent"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The mail is on its way
                         * @constant
                         */
                        status: "sent";
                    };
                };
            };
        };
    };
    "identity.readMagicLink": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "ml_test_Zk3mQ9",
                 *       "browser_nonce": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The token of the mailed link
                     * @example ml_test_Zk3mQ9
                     */
                    token: string;
                    /**
                     * @description Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its own. For pages of our own origins the API sets it in a cookie that scripts cannot read. Other clients omit it.
                     * @example nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
                     */
                    browser_nonce?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "email": "ada@example.com",
                     *       "same_browser": false
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Whom the link signs in
                         * @example ada@example.com
                         */
                        email: string;
                        /** @description Whether this browser has requested the link */
                        same_browser: boolean;
                    };
                };
            };
        };
    };
    "identity.verifyMagicLink": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "ml_test_Zk3mQ9",
                 *       "refresh_in": "body",
                 *       "email": "ada@example.com",
                 *       "browser_nonce": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The token of the mailed link
                     * @example ml_test_Zk3mQ9
                     */
                    token: string;
                    /**
                     * @description Where the refresh token is returned. Default body. cookie: an HttpOnly, SameSite=Strict cookie that is sent only to POST /v1/auth/refresh, for pages of our own origins.
                     * @enum {string}
                     */
                    refresh_in?: "body" | "cookie";
                    /** @description The address that the person was shown and has confirmed */
                    email?: components["schemas"]["Email"];
                    /**
                     * @description Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its own. For pages of our own origins the API sets it in a cookie that scripts cannot read. Other clients omit it.
                     * @example nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
                     */
                    browser_nonce?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl",
                     *       "token_type": "Bearer",
                     *       "expires_in": 900,
                     *       "refresh_token": "rt_test_Zk3mQ9",
                     *       "account": {
                     *         "account_id": "acct_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "email": "ada@example.com"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    "identity.passkeyLoginOptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "environment": "test"
                 *     }
                 */
                "application/json": {
                    /** @description The environment to sign in to. Default test */
                    environment?: components["schemas"]["Environment"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "challenge": "Zk3mQ9",
                     *       "rpId": "quittance.example",
                     *       "timeout": 0,
                     *       "userVerification": "required"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The value to sign, base64url
                         * @example Zk3mQ9
                         */
                        challenge: string;
                        /**
                         * @description The domain of the passkeys
                         * @example quittance.example
                         */
                        rpId: string;
                        /** @description Milliseconds that the person has */
                        timeout: number;
                        /**
                         * @description The person must unlock the passkey
                         * @constant
                         */
                        userVerification: "required";
                    };
                };
            };
        };
    };
    "identity.passkeyLoginVerify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "environment": "test",
                 *       "response": {
                 *         "id": "Zk3mQ9",
                 *         "rawId": "Zk3mQ9",
                 *         "type": "public-key",
                 *         "clientExtensionResults": {},
                 *         "authenticatorAttachment": "platform",
                 *         "response": {
                 *           "clientDataJSON": "Zk3mQ9",
                 *           "authenticatorData": "Zk3mQ9",
                 *           "signature": "Zk3mQ9",
                 *           "userHandle": "Zk3mQ9"
                 *         }
                 *       },
                 *       "refresh_in": "body"
                 *     }
                 */
                "application/json": {
                    /** @description The environment to sign in to. Default test */
                    environment?: components["schemas"]["Environment"];
                    /** @description What the browser returned, as JSON */
                    response: {
                        /**
                         * @description Id of the passkey, base64url
                         * @example Zk3mQ9
                         */
                        id: string;
                        /**
                         * @description The same id, base64url
                         * @example Zk3mQ9
                         */
                        rawId: string;
                        /**
                         * @description Kind of the credential
                         * @constant
                         */
                        type: "public-key";
                        /** @description Accepted and not used */
                        clientExtensionResults: {
                            [key: string]: unknown;
                        };
                        /** @description Whether the passkey is part of the device */
                        authenticatorAttachment?: ("platform" | "cross-platform") | null;
                        /** @description The passkey’s answer */
                        response: {
                            /**
                             * @description What the browser has signed, base64url
                             * @example Zk3mQ9
                             */
                            clientDataJSON: string;
                            /**
                             * @description What the authenticator has signed, base64url
                             * @example Zk3mQ9
                             */
                            authenticatorData: string;
                            /**
                             * @description The signature, base64url
                             * @example Zk3mQ9
                             */
                            signature: string;
                            userHandle?: string | null;
                        };
                    };
                    /**
                     * @description Where the refresh token is returned. Default body. cookie: an HttpOnly, SameSite=Strict cookie that is sent only to POST /v1/auth/refresh, for pages of our own origins.
                     * @enum {string}
                     */
                    refresh_in?: "body" | "cookie";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl",
                     *       "token_type": "Bearer",
                     *       "expires_in": 900,
                     *       "refresh_token": "rt_test_Zk3mQ9",
                     *       "account": {
                     *         "account_id": "acct_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "email": "ada@example.com"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    "identity.passkeyRegisterOptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "environment": "test"
                 *     }
                 */
                "application/json": {
                    /** @description Must be the environment of the access token */
                    environment?: components["schemas"]["Environment"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "challenge": "Zk3mQ9",
                     *       "rp": {
                     *         "id": "quittance.example",
                     *         "name": "Quittance"
                     *       },
                     *       "user": {
                     *         "id": "Zk3mQ9",
                     *         "name": "ada@example.com",
                     *         "displayName": "ada@example.com"
                     *       },
                     *       "pubKeyCredParams": [
                     *         {
                     *           "type": "public-key",
                     *           "alg": 0
                     *         }
                     *       ],
                     *       "timeout": 0,
                     *       "excludeCredentials": [
                     *         {
                     *           "id": "Zk3mQ9",
                     *           "type": "public-key",
                     *           "transports": [
                     *             "internal"
                     *           ]
                     *         }
                     *       ],
                     *       "authenticatorSelection": {
                     *         "residentKey": "required",
                     *         "requireResidentKey": true,
                     *         "userVerification": "required"
                     *       },
                     *       "attestation": "none",
                     *       "extensions": {
                     *         "credProps": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The value to sign, base64url
                         * @example Zk3mQ9
                         */
                        challenge: string;
                        /** @description Where the passkey will sign in */
                        rp: {
                            /**
                             * @description The domain of the passkeys
                             * @example quittance.example
                             */
                            id: string;
                            /**
                             * @description Its name, for people
                             * @example Quittance
                             */
                            name: string;
                        };
                        /** @description Whom the passkey will sign in */
                        user: {
                            /**
                             * @description The account, base64url
                             * @example Zk3mQ9
                             */
                            id: string;
                            /**
                             * @description The mail address
                             * @example ada@example.com
                             */
                            name: string;
                            /**
                             * @description The name to show
                             * @example ada@example.com
                             */
                            displayName: string;
                        };
                        /** @description The accepted algorithms */
                        pubKeyCredParams: {
                            /**
                             * @description Kind of the credential
                             * @constant
                             */
                            type: "public-key";
                            /** @description Number of the algorithm (COSE) */
                            alg: number;
                        }[];
                        /** @description Milliseconds that the person has */
                        timeout: number;
                        /** @description The passkeys that the account has already */
                        excludeCredentials: {
                            /**
                             * @description Id of the passkey, base64url
                             * @example Zk3mQ9
                             */
                            id: string;
                            /**
                             * @description Kind of the credential
                             * @constant
                             */
                            type: "public-key";
                            /**
                             * @description How the passkey can be reached
                             * @example [
                             *       "internal"
                             *     ]
                             */
                            transports?: string[];
                        }[];
                        /** @description What the authenticator must offer */
                        authenticatorSelection: {
                            /**
                             * @description The passkey must know the account
                             * @constant
                             */
                            residentKey: "required";
                            /**
                             * @description The same, for old browsers
                             * @constant
                             */
                            requireResidentKey: true;
                            /**
                             * @description The person must unlock the passkey
                             * @constant
                             */
                            userVerification: "required";
                        };
                        /**
                         * @description The make of the authenticator is not asked for
                         * @constant
                         */
                        attestation: "none";
                        /** @description What the browser reports besides */
                        extensions: {
                            /**
                             * @description Whether the passkey knows the account
                             * @constant
                             */
                            credProps: true;
                        };
                    };
                };
            };
        };
    };
    "identity.passkeyRegisterVerify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "environment": "test",
                 *       "response": {
                 *         "id": "Zk3mQ9",
                 *         "rawId": "Zk3mQ9",
                 *         "type": "public-key",
                 *         "clientExtensionResults": {},
                 *         "authenticatorAttachment": "platform",
                 *         "response": {
                 *           "clientDataJSON": "Zk3mQ9",
                 *           "attestationObject": "Zk3mQ9",
                 *           "authenticatorData": "Zk3mQ9",
                 *           "transports": [
                 *             "internal"
                 *           ],
                 *           "publicKey": "Zk3mQ9",
                 *           "publicKeyAlgorithm": -7
                 *         }
                 *       },
                 *       "label": "Laptop"
                 *     }
                 */
                "application/json": {
                    /** @description Must be the environment of the access token */
                    environment?: components["schemas"]["Environment"];
                    /** @description What the browser returned, as JSON */
                    response: {
                        /**
                         * @description Id of the passkey, base64url
                         * @example Zk3mQ9
                         */
                        id: string;
                        /**
                         * @description The same id, base64url
                         * @example Zk3mQ9
                         */
                        rawId: string;
                        /**
                         * @description Kind of the credential
                         * @constant
                         */
                        type: "public-key";
                        /** @description Accepted and not used */
                        clientExtensionResults: {
                            [key: string]: unknown;
                        };
                        /** @description Whether the passkey is part of the device */
                        authenticatorAttachment?: ("platform" | "cross-platform") | null;
                        /** @description The new passkey’s answer */
                        response: {
                            /**
                             * @description What the browser has signed, base64url
                             * @example Zk3mQ9
                             */
                            clientDataJSON: string;
                            /**
                             * @description The attestation object, which has the public key, base64url
                             * @example Zk3mQ9
                             */
                            attestationObject: string;
                            /**
                             * @description Accepted and not used, base64url
                             * @example Zk3mQ9
                             */
                            authenticatorData?: string;
                            /** @description How the passkey can be reached */
                            transports?: string[];
                            /**
                             * @description Accepted and not used, base64url
                             * @example Zk3mQ9
                             */
                            publicKey?: string;
                            /**
                             * @description Accepted and not used
                             * @example -7
                             */
                            publicKeyAlgorithm?: number;
                        };
                    };
                    /**
                     * @description A name for the owner
                     * @example Laptop
                     */
                    label?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "passkey_id": "pk_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "label": "Laptop",
                     *       "backed_up": false,
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "last_used_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Passkey"];
                };
            };
        };
    };
    "identity.startDeviceSignIn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "client_name": "quittance on build-7",
                 *       "environment": "test"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Shown to the person who confirms
                     * @example quittance on build-7
                     */
                    client_name: string;
                    /** @description The environment to sign in to. Default test */
                    environment?: components["schemas"]["Environment"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "device_code": "dc_test_Zk3mQ9",
                     *       "user_code": "WDJB-MJHT",
                     *       "verification_uri": "https://console.example.com/device",
                     *       "verification_uri_complete": "https://console.example.com/device?code=WDJB-MJHT",
                     *       "expires_in": 600,
                     *       "interval": 2
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The secret of the device, with which it polls
                         * @example dc_test_Zk3mQ9
                         */
                        device_code: string;
                        user_code: components["schemas"]["UserCode"];
                        /**
                         * @description The page where the person types the code
                         * @example https://console.example.com/device
                         */
                        verification_uri: string;
                        /**
                         * @description The same page, for this environment. It does not fill the code in: the person types what the device shows, because a link is how codes are phished (RFC 8628, 5.4)
                         * @example https://console.example.com/device?code=WDJB-MJHT
                         */
                        verification_uri_complete: string;
                        /**
                         * @description Seconds until the codes expire
                         * @example 600
                         */
                        expires_in: number;
                        /**
                         * @description Seconds between two polls
                         * @example 2
                         */
                        interval: number;
                    };
                };
            };
        };
    };
    "identity.pollDeviceSignIn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "device_code": "dc_test_Zk3mQ9"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The secret of the device, with which it polls
                     * @example dc_test_Zk3mQ9
                     */
                    device_code: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "authorized",
                     *       "access_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl",
                     *       "token_type": "Bearer",
                     *       "expires_in": 900,
                     *       "refresh_token": "rt_test_Zk3mQ9",
                     *       "account": {
                     *         "account_id": "acct_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "email": "ada@example.com"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The person has allowed it
                         * @constant
                         */
                        status: "authorized";
                        /**
                         * @description The credential of this person: a JWT, valid for `expires_in`
                         * @example eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl
                         */
                        access_token: string;
                        /**
                         * @description How the access token is sent: `Authorization: Bearer …`
                         * @constant
                         */
                        token_type: "Bearer";
                        /**
                         * @description Seconds until the access token expires
                         * @example 900
                         */
                        expires_in: number;
                        /**
                         * @description Gets the next access token, once. Absent if it was set in the cookie
                         * @example rt_test_Zk3mQ9
                         */
                        refresh_token?: string;
                        /** @description Who signed in */
                        account: {
                            account_id: components["schemas"]["AccountId"];
                            /**
                             * @description The mail address that signs in
                             * @example ada@example.com
                             */
                            email: string;
                        };
                    };
                };
            };
            /** @description Accepted, not final yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "pending"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The person has not decided
                         * @constant
                         */
                        status: "pending";
                    };
                };
            };
        };
    };
    "identity.readDeviceSignIn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user_code": "WDJB-MJHT"
                 *     }
                 */
                "application/json": {
                    user_code: components["schemas"]["UserCode"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_name": "quittance on build-7",
                     *       "address": "203.0.113.0/24",
                     *       "agent": "Quittance command line",
                     *       "created_at": "2026-11-21T10:00:00.000Z",
                     *       "expires_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Shown to the person who confirms
                         * @example quittance on build-7
                         */
                        client_name: string;
                        /**
                         * @description The network from which the device asked. Null: unknown
                         * @example 203.0.113.0/24
                         */
                        address: string | null;
                        /**
                         * @description The kind of program that asked, by its own word
                         * @example Quittance command line
                         */
                        agent: string | null;
                        /** @description When the device asked */
                        created_at: components["schemas"]["Timestamp"];
                        /** @description Until when it can be decided */
                        expires_at: components["schemas"]["Timestamp"];
                    };
                };
            };
        };
    };
    "identity.decideDeviceSignIn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user_code": "WDJB-MJHT",
                 *       "allow": false
                 *     }
                 */
                "application/json": {
                    user_code: components["schemas"]["UserCode"];
                    /** @description true signs the device in, false denies it */
                    allow: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "allowed"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description What was decided
                         * @enum {string}
                         */
                        status: "allowed" | "denied";
                    };
                };
            };
        };
    };
    "identity.refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "refresh_token": "rt_test_Zk3mQ9",
                 *       "environment": "test"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The newest refresh token
                     * @example rt_test_Zk3mQ9
                     */
                    refresh_token?: string;
                    /** @description The environment of the cookie. Default test */
                    environment?: components["schemas"]["Environment"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhY2N0In0.c2lnbmF0dXJl",
                     *       "token_type": "Bearer",
                     *       "expires_in": 900,
                     *       "refresh_token": "rt_test_Zk3mQ9",
                     *       "account": {
                     *         "account_id": "acct_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *         "email": "ada@example.com"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    "identity.logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "refresh_token": "rt_test_Zk3mQ9"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The refresh token of this sign-in
                     * @example rt_test_Zk3mQ9
                     */
                    refresh_token?: string;
                };
            };
        };
        responses: {
            /** @description OK, no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "identity.getAccount": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "acct_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "email": "ada@example.com",
                     *       "display_name": "Ada",
                     *       "created_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": {
                        account_id: components["schemas"]["AccountId"];
                        /**
                         * @description The mail address that signs in
                         * @example ada@example.com
                         */
                        email: string;
                        /**
                         * @description A name that the owner’s pages and passkeys show. Null: none
                         * @example Ada
                         */
                        display_name: string | null;
                        /** @description When it was created */
                        created_at: components["schemas"]["Timestamp"];
                    };
                };
            };
        };
    };
    "identity.getSettings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "display_name": "Ada",
                     *       "default_wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "mail_key_events": false,
                     *       "mail_payments": false,
                     *       "spending_alert_threshold": "2500000"
                     *     }
                     */
                    "application/json": components["schemas"]["AccountSettings"];
                };
            };
        };
    };
    "identity.updateSettings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Ada",
                 *       "default_wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                 *       "mail_key_events": false,
                 *       "mail_payments": false,
                 *       "spending_alert_threshold": "2500000"
                 *     }
                 */
                "application/json": {
                    /** @description A name that the owner’s pages and passkeys show. Null removes it */
                    display_name?: string | null;
                    /** @description The wallet from which a settle with an access token pays. Default: the first linked wallet. A change takes effect within 2 s */
                    default_wallet_id?: components["schemas"]["WalletId"] | null;
                    /** @description Whether mails report new, removed and replaced keys and passkeys */
                    mail_key_events?: boolean;
                    /** @description Whether mails report payments made and received. Default false */
                    mail_payments?: boolean;
                    /** @description A mail is sent once a day when the payments of a UTC day exceed this amount, and again when they exceed a raised amount. Null: no mail. In USDC micro-units */
                    spending_alert_threshold?: components["schemas"]["MicroUsdc"] | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "display_name": "Ada",
                     *       "default_wallet_id": "wal_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "mail_key_events": false,
                     *       "mail_payments": false,
                     *       "spending_alert_threshold": "2500000"
                     *     }
                     */
                    "application/json": components["schemas"]["AccountSettings"];
                };
            };
        };
    };
    "settlement.getAccountLimits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "per_payment": "2500000",
                     *       "daily": "2500000",
                     *       "used_today": "0",
                     *       "remaining_today": "0",
                     *       "resets_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AccountLimits"];
                };
            };
        };
    };
    "settlement.updateAccountLimits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "per_payment": "2500000",
                 *       "daily": "2500000"
                 *     }
                 */
                "application/json": {
                    /** @description Largest single payment. In USDC micro-units */
                    per_payment?: components["schemas"]["MicroUsdc"];
                    /** @description Sum of a UTC day. In USDC micro-units */
                    daily?: components["schemas"]["MicroUsdc"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "per_payment": "2500000",
                     *       "daily": "2500000",
                     *       "used_today": "0",
                     *       "remaining_today": "0",
                     *       "resets_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AccountLimits"];
                };
            };
        };
    };
    "identity.closeAccount": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "acct_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "closed",
                     *       "closed_at": "2026-11-21T10:00:00.000Z",
                     *       "erase_at": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": {
                        account_id: components["schemas"]["AccountId"];
                        /**
                         * @description The account is closed
                         * @constant
                         */
                        status: "closed";
                        /** @description When it was closed */
                        closed_at: components["schemas"]["Timestamp"];
                        /** @description When its personal data are erased */
                        erase_at: components["schemas"]["Timestamp"];
                    };
                };
            };
        };
    };
    "identity.listPasskeys": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "passkey_id": "pk_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "label": "Laptop",
                     *           "backed_up": false,
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "last_used_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["Passkey"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "identity.deletePasskey": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example pk_01kaj5w0c0e8h9x2m4n6p8q0rs */
                passkey_id: components["schemas"]["PasskeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK, no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "identity.listKeys": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "key_id": "key_01kapbqv1ge0krf0fxxfcz15re",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "name": "Weather API",
                     *           "beginning": "vendor_test_V7mq",
                     *           "current": false,
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "last_used_at": "2026-11-21T10:00:00.000Z",
                     *           "expires_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["ListedKey"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "identity.listSessions": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "session_id": "ses_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "current": false,
                     *           "open": false,
                     *           "method": "email",
                     *           "client_name": "quittance on build-7",
                     *           "signed_in_at": "2026-11-21T10:00:00.000Z",
                     *           "last_refreshed_at": "2026-11-21T10:00:00.000Z",
                     *           "expires_at": "2026-11-21T10:00:00.000Z",
                     *           "delegates": [
                     *             {
                     *               "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *               "name": "Research agent"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["SignIn"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "identity.deleteSession": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example ses_01kaj5w0c0e8h9x2m4n6p8q0rs */
                session_id: components["schemas"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK, no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "identity.listSecurityEvents": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "security_event_id": "sev_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "kind": "signed_in",
                     *           "details": {
                     *             "method": "passkey"
                     *           },
                     *           "address": "203.0.113.0/24",
                     *           "agent": "Firefox",
                     *           "created_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["SecurityEvent"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "identity.noteExport": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "of": "account"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description What is exported
                     * @example account
                     * @enum {string}
                     */
                    of: "account" | "transactions" | "sales" | "statement";
                };
            };
        };
        responses: {
            /** @description OK, no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "settlement.x402Supported": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kinds": [
                     *         {
                     *           "x402Version": 2,
                     *           "scheme": "exact",
                     *           "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                     *           "extra": {
                     *             "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *           }
                     *         }
                     *       ],
                     *       "extensions": [
                     *         "payment-identifier"
                     *       ],
                     *       "signers": {
                     *         "solana:*": [
                     *           "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description The accepted kinds of payment */
                        kinds: {
                            /**
                             * @description The version of x402
                             * @example 2
                             */
                            x402Version: number;
                            /**
                             * @description Always `exact`
                             * @example exact
                             */
                            scheme: string;
                            /**
                             * @description CAIP-2 id of the chain, or its name in version 1
                             * @example solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1
                             */
                            network: string;
                            /** @description What the scheme needs besides */
                            extra: {
                                /**
                                 * @description Who pays the fee of the transaction, and co-signs it
                                 * @example Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u
                                 */
                                feePayer: string;
                            };
                        }[];
                        /**
                         * @description The supported extensions of x402
                         * @example [
                         *       "payment-identifier"
                         *     ]
                         */
                        extensions: string[];
                        /**
                         * @description Addresses that co-sign, by network
                         * @example {
                         *       "solana:*": [
                         *         "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                         *       ]
                         *     }
                         */
                        signers: {
                            [key: string]: string[];
                        };
                    };
                };
            };
        };
    };
    "settlement.x402Verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "x402Version": 2,
                 *       "paymentPayload": {
                 *         "x402Version": 2,
                 *         "accepted": {
                 *           "scheme": "exact",
                 *           "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                 *           "amount": "50000",
                 *           "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
                 *           "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *           "maxTimeoutSeconds": 60,
                 *           "extra": {
                 *             "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *           }
                 *         },
                 *         "payload": {
                 *           "transaction": "AgAAAAAAAAAAAAAAAAAAAA=="
                 *         }
                 *       },
                 *       "paymentRequirements": {
                 *         "scheme": "exact",
                 *         "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                 *         "amount": "50000",
                 *         "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
                 *         "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *         "maxTimeoutSeconds": 60,
                 *         "extra": {
                 *           "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The version of x402
                     * @example 2
                     */
                    x402Version?: number;
                    paymentPayload: components["schemas"]["X402PaymentPayload"];
                    paymentRequirements: components["schemas"]["X402PaymentRequirements"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "isValid": true,
                     *       "payer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *     }
                     */
                    "application/json": components["schemas"]["X402VerifyResponse"];
                };
            };
        };
    };
    "settlement.x402Settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "x402Version": 2,
                 *       "paymentPayload": {
                 *         "x402Version": 2,
                 *         "accepted": {
                 *           "scheme": "exact",
                 *           "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                 *           "amount": "50000",
                 *           "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
                 *           "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *           "maxTimeoutSeconds": 60,
                 *           "extra": {
                 *             "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *           }
                 *         },
                 *         "payload": {
                 *           "transaction": "AgAAAAAAAAAAAAAAAAAAAA=="
                 *         }
                 *       },
                 *       "paymentRequirements": {
                 *         "scheme": "exact",
                 *         "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                 *         "amount": "50000",
                 *         "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
                 *         "payTo": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                 *         "maxTimeoutSeconds": 60,
                 *         "extra": {
                 *           "feePayer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The version of x402
                     * @example 2
                     */
                    x402Version?: number;
                    paymentPayload: components["schemas"]["X402PaymentPayload"];
                    paymentRequirements: components["schemas"]["X402PaymentRequirements"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "transaction": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                     *       "payer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "amount": "50000",
                     *       "extra": {
                     *         "quittance": {
                     *           "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["X402SettleResponse"];
                };
            };
        };
    };
    "settlement.foreignTerms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
                     *       "mpp_network": "mainnet-beta",
                     *       "mint": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "decimals": 6,
                     *       "token_program": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "fee_payer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "payout_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "fee": {
                     *         "bps": 0,
                     *         "min": "0",
                     *         "fee_wallet": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description CAIP-2 id of the chain, as x402 names it
                         * @example solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1
                         */
                        network: string;
                        /**
                         * @description The chain, as MPP names it
                         * @enum {string}
                         */
                        mpp_network: "mainnet-beta" | "devnet" | "localnet";
                        /** @description The mint of USDC */
                        mint: components["schemas"]["SolanaAddress"];
                        /**
                         * @description Decimals of the mint
                         * @constant
                         */
                        decimals: 6;
                        /** @description The program that owns the mint */
                        token_program: components["schemas"]["SolanaAddress"];
                        /** @description Who pays the fee of the transaction, and co-signs it */
                        fee_payer: components["schemas"]["SolanaAddress"];
                        /** @description The address of the service that is paid */
                        payout_address: components["schemas"]["SolanaAddress"];
                        /** @description What the platform gets of a payment */
                        fee: {
                            /** @description Hundredths of a percent of the price */
                            bps: number;
                            /** @description The smallest fee. In USDC micro-units */
                            min: components["schemas"]["MicroUsdcOrZero"];
                            /** @description The address that gets the fee */
                            fee_wallet: components["schemas"]["SolanaAddress"];
                        };
                    };
                };
            };
        };
    };
    "settlement.acceptForeign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rail": "x402",
                 *       "quote_amount": "2500000",
                 *       "memo": "b3f1…",
                 *       "transaction": "AQAAAAAAAAAAAAAAAAAAAA==",
                 *       "redeem_id": "replica-1-request-88",
                 *       "resource": "https://api.example.com/report"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The protocol of the client
                     * @enum {string}
                     */
                    rail: "x402" | "mpp";
                    /** @description The price of the vendor’s offer. In USDC micro-units */
                    quote_amount: components["schemas"]["MicroUsdc"];
                    /**
                     * @description The memo that the offer requires. Without it any single memo or none is accepted, because clients of x402 version 1 write none
                     * @example b3f1…
                     */
                    memo?: string;
                    /** @description The transaction that the client has signed */
                    transaction: components["schemas"]["WireTransaction"];
                    redeem_id: components["schemas"]["RedeemId"];
                    /**
                     * @description What the client pays for. It is shown to the vendor
                     * @example https://api.example.com/report
                     */
                    resource?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "confirmed",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
                     *       "quote_amount": "2500000",
                     *       "fee_amount": "12500",
                     *       "payer_address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "source_account": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u",
                     *       "redeemed_at": "2026-11-21T10:00:00.000Z",
                     *       "redeem_id": "replica-1-request-88",
                     *       "replayed": false
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /**
                         * @description The payment is on chain
                         * @constant
                         */
                        status: "confirmed";
                        /** @description The transaction on chain */
                        tx_hash: components["schemas"]["TransactionHash"];
                        /** @description What the payer pays. In USDC micro-units */
                        quote_amount: components["schemas"]["MicroUsdc"];
                        /**
                         * @description What the platform gets of it. In USDC micro-units
                         * @example 12500
                         */
                        fee_amount: components["schemas"]["MicroUsdcOrZero"];
                        /** @description Address that signed the payment */
                        payer_address: components["schemas"]["SolanaAddress"];
                        /** @description Token account that paid */
                        source_account: components["schemas"]["SolanaAddress"];
                        /** @description When it was redeemed first */
                        redeemed_at: components["schemas"]["Timestamp"];
                        redeem_id: components["schemas"]["RedeemId"];
                        /** @description Whether an earlier call has redeemed it */
                        replayed: boolean;
                    };
                };
            };
            /** @description Accepted, not final yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "pending",
                     *       "tx_hash": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /**
                         * @description The payment is under way. Repeat the call
                         * @constant
                         */
                        status: "pending";
                        /** @description The transaction on chain. Null until it is seen there */
                        tx_hash: components["schemas"]["TransactionHash"] | null;
                    };
                };
            };
        };
    };
    "settlement.reissueForeign": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs */
                settlement_id: components["schemas"]["SettlementId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "redeem_id": "replica-1-request-88"
                 *     }
                 */
                "application/json": {
                    redeem_id: components["schemas"]["RedeemId"];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *       "status": "issued"
                     *     }
                     */
                    "application/json": {
                        settlement_id: components["schemas"]["SettlementId"];
                        /**
                         * @description The success can be handed out once more
                         * @constant
                         */
                        status: "issued";
                    };
                };
            };
        };
    };
    "gateway.health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "time": "2026-11-21T10:00:00.000Z"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always ok: a process that is not alive does not answer
                         * @constant
                         */
                        status: "ok";
                        /** @description The time of the server */
                        time: components["schemas"]["Timestamp"];
                    };
                };
            };
        };
    };
    "gateway.ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ready",
                     *       "environments": {}
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Always ready: otherwise the answer is 503
                         * @constant
                         */
                        status: "ready";
                        /** @description The state of each part, by environment and part */
                        environments: {
                            [key: string]: {
                                [key: string]: "up" | "down";
                            };
                        };
                    };
                };
            };
        };
    };
    "gateway.environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "environments": {}
                     *     }
                     */
                    "application/json": {
                        /** @description By the name of the environment */
                        environments: {
                            [key: string]: {
                                /** @description The mint of USDC on the network of this environment */
                                usdc_mint: components["schemas"]["SolanaAddress"];
                                /**
                                 * @description CAIP-2 id of the chain, as x402 names it. Null: not configured
                                 * @example solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1
                                 */
                                x402_network: string | null;
                            };
                        };
                    };
                };
            };
        };
    };
    "gateway.requests": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the previous page. Without it: the first page */
                cursor?: string;
                /** @description Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
                limit?: string;
                /** @description true: only calls that were answered with an error */
                refused?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "request_id": "req-7f3a",
                     *           "created_at": "2026-11-21T10:00:00.000Z",
                     *           "method": "GET",
                     *           "path": "/v1/settlements/:settlement_id/redeem",
                     *           "operation": "settlement.redeem",
                     *           "status": 409,
                     *           "code": "validation_error",
                     *           "message": "the settlement is redeemed with another redeem_id",
                     *           "duration_ms": 12,
                     *           "credential": "service_key",
                     *           "service_id": "0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17",
                     *           "delegate_id": "del_01kaj5w0c0e8h9x2m4n6p8q0rs",
                     *           "ids": {}
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description The items of this page, newest first */
                        data: components["schemas"]["ApiRequest"][];
                        /**
                         * @description `cursor` of the next page. Null: this page is the last
                         * @example null
                         */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    "gateway.jwks": {
        parameters: {
            query?: {
                /** @description Only the keys of this environment */
                environment?: components["schemas"]["Environment"];
                /** @description true: also keys that no longer sign, which verify old receipts */
                all?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keys": [
                     *         {
                     *           "kty": "OKP",
                     *           "crv": "Ed25519",
                     *           "alg": "EdDSA",
                     *           "use": "sig",
                     *           "kid": "test.quote.1",
                     *           "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
                     *           "env": "test",
                     *           "retired_at": "2026-11-21T10:00:00.000Z",
                     *           "compromised_at": "2026-11-21T10:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description The public keys (RFC 7517) */
                        keys: {
                            /**
                             * @description Key type (RFC 8037)
                             * @constant
                             */
                            kty: "OKP";
                            /**
                             * @description Curve
                             * @constant
                             */
                            crv: "Ed25519";
                            /**
                             * @description Algorithm of the signatures
                             * @constant
                             */
                            alg: "EdDSA";
                            /**
                             * @description The key verifies signatures
                             * @constant
                             */
                            use: "sig";
                            /**
                             * @description Id of the key: environment, use and number. A token names it
                             * @example test.quote.1
                             */
                            kid: string;
                            /**
                             * @description The public key, base64url
                             * @example JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs
                             */
                            x: string;
                            /** @description The environment whose tokens it verifies */
                            env: components["schemas"]["Environment"];
                            /** @description Since when it signs nothing. A token of a later time is forged */
                            retired_at?: components["schemas"]["Timestamp"];
                            /** @description Since when others may have the private key. Nothing that it signed proves anything any more */
                            compromised_at?: components["schemas"]["Timestamp"];
                        }[];
                    };
                };
            };
        };
    };
}
