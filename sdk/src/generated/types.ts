// Generated from shared/contract/ by `npm run generate`; do not edit.

/** What each operation gets and returns, by its name. */
export interface operations {
  'identity.createService': {
    input: CreateServiceRequest;
    output: NewService | NewServiceReplayed;
  };
  'identity.listServices': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
    };
    output: ServicePage;
  };
  'quote.create': {
    input: CreateQuoteRequest;
    output: Quote;
  };
  'quote.createPaymentLink': {
    input: CreatePaymentLinkRequest;
    output: PaymentLink;
  };
  'quote.listPaymentLinks': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only links of this service */
      service_id?: ServiceId;
    };
    output: PaymentLinkPage;
  };
  'quote.getPaymentLink': {
    input: {
      payment_link_id: PaymentLinkId;
    };
    output: PaymentLink;
  };
  'quote.deactivatePaymentLink': {
    input: {
      payment_link_id: PaymentLinkId;
    };
    output: PaymentLink;
  };
  'settlement.redeem': {
    input: {
      settlement_id: SettlementId;
    } & RedeemRequest;
    output: Redemption;
  };
  'settlement.verify': {
    input: {
      settlement_id: SettlementId;
    };
    output: SettlementVerification;
  };
  'settlement.consume': {
    input: {
      settlement_id: SettlementId;
    } & ConsumeRequest;
    output: Consumption;
  };
  'settlement.usage': {
    input: {
      settlement_id: SettlementId;
    } & UsageRequest;
    output: RecordedUsage;
  };
  'settlement.capture': {
    input: {
      settlement_id: SettlementId;
    } & CaptureRequest;
    output: ConfirmedCapture | PendingCapture;
  };
  'settlement.void': {
    input: {
      settlement_id: SettlementId;
    } & VoidRequest;
    output: VoidedSettlement;
  };
  'quote.list': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only quotes of this service */
      service_id?: ServiceId;
      /** Only quotes of this status */
      status?: QuoteStatus;
    };
    output: QuoteRecordPage;
  };
  'quote.get': {
    input: {
      quote_id: QuoteId;
    };
    output: QuoteRecord;
  };
  'identity.getService': {
    input: {
      service_id: ServiceId;
    };
    output: Service;
  };
  'identity.updateService': {
    input: {
      service_id: ServiceId;
    } & UpdateServiceRequest;
    output: Service;
  };
  'identity.deleteService': {
    input: {
      service_id: ServiceId;
    } & DeleteServiceRequest;
    output: undefined;
  };
  'identity.showFee': {
    input: {
      /** A price in micro-units. In USDC micro-units */
      price: MicroUsdc;
    };
    output: PriceFee;
  };
  'identity.checkServiceDomain': {
    input: {
      service_id: ServiceId;
    };
    output: Service;
  };
  'identity.rotateServiceKey': {
    input: {
      service_id: ServiceId;
    } & RotateKeyRequest;
    output: RotatedKey | RotatedKeyReplayed;
  };
  'identity.revealServiceKey': {
    input: {
      service_id: ServiceId;
    } & RevealKeyRequest;
    output: MailSent;
  };
  'identity.verifyServiceReveal': {
    input: {
      service_id: ServiceId;
    } & VerifyKeyRevealRequest;
    output: NewKey;
  };
  'settlement.settle': {
    input: SettleRequest;
    output: ConfirmedSettlement | AuthorizedSettlement | PendingSettlement;
  };
  'settlement.close': {
    input: {
      settlement_id: SettlementId;
    };
    output: ClosedAuthorization;
  };
  'quote.openPaymentLink': {
    input: {
      payment_link_id: PaymentLinkId;
    } & OpenPaymentLinkRequest;
    output: OpenedPaymentLink;
  };
  'settlement.payLink': {
    input: PayPaymentLinkRequest;
    output: PaidPaymentLink | PendingIncomingPayment;
  };
  'quote.describePhonePayment': {
    input: {
      payment_link_id: PaymentLinkId;
      /** The environment of the link */
      environment: Environment;
      handle: PageHandle;
    };
    output: PhonePaymentLabel;
  };
  'quote.requestPhonePayment': {
    input: {
      payment_link_id: PaymentLinkId;
      /** The environment of the link */
      environment: Environment;
      handle: PageHandle;
    } & RequestPhonePaymentRequest;
    output: RequestedPhonePayment;
  };
  'settlement.followPhonePayment': {
    input: FollowPhonePaymentRequest;
    output: PhonePayment | PaidPaymentLink;
  };
  'settlement.get': {
    input: {
      settlement_id: SettlementId;
    };
    output: Settlement;
  };
  'settlement.list': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only settlements of this status */
      status?: SettlementStatus;
      /** Only settlements that were paid in this way */
      rail?: Rail;
      /** Only payments of this service */
      service_id?: ServiceId;
      /** Only the payment of this attempt. For the payer */
      payment_attempt_id?: PaymentAttemptId;
      /** Which side of the payments to list. For an access token. Default payer */
      role?: "payer" | "vendor";
    };
    output: SettlementPage;
  };
  'settlement.getReceipt': {
    input: {
      settlement_id: SettlementId;
    };
    output: SettlementReceipt;
  };
  'settlement.listDeclines': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only declines of this quote */
      quote_id?: QuoteId;
      /** Only declines of quotes of this service */
      service_id?: ServiceId;
      /** Only declines of this delegate. For the payer */
      delegate_id?: DelegateId;
      /** Only declines with this error code. For the payer */
      code?: "limit_exceeded" | "insufficient_funds" | "delegation_inactive" | "forbidden" | "conflict" | "quote_expired" | "authorization_closed" | "approval_denied" | "approval_expired" | "service_unavailable";
      /** Which side of the payments to list. For an access token. Default payer */
      role?: "payer" | "vendor";
    };
    output: DeclinePage;
  };
  'settlement.payExternal': {
    input: OutgoingPaymentRequest;
    output: OutgoingPayment;
  };
  'settlement.reportExternal': {
    input: {
      settlement_id: SettlementId;
    } & ReportOutgoingPaymentRequest;
    output: OutgoingPaymentReport;
  };
  'identity.createDelegate': {
    input: CreateDelegateRequest;
    output: NewDelegate | NewDelegateReplayed;
  };
  'identity.listDelegates': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** current: those that are not revoked, which is the default. revoked: the deleted ones */
      status?: "current" | "revoked";
    };
    output: DelegatePage;
  };
  'identity.getDelegate': {
    input: {
      delegate_id: DelegateId;
    };
    output: Delegate;
  };
  'identity.updateDelegate': {
    input: {
      delegate_id: DelegateId;
    } & UpdateDelegateRequest;
    output: Delegate;
  };
  'identity.deleteDelegate': {
    input: {
      delegate_id: DelegateId;
    };
    output: undefined;
  };
  'identity.getOwnDelegate': {
    input: Record<never, never>;
    output: Delegate;
  };
  'identity.rotateDelegateKey': {
    input: {
      delegate_id: DelegateId;
    } & RotateKeyRequest;
    output: RotatedKey | RotatedKeyReplayed;
  };
  'identity.revealDelegateKey': {
    input: {
      delegate_id: DelegateId;
    } & RevealKeyRequest;
    output: MailSent;
  };
  'identity.verifyDelegateReveal': {
    input: {
      delegate_id: DelegateId;
    } & VerifyKeyRevealRequest;
    output: NewKey;
  };
  'settlement.listApprovals': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only approvals of this status */
      status?: ApprovalStatus;
    };
    output: ApprovalPage;
  };
  'settlement.getApproval': {
    input: {
      approval_id: ApprovalId;
    };
    output: Approval;
  };
  'identity.approvalOptions': {
    input: {
      approval_id: ApprovalId;
    };
    output: PasskeyApprovalOptions;
  };
  'identity.approve': {
    input: {
      approval_id: ApprovalId;
    } & ApprovePaymentRequest;
    output: Approval;
  };
  'settlement.denyApproval': {
    input: {
      approval_id: ApprovalId;
    };
    output: Approval;
  };
  'wallet.link': {
    input: LinkWalletRequest;
    output: Wallet;
  };
  'wallet.list': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
    };
    output: WalletPage;
  };
  'wallet.provision': {
    input: ProvisionWalletRequest;
    output: Wallet;
  };
  'wallet.onboarding': {
    input: {
      wallet_id: WalletId;
    } & OnboardingRequest;
    output: PreparedTransaction;
  };
  'wallet.delegate': {
    input: {
      wallet_id: WalletId;
    } & SignedTransactionRequest;
    output: Wallet | PreparedTransaction;
  };
  'wallet.revoke': {
    input: {
      wallet_id: WalletId;
    } & SignedTransactionRequest;
    output: Wallet | PreparedTransaction;
  };
  'wallet.backup': {
    input: {
      wallet_id: WalletId;
    };
    output: WalletBackup;
  };
  'wallet.replaceBackup': {
    input: {
      wallet_id: WalletId;
    } & ReplaceWalletBackupRequest;
    output: WalletBackup;
  };
  'funding.devFund': {
    input: DevFundRequest;
    output: DevFunding;
  };
  'wallet.listTransactions': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only transfers of this type */
      type?: TransactionType;
      /** Only transfers in this direction */
      direction?: "in" | "out";
      /** Only transfers of this status */
      status?: "confirmed" | "finalized" | "reversed";
      /** Only payments of this service and their refunds */
      service_id?: ServiceId;
      /** Only payments of this delegate and their refunds */
      delegate_id?: DelegateId;
      /** Only transfers of this settlement, deposit, withdrawal, refund or test funding */
      object_id?: string;
      /** Only transfers of this transaction on chain */
      tx_hash?: TransactionHash;
      /** This time and later */
      from?: Moment;
      /** Before this time */
      to?: Moment;
    };
    output: TransactionPage;
  };
  'wallet.spendingSummary': {
    input: {
      /** This time and later */
      from?: Moment;
      /** Before this time */
      to?: Moment;
      /** Default day (UTC). Days are in their order, other groups in the order of what was spent */
      group_by?: "day" | "service" | "delegate";
    };
    output: SpendingSummary;
  };
  'wallet.salesSummary': {
    input: {
      /** This time and later */
      from?: Moment;
      /** Before this time */
      to?: Moment;
      /** Default day (UTC). Days are in their order, services in the order of what was sold */
      group_by?: "day" | "service";
    };
    output: SalesSummary;
  };
  'funding.createDeposit': {
    input: CreateDepositRequest;
    output: Deposit;
  };
  'funding.listDeposits': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only deposits of this status */
      status?: DepositStatus;
      /** Only deposits into this wallet */
      wallet_id?: WalletId;
    };
    output: DepositPage;
  };
  'funding.getDeposit': {
    input: {
      deposit_id: DepositId;
    };
    output: Deposit;
  };
  'funding.createWithdrawal': {
    input: CreateWithdrawalRequest;
    output: PreparedWithdrawal;
  };
  'funding.listWithdrawals': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only withdrawals from this wallet */
      wallet_id?: WalletId;
      /** Only withdrawals of this status */
      status?: WithdrawalStatus;
    };
    output: WithdrawalPage;
  };
  'funding.approveWithdrawal': {
    input: {
      withdrawal_id: WithdrawalId;
    } & SignedTransactionRequest;
    output: PreparedWithdrawal | Withdrawal;
  };
  'funding.cancelWithdrawal': {
    input: {
      withdrawal_id: WithdrawalId;
    };
    output: Withdrawal;
  };
  'funding.getWithdrawal': {
    input: {
      withdrawal_id: WithdrawalId;
    };
    output: Withdrawal;
  };
  'funding.providerWebhook': {
    input: {
      provider: OnrampProvider;
      /** The environment of the deposit */
      environment: Environment;
    };
    output: ProviderReportReceived;
  };
  'funding.createRefund': {
    input: CreateRefundRequest;
    output: PreparedRefund;
  };
  'funding.listRefunds': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only refunds of this settlement */
      settlement_id?: SettlementId;
      /** Only refunds of this status */
      status?: RefundStatus;
      /** vendor: only refunds that the account makes. payer: only those that it receives. For an access token */
      role?: "payer" | "vendor";
    };
    output: RefundPage;
  };
  'funding.submitRefund': {
    input: {
      refund_id: RefundId;
    } & SignedTransactionRequest;
    output: PreparedRefund | Refund;
  };
  'funding.cancelRefund': {
    input: {
      refund_id: RefundId;
    };
    output: Refund;
  };
  'funding.getRefund': {
    input: {
      refund_id: RefundId;
    };
    output: Refund;
  };
  'settlement.getFees': {
    input: Record<never, never>;
    output: Fees;
  };
  'settlement.createFeeQuote': {
    input: Record<never, never>;
    output: Quote;
  };
  'webhook.createEndpoint': {
    input: CreateWebhookEndpointRequest;
    output: NewWebhookEndpoint | NewWebhookEndpointReplayed;
  };
  'webhook.listEndpoints': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
    };
    output: WebhookEndpointPage;
  };
  'webhook.getEndpoint': {
    input: {
      endpoint_id: EndpointId;
    };
    output: WebhookEndpoint;
  };
  'webhook.updateEndpoint': {
    input: {
      endpoint_id: EndpointId;
    } & UpdateWebhookEndpointRequest;
    output: WebhookEndpoint;
  };
  'webhook.deleteEndpoint': {
    input: {
      endpoint_id: EndpointId;
    };
    output: undefined;
  };
  'webhook.testEndpoint': {
    input: {
      endpoint_id: EndpointId;
    };
    output: Event;
  };
  'webhook.rotateEndpointSecret': {
    input: {
      endpoint_id: EndpointId;
    };
    output: RotatedWebhookSecret | RotatedWebhookSecretReplayed;
  };
  'webhook.listDeliveries': {
    input: {
      endpoint_id: EndpointId;
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only deliveries of this status */
      status?: DeliveryStatus;
    };
    output: WebhookDeliveryPage;
  };
  'webhook.redeliver': {
    input: {
      endpoint_id: EndpointId;
    } & RedeliverRequest;
    output: Redelivery;
  };
  'webhook.listEvents': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** Only events of this type */
      type?: EventType;
      /** Only events of this object */
      object_id?: string;
    };
    output: EventPage;
  };
  'webhook.getEvent': {
    input: {
      event_id: EventId;
    };
    output: Event;
  };
  'identity.createAccount': {
    input: MagicLinkRequest;
    output: MailSent;
  };
  'identity.requestMagicLink': {
    input: MagicLinkRequest;
    output: MailSent;
  };
  'identity.readMagicLink': {
    input: ReadMagicLinkRequest;
    output: MagicLink;
  };
  'identity.followMagicLink': {
    input: FollowMagicLinkRequest;
    output: FollowedMagicLink;
  };
  'identity.verifyMagicLink': {
    input: VerifyMagicLinkRequest;
    output: Session;
  };
  'identity.passkeyLoginOptions': {
    input: PasskeyLoginOptionsRequest;
    output: PasskeyOptions;
  };
  'identity.passkeyLoginVerify': {
    input: PasskeyLoginVerifyRequest;
    output: Session;
  };
  'identity.passkeyRegisterOptions': {
    input: PasskeyRegisterOptionsRequest;
    output: PasskeyRegistrationOptions;
  };
  'identity.passkeyRegisterVerify': {
    input: PasskeyRegisterVerifyRequest;
    output: Passkey;
  };
  'identity.startDeviceSignIn': {
    input: StartDeviceSignInRequest;
    output: DeviceSignIn;
  };
  'identity.pollDeviceSignIn': {
    input: PollDeviceSignInRequest;
    output: DeviceSession | PendingDeviceSignIn;
  };
  'identity.readDeviceSignIn': {
    input: ReadDeviceSignInRequest;
    output: DeviceSignInDetails;
  };
  'identity.decideDeviceSignIn': {
    input: DecideDeviceSignInRequest;
    output: DeviceSignInDecision;
  };
  'identity.refresh': {
    input: RefreshRequest;
    output: Session;
  };
  'identity.logout': {
    input: LogoutRequest;
    output: undefined;
  };
  'identity.getAccount': {
    input: Record<never, never>;
    output: Account;
  };
  'identity.getSettings': {
    input: Record<never, never>;
    output: AccountSettings;
  };
  'identity.updateSettings': {
    input: UpdateAccountSettingsRequest;
    output: AccountSettings;
  };
  'settlement.getAccountLimits': {
    input: Record<never, never>;
    output: AccountLimits;
  };
  'settlement.updateAccountLimits': {
    input: UpdateAccountLimitsRequest;
    output: AccountLimits;
  };
  'identity.closeAccount': {
    input: Record<never, never>;
    output: ClosedAccount;
  };
  'identity.listPasskeys': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
    };
    output: PasskeyPage;
  };
  'identity.deletePasskey': {
    input: {
      passkey_id: PasskeyId;
    };
    output: undefined;
  };
  'identity.listKeys': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
    };
    output: ListedKeyPage;
  };
  'identity.listSessions': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
    };
    output: SignInPage;
  };
  'identity.deleteSession': {
    input: {
      session_id: SessionId;
    };
    output: undefined;
  };
  'identity.listSecurityEvents': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
    };
    output: SecurityEventPage;
  };
  'identity.noteExport': {
    input: NoteExportRequest;
    output: undefined;
  };
  'settlement.x402Supported': {
    input: Record<never, never>;
    output: X402Supported;
  };
  'settlement.x402Verify': {
    input: X402Request;
    output: X402VerifyResponse;
  };
  'settlement.x402Settle': {
    input: X402Request;
    output: X402SettleResponse;
  };
  'settlement.foreignTerms': {
    input: Record<never, never>;
    output: IncomingTerms;
  };
  'settlement.acceptForeign': {
    input: IncomingPaymentRequest;
    output: ConfirmedIncomingPayment | PendingIncomingPayment;
  };
  'settlement.reissueForeign': {
    input: {
      settlement_id: SettlementId;
    } & ReissueRequest;
    output: Reissue;
  };
  'settlement.getBlockhash': {
    input: {
      /** The environment of the quote. Default test */
      environment?: Environment;
    };
    output: RecentBlockhash;
  };
  'gateway.health': {
    input: Record<never, never>;
    output: Health;
  };
  'gateway.ready': {
    input: Record<never, never>;
    output: Readiness;
  };
  'gateway.environments': {
    input: Record<never, never>;
    output: Environments;
  };
  'gateway.requests': {
    input: {
      /** `next_cursor` of the previous page. Without it: the first page */
      cursor?: string;
      /** Maximum number of items per page, 1 to 100, default 20. A page of large items may have fewer */
      limit?: string;
      /** true: only calls that were answered with an error */
      refused?: "true" | "false";
    };
    output: ApiRequestPage;
  };
  'gateway.jwks': {
    input: {
      /** Only the keys of this environment */
      environment?: Environment;
      /** true: also keys that no longer sign, which verify old receipts */
      all?: "true" | "false";
    };
    output: SigningKeys;
  };
}

/** The event that a webhook endpoint gets, by its type. */
export interface webhooks {
  'quote.settling': WebhookEventQuoteSettling;
  'quote.settled': WebhookEventQuoteSettled;
  'quote.expired': WebhookEventQuoteExpired;
  'payment_link.paid': WebhookEventPaymentLinkPaid;
  'settlement.authorized': WebhookEventSettlementAuthorized;
  'settlement.extended': WebhookEventSettlementExtended;
  'settlement.at_risk': WebhookEventSettlementAtRisk;
  'settlement.captured': WebhookEventSettlementCaptured;
  'settlement.voided': WebhookEventSettlementVoided;
  'settlement.issued': WebhookEventSettlementIssued;
  'settlement.finalized': WebhookEventSettlementFinalized;
  'settlement.redeemed': WebhookEventSettlementRedeemed;
  'settlement.expired': WebhookEventSettlementExpired;
  'settlement.failed': WebhookEventSettlementFailed;
  'settlement.reversed': WebhookEventSettlementReversed;
  'settlement.declined': WebhookEventSettlementDeclined;
  'refund.submitted': WebhookEventRefundSubmitted;
  'refund.confirmed': WebhookEventRefundConfirmed;
  'refund.finalized': WebhookEventRefundFinalized;
  'refund.failed': WebhookEventRefundFailed;
  'refund.cancelled': WebhookEventRefundCancelled;
  'refund.expired': WebhookEventRefundExpired;
  'withdrawal.submitted': WebhookEventWithdrawalSubmitted;
  'withdrawal.confirmed': WebhookEventWithdrawalConfirmed;
  'withdrawal.finalized': WebhookEventWithdrawalFinalized;
  'withdrawal.failed': WebhookEventWithdrawalFailed;
  'withdrawal.cancelled': WebhookEventWithdrawalCancelled;
  'withdrawal.expired': WebhookEventWithdrawalExpired;
  'deposit.awaiting_payment': WebhookEventDepositAwaitingPayment;
  'deposit.processing': WebhookEventDepositProcessing;
  'deposit.settling': WebhookEventDepositSettling;
  'deposit.completed': WebhookEventDepositCompleted;
  'deposit.failed': WebhookEventDepositFailed;
  'deposit.cancelled': WebhookEventDepositCancelled;
  'deposit.expired': WebhookEventDepositExpired;
  'delegate.created': WebhookEventDelegateCreated;
  'delegate.updated': WebhookEventDelegateUpdated;
  'delegate.deleted': WebhookEventDelegateDeleted;
  'delegate.exhausted': WebhookEventDelegateExhausted;
  'approval.requested': WebhookEventApprovalRequested;
  'approval.decided': WebhookEventApprovalDecided;
  'key.rotated': WebhookEventKeyRotated;
  'key.revealed': WebhookEventKeyRevealed;
  'key.ended': WebhookEventKeyEnded;
  'webhook.test': WebhookEventWebhookTest;
}

export type Problem = {
    /**
     * Format: uri
     * @description The same as `error.docs_url`
     */
    type: string;
    /** @description What the code means, the same for each occurrence */
    title: string;
    /** @description The HTTP status */
    status: number;
    /** @description The same as `error.message` */
    detail: string;
} & Error;
export type Account = {
    account_id: AccountId;
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
    created_at: Timestamp;
};
/**
 * @description Id of the account, beginning with acct_ (TypeID: UUIDv7 in base32)
 * @example acct_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type AccountId = string;
/** @description What sign-ins of the account may pay without a recent sign-in */
export type AccountLimits = {
    /** @description Largest single payment. In USDC micro-units */
    per_payment: MicroUsdc;
    /** @description Sum of a UTC day. In USDC micro-units */
    daily: MicroUsdc;
    /** @description What sign-ins have paid in this UTC day, or hold for payments that are under way. In USDC micro-units */
    used_today: MicroUsdcOrZero;
    /** @description What a sign-in may still pay in this UTC day. In USDC micro-units */
    remaining_today: MicroUsdcOrZero;
    /** @description When the day ends */
    resets_at: Timestamp;
};
export type AccountSettings = {
    /**
     * @description A name that the owner’s pages and passkeys show. Null: none
     * @example Ada
     */
    display_name: string | null;
    /** @description The wallet from which a settle with an access token pays. Default: the first linked wallet. A change takes effect within 2 s */
    default_wallet_id: WalletId | null;
    /** @description Whether mails report new, removed and replaced keys and passkeys */
    mail_key_events: boolean;
    /** @description Whether mails report payments made and received. Default false */
    mail_payments: boolean;
    /** @description A mail is sent once a day when the payments of a UTC day exceed this amount, and again when they exceed a raised amount. Null: no mail. In USDC micro-units */
    spending_alert_threshold: MicroUsdc | null;
};
/** @description A call of the account to this API */
export type ApiRequest = {
    /**
     * @description Id of the call, as in its header `x-request-id`
     * @example req-7f3a
     */
    request_id: string;
    /** @description When it was answered */
    created_at: Timestamp;
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
    /** @description The error code. Null: no error. There may be further ones */
    code: ("validation_error" | "unauthorized" | "payment_required" | "insufficient_funds" | "forbidden" | "limit_exceeded" | "approval_required" | "approval_denied" | "approval_expired" | "reauthentication_required" | "not_found" | "method_not_allowed" | "conflict" | "delegation_inactive" | "quote_already_settled" | "idempotency_mismatch" | "settlement_exhausted" | "usage_exceeds_authorization" | "authorization_closed" | "capture_below_fee" | "payment_failed" | "quote_expired" | "settlement_expired" | "payload_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "service_unavailable") | null;
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
    service_id: ServiceId | null;
    /** @description The delegate whose key called */
    delegate_id: DelegateId | null;
    /** @description Ids of objects in the call and its answer, by the name of the field */
    ids: {
        [key: string]: string;
    };
};
export type ApiRequestPage = {
    /** @description The items of this page, newest first */
    data: ApiRequest[];
    next_cursor: NextCursor;
};
/** @description A payment of a delegate that its owner must approve. It reserves nothing */
export type Approval = {
    approval_id: ApprovalId;
    status: ApprovalStatus;
    delegate_id: DelegateId;
    payment_attempt_id: PaymentAttemptId;
    rail: Rail;
    /** @description What would be paid. In USDC micro-units */
    amount: MicroUsdc;
    /** @description Everybody who would be paid. Of a quote, the service with the whole amount, of which the platform gets its fee */
    payees: Payee[];
    /** @description Null for a vendor that does not use Quittance */
    service_id: ServiceId | null;
    /**
     * @description Name of the service, or host of the vendor
     * @example Weather API
     */
    service_name: string;
    /** @description The quote to pay. Null for a vendor that does not use Quittance */
    quote_id: QuoteId | null;
    /**
     * @description What is paid for: of a quote, what it is signed for (the title of a payment link, or the address); otherwise what the delegate says. Null: the quote names nothing
     * @example https://api.example.com/report
     */
    resource: string | null;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description It cannot be approved or used after this time */
    expires_at: Timestamp;
    /** @description When the owner decided. Null: not yet */
    decided_at: Timestamp | null;
    /** @description The payment that used the approval */
    settlement_id: SettlementId | null;
};
/**
 * @description Id of the approval, beginning with apr_ (TypeID: UUIDv7 in base32)
 * @example apr_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type ApprovalId = string;
export type ApprovalPage = {
    /** @description The items of this page, newest first */
    data: Approval[];
    next_cursor: NextCursor;
};
/**
 * @description awaiting_approval: the owner has not decided. expired: the owner did not decide in time
 * @enum {string}
 */
export type ApprovalStatus = "awaiting_approval" | "approved" | "denied" | "expired";
export type ApprovePaymentRequest = {
    /** @description What the browser returned, as JSON */
    response: PasskeyAssertion;
};
/** @description The ceiling of a quote with `capture`, and what is used of it */
export type Authorization = {
    /**
     * @description Who decides what is captured, as its quote says
     * @enum {string}
     */
    mode: "manual" | "usage";
    /**
     * @description The ceiling that the payer authorized. In USDC micro-units
     * @example 500000
     */
    max_amount: MicroUsdc;
    /**
     * @description What was reported as used. In USDC micro-units
     * @example 480000
     */
    used: MicroUsdcOrZero;
    /**
     * @description What can still be reported as used. 0: nothing, or the authorization is closed. In USDC micro-units
     * @example 20000
     */
    left: MicroUsdcOrZero;
    unit_price: MicroUsdc | null;
    /**
     * @description The least use that is captured. Less does not exceed the fee: it is released, and nobody pays it. In USDC micro-units
     * @example 10001
     */
    least_capture: MicroUsdc;
    /** @description Until when use can be reported and captured */
    capture_ends_at: Timestamp;
    /** @description When the payer’s wallet was seen not to cover what is held. Null: it was not */
    at_risk_at: Timestamp | null;
    /** @description When it ended without a payment. Null: it did not */
    voided_at: Timestamp | null;
};
export type AuthorizedSettlement = {
    settlement_id: SettlementId;
    /** @description Proof of the authorization. The payer gives it to the vendor */
    settlement_token: CompactToken;
    /**
     * @description The ceiling is held. Nothing is paid yet
     * @constant
     */
    status: "authorized";
    /** @description There is no transaction before the capture */
    tx_hash: null;
    /**
     * @description The ceiling that the payer authorized. In USDC micro-units
     * @example 500000
     */
    max_amount: MicroUsdc;
    /** @description Until when use can be reported and captured */
    capture_ends_at: Timestamp;
    /** @description Only of a quote with `extends`; the rest is about the authorization that it extended */
    extension_id?: ExtensionId;
};
/**
 * @description Base58 hash of a recent block, which dates a transaction
 * @example EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N
 */
export type Blockhash = string;
/** @description The fee is the larger of the two, computed on what is captured. Use that does not exceed it is not captured, and is void when the window ends */
export type CaptureFee = {
    /**
     * @description Part of the captured amount, in hundredths of a percent
     * @example 50
     */
    bps: number;
    /**
     * @description The smallest fee. In USDC micro-units
     * @example 10000
     */
    min: MicroUsdcOrZero;
};
export type CaptureRequest = {
    /**
     * @description What to capture. Default: what was reported as used. In USDC micro-units
     * @example 480000
     */
    amount?: MicroUsdc;
    /** @description The settlement token, as the payer gave it */
    settlement_token?: CompactToken;
};
/** @description How a part of the ceiling is captured */
export type CaptureTerms = {
    /**
     * @description manual: the vendor captures an amount up to the ceiling. usage: the sum of what was reported is captured
     * @enum {string}
     */
    mode: "manual" | "usage";
    /**
     * @description Seconds from the authorization in which use can be reported and captured
     * @example 3600
     */
    window_seconds: number;
    unit_price: MicroUsdc | null;
    /**
     * @description Reported use that is captured at once, before the window ends. Null: none. In USDC micro-units
     * @example 1000000
     */
    threshold: MicroUsdc | null;
    fee: CaptureFee;
};
/**
 * @description The state of the payment on chain. none: there is none yet. finalized: no fork can undo it any more
 * @enum {string}
 */
export type ChainStatus = "none" | "pending" | "confirmed" | "finalized" | "failed";
export type ClosedAccount = {
    account_id: AccountId;
    /**
     * @description The account is closed
     * @constant
     */
    status: "closed";
    /** @description When it was closed */
    closed_at: Timestamp;
    /** @description When its personal data are erased */
    erase_at: Timestamp;
};
export type ClosedAuthorization = {
    settlement_id: SettlementId;
    /** @description `voided`: nothing is paid. `capturing` or `redeemed`: what was used is paid. `authorized`: it is closed, and captured as soon as possible */
    status: SettlementStatus;
    /**
     * @description The ceiling that the payer authorized. In USDC micro-units
     * @example 500000
     */
    max_amount: MicroUsdc;
    /**
     * @description What was reported as used until it was closed. In USDC micro-units
     * @example 480000
     */
    used: MicroUsdcOrZero;
};
/**
 * @description base64url(payload).base64url(signature), Ed25519
 * @example eyJ2IjoxfQ.c2lnbmF0dXJl
 */
export type CompactToken = string;
export type ConfirmedCapture = {
    settlement_id: SettlementId;
    /**
     * @description What the payer pays. In USDC micro-units
     * @example 480000
     */
    captured_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description What the vendor gets of it. In USDC micro-units
     * @example 2487500
     */
    net_amount: MicroUsdc;
    /**
     * @description The ceiling that the payer authorized. In USDC micro-units
     * @example 500000
     */
    max_amount: MicroUsdc;
    /**
     * @description The payment is on chain
     * @constant
     */
    status: "confirmed";
    /** @description The transaction on chain */
    tx_hash: TransactionHash;
};
export type ConfirmedIncomingPayment = {
    settlement_id: SettlementId;
    /**
     * @description The payment is on chain
     * @constant
     */
    status: "confirmed";
    /** @description The transaction on chain */
    tx_hash: TransactionHash;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /** @description Address that signed the payment */
    payer_address: SolanaAddress;
    /** @description Token account that paid */
    source_account: SolanaAddress;
    /** @description When it was redeemed first */
    redeemed_at: Timestamp;
    redeem_id: RedeemId;
    /** @description Whether an earlier call has redeemed it */
    replayed: boolean;
};
export type ConfirmedSettlement = {
    settlement_id: SettlementId;
    /** @description Proof of the payment. The payer gives it to the vendor */
    settlement_token: CompactToken;
    /**
     * @description The payment is on chain
     * @constant
     */
    status: "confirmed";
    /** @description The transaction on chain */
    tx_hash: TransactionHash;
    /** @description Until when the vendor can redeem it */
    redeem_expires_at: Timestamp;
    /** @description Earlier transactions of this payment, which a fork replaced */
    superseded_tx_hashes?: TransactionHash[];
};
export type ConsumeRequest = {
    /** @description The settlement token, as the payer gave it */
    settlement_token: CompactToken;
    /** @description How many units to consume */
    units: number;
    request_id: RequestId;
};
export type Consumption = {
    settlement_id: SettlementId;
    /** @description Units of the settlement consumed by this request and all earlier ones */
    units_consumed: number;
    /** @description Units of the settlement that remain after this request */
    units_remaining: number;
};
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
export type CreateDelegateRequest = {
    /**
     * @description A name for the owner
     * @example Research agent
     */
    name: string;
    wallet_id: WalletId;
    /** @description What the key may spend. An omitted limit does not exist */
    limits: {
        /** @description Largest single payment. In USDC micro-units */
        per_payment?: MicroUsdc;
        /** @description Sum of a UTC day. In USDC micro-units */
        daily?: MicroUsdc;
        /** @description Sum of a UTC month. In USDC micro-units */
        monthly?: MicroUsdc;
        /** @description Sum of all payments. In USDC micro-units */
        total?: MicroUsdc;
    };
    /** @description The only services that the key may pay. Null or omitted: any */
    allowed_service_ids?: ServiceId[];
    /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
    external?: DelegateOutgoingRequest | null;
    /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
    approval_above?: MicroUsdc | null;
    /**
     * @description When the key ends. Null or omitted: never
     * @example 2099-12-31T00:00:00.000Z
     */
    expires_at?: Moment;
};
export type CreateDepositRequest = {
    wallet_id: WalletId;
    provider: OnrampProvider;
    fiat_currency: FiatCurrency;
    fiat_amount: FiatAmount;
    /**
     * @description Where the browser is sent after the payment
     * @example https://shop.example.com/thanks
     */
    redirect_url?: string;
};
export type CreatePaymentLinkRequest = {
    service_id: ServiceId;
    /**
     * @description What is sold, for the buyer
     * @example Ticket for the harbour tour
     */
    title: string;
    /** @description What each buyer pays. Default: the price of the service at this moment. In USDC micro-units */
    quote_amount?: MicroUsdc;
    /**
     * @description Whether it can be paid once only. Default false
     * @example true
     */
    single_use?: boolean;
    /**
     * @description Where the page leads after the payment, with the parameter `quittance_settlement`. The buyer decides to follow
     * @example https://shop.example.com/thanks
     */
    success_url?: string;
};
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
export type CreateQuoteRequest = {
    service_id: ServiceId;
    /** @description What the payer pays. Default: the price of the service. In USDC micro-units */
    quote_amount?: MicroUsdc;
    /**
     * @description When the payer pays. automatic: `quote_amount`, when the quote is settled. manual: what the vendor captures later, up to `max_amount`. usage: what the vendor reports as used, up to `max_amount`. Default automatic
     * @enum {string}
     */
    capture?: "automatic" | "manual" | "usage";
    /** @description The ceiling that the payer authorizes. Only with `capture` manual or usage, which require it. In USDC micro-units */
    max_amount?: MicroUsdc;
    /**
     * @description What one unit costs, for use that is reported in units. In USDC micro-units
     * @example 250
     */
    unit_price?: MicroUsdc;
    /**
     * @description Seconds from the authorization in which use can be reported and captured
     * @example 3600
     */
    capture_window_seconds?: number;
    /**
     * @description Reported use that is captured at once. Only with `capture` usage. In USDC micro-units
     * @example 1000000
     */
    capture_threshold?: MicroUsdc;
    /** @description The quote of an open authorization: settling the new quote extends its ceiling by `max_amount`. Everything else stays as that quote has it, so send nothing of it */
    extends?: QuoteId;
    currency?: Currency;
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
    scope?: Scope;
};
export type CreateRefundRequest = {
    settlement_id: SettlementId;
    /** @description How much to refund. Default: the rest of the net amount. In USDC micro-units */
    amount?: MicroUsdc;
    /**
     * @description Why. Payer and vendor see it
     * @example The report was empty
     */
    reason?: string;
};
export type CreateServiceRequest = {
    /**
     * @description Payers see it
     * @example Weather API
     */
    name: string;
    /** @description What the payer pays. It must exceed the fee, which the vendor absorbs: `net_amount` of the answer is what you receive. Prices of x402 routes may be lower. In USDC micro-units */
    price: MicroUsdc;
    /** @description The wallet that is paid */
    payout_address: SolanaAddress;
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
export type CreateWebhookEndpointRequest = {
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
    event_types?: EventTypePattern[];
};
export type CreateWithdrawalRequest = {
    /** @description The wallet that pays */
    wallet_id: WalletId;
    /** @description How much to withdraw. In USDC micro-units */
    amount: MicroUsdc;
    /** @description The wallet or token account that receives it */
    destination_address: SolanaAddress;
};
/**
 * @description Always USDC
 * @constant
 */
export type Currency = "USDC";
export type DecideDeviceSignInRequest = {
    user_code: UserCode;
    /** @description true signs the device in, false denies it */
    allow: boolean;
};
/** @description A settle that was refused, once for each quote, delegate or sign-in, and reason. Nothing was paid. Stored for 90 days */
export type Decline = {
    decline_id: DeclineId;
    quote_id: QuoteId;
    service_id: ServiceId;
    /**
     * @description Who asked for it, as the quote says
     * @example Weather API
     */
    service_name: string;
    /**
     * @description What was to be bought: a title, or an address. Null: the quote does not say
     * @example https://api.example.com/forecast
     */
    item: string | null;
    /** @description What the quote costs. In USDC micro-units */
    amount: MicroUsdc;
    /**
     * @description The error code that the payer got. A vendor sees `payer_declined` only
     * @enum {string}
     */
    code: "limit_exceeded" | "insufficient_funds" | "delegation_inactive" | "forbidden" | "conflict" | "quote_expired" | "authorization_closed" | "approval_denied" | "approval_expired" | "service_unavailable" | "payer_declined";
    /** @description When the payment was refused first */
    created_at: Timestamp;
    /** @description The delegate whose key tried to pay; null: a sign-in of the account. Shown only to the payer */
    delegate_id?: DelegateId | null;
    /** @description The first one. Shown only to the payer */
    payment_attempt_id?: PaymentAttemptId;
    /** @description Shown only to the payer */
    reason?: DeclineReason;
    /** @description Null if no limit of delegate or wallet is the reason. Shown only to the payer */
    limit?: DeclineLimit | null;
};
/**
 * @description Id of the decline, beginning with dcl_ (TypeID: UUIDv7 in base32)
 * @example dcl_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type DeclineId = string;
/** @description The limit that refused the payment */
export type DeclineLimit = {
    /** @description Amount of the payment. In USDC micro-units */
    asked: MicroUsdc;
    /** @description The limit itself. In USDC micro-units */
    limit: MicroUsdcOrZero;
    /** @description What no other payment has used or holds. In USDC micro-units */
    left: MicroUsdcOrZero;
    /** @description When a daily or monthly limit starts again */
    resets_at: Timestamp | null;
};
export type DeclinePage = {
    /** @description The items of this page, newest first */
    data: Decline[];
    next_cursor: NextCursor;
};
/**
 * @description per_payment, daily, monthly, total: the limit of the delegate. account_per_payment, account_daily: the limit of the account for a sign-in. balance, allowance: of the wallet, less what other payments hold. hourly_cap, fee_budget, payments_paused: the platform accepts no further payment at the moment. tab_amount, tab_new_payer, tab_share, tab_vendor: the ceiling of a quote with `capture` exceeds what may be authorized by one quote, by a payer without a final payment, or for one vendor. There may be further ones
 * @enum {string}
 */
export type DeclineReason = "per_payment" | "daily" | "monthly" | "total" | "account_per_payment" | "account_daily" | "balance" | "allowance" | "service_not_allowed" | "delegate_unknown" | "delegate_paused" | "account_frozen" | "vendor_frozen" | "own_quote" | "quote_expired" | "authorization_closed" | "approval_denied" | "approval_expired" | "tab_amount" | "tab_new_payer" | "tab_share" | "tab_vendor" | "payments_paused" | "hourly_cap" | "fee_budget";
/** @description A key with spending limits */
export type Delegate = {
    delegate_id: DelegateId;
    /**
     * @description A name for the owner
     * @example Research agent
     */
    name: string;
    wallet_id: WalletId;
    limits: DelegateLimits;
    /** @description How much of the limits is used */
    usage: DelegateUsages;
    /**
     * @description The only services that the key may pay. Null or omitted: any
     * @example null
     */
    allowed_service_ids: ServiceId[] | null;
    /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
    external: DelegateOutgoing | null;
    /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
    approval_above: MicroUsdc | null;
    expires_at: Timestamp | null;
    /**
     * @description paused: the owner has stopped its payments for now. expired: the key can no longer pay. revoked: it was deleted
     * @enum {string}
     */
    status: "active" | "paused" | "expired" | "revoked";
    /** @description When it was deleted and its keys were revoked. Null: it was not */
    revoked_at: Timestamp | null;
    /** @description When it was created */
    created_at: Timestamp;
};
export type DelegateChange = {
    delegate_id: DelegateId;
    /**
     * @description A name for the owner
     * @example Research agent
     */
    name: string;
    wallet_id: WalletId;
    /** @description When the key ends. Null: never */
    expires_at: Timestamp | null;
};
/**
 * @description Id of the delegate, beginning with del_ (TypeID: UUIDv7 in base32)
 * @example del_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type DelegateId = string;
/** @description What the key may spend. Null: no limit */
export type DelegateLimits = {
    per_payment: MicroUsdc | null;
    daily: MicroUsdc | null;
    monthly: MicroUsdc | null;
    total: MicroUsdc | null;
};
export type DelegateOutgoing = {
    /** @description Addresses that may be paid, or `any` */
    pay_to: "any" | SolanaAddress[];
    /** @description Null: any origin */
    origins: string[] | null;
};
export type DelegateOutgoingRequest = {
    /** @description Addresses that may be paid, or `any` */
    pay_to: "any" | SolanaAddress[];
    /** @description Null: any origin */
    origins: string[] | null;
};
export type DelegatePage = {
    /** @description The items of this page, newest first */
    data: Delegate[];
    next_cursor: NextCursor;
};
/** @description How much of a limit is used */
export type DelegateUsage = {
    /** @description What was paid in this period. In USDC micro-units */
    spent: MicroUsdcOrZero;
    /** @description Reserved for payments that are under way. In USDC micro-units */
    held: MicroUsdcOrZero;
    /** @description What may still be paid. Null: no limit. In USDC micro-units */
    remaining: MicroUsdcOrZero | null;
    /** @description When the period ends. Null: never */
    resets_at: Timestamp | null;
};
export type DelegateUsages = {
    /** @description Of this UTC day */
    daily: DelegateUsage;
    /** @description Of this UTC month */
    monthly: DelegateUsage;
    /** @description Of all time */
    total: DelegateUsage;
};
/** @description Read from the chain */
export type Delegation = {
    /**
     * @description active: the platform may spend up to the spending limit. pending: submitted, and not seen on chain yet. exhausted: the limit is used up. overwritten: another program has become the delegate
     * @enum {string}
     */
    status: "none" | "pending" | "active" | "exhausted" | "overwritten" | "revoked";
    /** @description The delegate authority on chain now */
    delegate: SolanaAddress | null;
    /** @description What the platform may still spend. In USDC micro-units */
    allowance: MicroUsdcOrZero;
    /** @description When the chain was read: now, or earlier if it cannot be read now */
    as_of: Timestamp;
};
export type DeleteServiceRequest = {
    /**
     * @description Closes the service if it cannot be deleted yet
     * @constant
     */
    mode?: "close";
};
export type DeliveryAttempt = {
    /** @description When it was made */
    at: Timestamp;
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
};
/**
 * @description pending: a further attempt follows. failed: none follows
 * @enum {string}
 */
export type DeliveryStatus = "pending" | "delivered" | "failed";
export type Deposit = {
    deposit_id: DepositId;
    status: DepositStatus;
    wallet_id: WalletId;
    provider: OnrampProvider;
    fiat_currency: FiatCurrency;
    fiat_amount: FiatAmount;
    /** @description The provider’s estimate, and after completion the amount that arrived. In USDC micro-units */
    amount: MicroUsdc | null;
    /**
     * @description The provider’s payment page, for the customer’s browser
     * @example https://buy.moonpay.com/?signature=Zk3mQ9
     */
    redirect_url: string | null;
    /** @description The transfer on chain, null until it is seen */
    tx_hash: TransactionHash | null;
    /**
     * @description Why it failed, or what keeps a settling deposit from completing
     * @example null
     */
    problem: DepositProblem | null;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description When the deposit expires if it is not paid */
    expires_at: Timestamp;
    /** @description When the USDC had arrived, finally. Null: not yet */
    completed_at: Timestamp | null;
};
export type DepositChange = {
    deposit_id: DepositId;
    status: DepositStatus;
    wallet_id: WalletId;
    provider: OnrampProvider;
    fiat_currency: FiatCurrency;
    fiat_amount: FiatAmount;
    /** @description The provider’s estimate, and after completion the amount that arrived. In USDC micro-units */
    amount: MicroUsdc | null;
    /** @description The transfer on chain, null until it is seen */
    tx_hash: TransactionHash | null;
    /**
     * @description Why it failed, or what keeps a settling deposit from completing
     * @example null
     */
    problem: DepositProblem | null;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description When the deposit expires if it is not paid */
    expires_at: Timestamp;
    /** @description When the USDC had arrived, finally. Null: not yet */
    completed_at: Timestamp | null;
};
/**
 * @description Id of the deposit, beginning with dep_ (TypeID: UUIDv7 in base32)
 * @example dep_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type DepositId = string;
export type DepositPage = {
    /** @description The items of this page, newest first */
    data: Deposit[];
    next_cursor: NextCursor;
};
export type DepositProblem = {
    /** @description What happened, for programs */
    code: string;
    /** @description What happened, for people */
    message: string;
};
/**
 * @description settling: the provider reports that it has sent the USDC. completed: the transfer is finalized on chain
 * @enum {string}
 */
export type DepositStatus = "created" | "awaiting_payment" | "processing" | "settling" | "completed" | "failed" | "cancelled" | "expired";
export type DevFundRequest = {
    wallet_id: WalletId;
    /** @description How much, at most "10000000000". In USDC micro-units */
    amount: MicroUsdc;
};
export type DevFunding = {
    wallet_id: WalletId;
    /** @description What arrived. In USDC micro-units */
    amount: MicroUsdc;
    /** @description The transaction on chain */
    tx_hash: TransactionHash;
    /** @description The USDC in the wallet afterwards. In USDC micro-units */
    balance: MicroUsdcOrZero;
};
export type DeviceSession = {
    /**
     * @description The person has allowed it
     * @constant
     */
    status: "authorized";
} & Session;
export type DeviceSignIn = {
    /**
     * @description The secret of the device, with which it polls
     * @example dc_test_Zk3mQ9
     */
    device_code: string;
    user_code: UserCode;
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
export type DeviceSignInDecision = {
    /**
     * @description What was decided
     * @enum {string}
     */
    status: "allowed" | "denied";
};
export type DeviceSignInDetails = {
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
    created_at: Timestamp;
    /** @description Until when it can be decided */
    expires_at: Timestamp;
};
/**
 * @description Mail address
 * @example ada@example.com
 */
export type Email = string;
/**
 * @description Id of the endpoint, beginning with whe_ (TypeID: UUIDv7 in base32)
 * @example whe_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type EndpointId = string;
/**
 * @description test or live. Each is a separate deployment
 * @enum {string}
 */
export type Environment = "test" | "live";
export type Environments = {
    /** @description By the name of the environment */
    environments: {
        [key: string]: {
            /** @description The mint of USDC on the network of this environment */
            usdc_mint: SolanaAddress;
            /**
             * @description CAIP-2 id of the chain, as x402 names it. Null: not configured
             * @example solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1
             */
            x402_network: string | null;
        };
    };
    /**
     * @description The page that shows all mails, where none is delivered. Null: mails are delivered
     * @example http://127.0.0.1:8025
     */
    caught_mail_url: string | null;
};
/** @description Stored for 30 days */
export type Event = {
    event_id: EventId;
    type: EventType;
    /**
     * @description The object of the event: a quote, settlement, decline, refund, withdrawal, deposit, delegate or service
     * @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs
     */
    object_id: string;
    /** @description When it happened */
    created_at: Timestamp;
    /**
     * @description A refund, withdrawal or deposit has the fields of its GET. A settlement has ids, amounts and `role`, the account’s role in it: `payer` or `vendor`. A decline has the fields of GET /v1/declines and `role`. The data never contain a token or a key.
     * @example {
     *       "settlement_id": "stl_01kaj5w0c0e8h9x2m4n6p8q0rs",
     *       "role": "vendor"
     *     }
     */
    data: {
        [key: string]: unknown;
    };
};
/**
 * @description Id of the event, beginning with evt_ (TypeID: UUIDv7 in base32)
 * @example evt_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type EventId = string;
export type EventPage = {
    /** @description The items of this page, newest first */
    data: Event[];
    next_cursor: NextCursor;
};
/**
 * @description The object and what happened to it. There may be further ones
 * @enum {string}
 */
export type EventType = "quote.settling" | "quote.settled" | "quote.expired" | "payment_link.paid" | "settlement.authorized" | "settlement.extended" | "settlement.at_risk" | "settlement.captured" | "settlement.voided" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test";
/** @enum {string} */
export type EventTypePattern = "*" | "quote.*" | "payment_link.*" | "settlement.*" | "refund.*" | "withdrawal.*" | "deposit.*" | "delegate.*" | "approval.*" | "key.*" | "quote.settling" | "quote.settled" | "quote.expired" | "payment_link.paid" | "settlement.authorized" | "settlement.extended" | "settlement.at_risk" | "settlement.captured" | "settlement.voided" | "settlement.issued" | "settlement.finalized" | "settlement.redeemed" | "settlement.expired" | "settlement.failed" | "settlement.reversed" | "settlement.declined" | "refund.submitted" | "refund.confirmed" | "refund.finalized" | "refund.failed" | "refund.cancelled" | "refund.expired" | "withdrawal.submitted" | "withdrawal.confirmed" | "withdrawal.finalized" | "withdrawal.failed" | "withdrawal.cancelled" | "withdrawal.expired" | "deposit.awaiting_payment" | "deposit.processing" | "deposit.settling" | "deposit.completed" | "deposit.failed" | "deposit.cancelled" | "deposit.expired" | "delegate.created" | "delegate.updated" | "delegate.deleted" | "delegate.exhausted" | "approval.requested" | "approval.decided" | "key.rotated" | "key.revealed" | "key.ended" | "webhook.test";
export type Extension = {
    extension_id: ExtensionId;
    quote_id: QuoteId;
    /** @description What it added to the ceiling. In USDC micro-units */
    amount: MicroUsdc;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description The id that the payer chose. Shown only to the payer */
    payment_attempt_id?: PaymentAttemptId;
};
/**
 * @description Id of the extension, beginning with ext_ (TypeID: UUIDv7 in base32)
 * @example ext_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type ExtensionId = string;
export type Failure = {
    /** @description Why it failed, for programs */
    code: string;
    /** @description Why it failed, for people */
    message: string;
};
export type Fees = {
    /** @description Of all payments that are under way or confirmed, or failed on chain. In USDC micro-units */
    accrued: MicroUsdcOrZero;
    /** @description What the account has paid of them. In USDC micro-units */
    paid: MicroUsdcOrZero;
    /** @description What is still to pay. In USDC micro-units */
    owed: MicroUsdcOrZero;
    /** @description How much the account may owe. It rises with what the account has paid of its fees. In USDC micro-units */
    credit: MicroUsdcOrZero;
};
/**
 * @description Amount in the fiat currency, including the provider’s fees
 * @example 50.00
 */
export type FiatAmount = string;
/**
 * @description ISO 4217
 * @example USD
 */
export type FiatCurrency = string;
export type FollowMagicLinkRequest = {
    /** @description The environment to sign in to. Default test */
    environment?: Environment;
    /**
     * @description Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its own. For pages of our own origins the API sets it in a cookie that scripts cannot read. Other clients omit it.
     * @example nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
     */
    browser_nonce?: string;
};
export type FollowPhonePaymentRequest = {
    /** @description The environment of the link */
    environment: Environment;
    payment_link_id: PaymentLinkId;
    secret: PageSecret;
};
export type FollowedMagicLink = {
    /**
     * @description waiting: it can be used. used_here: this browser has signed in by it. used_elsewhere: another one has. none: there is none, or it has expired
     * @enum {string}
     */
    status: "none" | "waiting" | "used_here" | "used_elsewhere";
};
export type Health = {
    /**
     * @description Always ok: a process that is not alive does not answer
     * @constant
     */
    status: "ok";
    /** @description The time of the server */
    time: Timestamp;
    /**
     * @description The version of the API that answers
     * @example 1.0.0
     */
    version: string;
    /**
     * @description What it was built from: a commit, or `unknown`
     * @example 6f1c2a9
     */
    commit: string;
};
/**
 * @description Chosen by the client, a new one for each object to create (for example a UUID). A repeat with the same key and the same request within 24 hours creates nothing. It gets the first answer, with the header `idempotent-replayed: true`. Another request with the same key is refused. Keys are separate per account and operation.
 * @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17
 */
export type IdempotencyKey = string;
export type IncomingPaymentRequest = {
    /**
     * @description The protocol of the client
     * @enum {string}
     */
    rail: "x402" | "mpp";
    /** @description The price of the vendor’s offer. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description The memo that the offer requires. Without it any single memo or none is accepted, because clients of x402 version 1 write none
     * @example b3f1…
     */
    memo?: string;
    /** @description The transaction that the client has signed */
    transaction: WireTransaction;
    redeem_id: RedeemId;
    /**
     * @description What the client pays for. It is shown to the vendor
     * @example https://api.example.com/report
     */
    resource?: string;
};
export type IncomingTerms = {
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
    mint: SolanaAddress;
    /**
     * @description Decimals of the mint
     * @constant
     */
    decimals: 6;
    /** @description The program that owns the mint */
    token_program: SolanaAddress;
    /** @description Who pays the fee of the transaction, and co-signs it */
    fee_payer: SolanaAddress;
    /** @description The address of the service that is paid */
    payout_address: SolanaAddress;
    /** @description What the platform gets of a payment */
    fee: {
        /** @description Hundredths of a percent of the price */
        bps: number;
        /** @description The smallest fee. In USDC micro-units */
        min: MicroUsdcOrZero;
        /** @description The address that gets the fee */
        fee_wallet: SolanaAddress;
    };
};
/**
 * @description An address or a CIDR block
 * @example 203.0.113.0/24
 */
export type IpBlock = string;
export type KeyChange = {
    /** @description Whose key it is. Null for the key of a delegate */
    service_id: ServiceId | null;
    /** @description Whose key it is. Null for the key of a service */
    delegate_id: DelegateId | null;
    /** @description Until then the previous key works, too. Null: there is none */
    previous_key_expires_at: Timestamp | null;
};
export type KeyRotation = {
    /** @description Until when the previous key works, too. Null: it works no longer */
    previous_key_expires_at: Timestamp | null;
};
export type LinkWalletRequest = {
    /** @description The public key of the wallet */
    public_key: SolanaAddress;
    proof: WalletProof;
    /**
     * @description A name for the owner
     * @example Main wallet
     */
    label?: string;
};
export type ListedKey = {
    /**
     * @description Id of the key
     * @example key_01kapbqv1ge0krf0fxxfcz15re
     */
    key_id: string;
    /** @description The service that it belongs to. Null: a delegate */
    service_id: ServiceId | null;
    /** @description The delegate that it belongs to. Null: a service */
    delegate_id: DelegateId | null;
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
    created_at: Timestamp;
    /** @description When it was last used, exact to an hour. Null: never */
    last_used_at: Timestamp | null;
    /** @description When it ends by itself. Null: never */
    expires_at: Timestamp | null;
};
export type ListedKeyPage = {
    /** @description The items of this page, newest first */
    data: ListedKey[];
    next_cursor: NextCursor;
};
export type LogoutRequest = {
    /**
     * @description The refresh token of this sign-in
     * @example rt_test_Zk3mQ9
     */
    refresh_token?: string;
};
export type MagicLink = {
    /**
     * @description Whom the link signs in
     * @example ada@example.com
     */
    email: string;
    /** @description Whether this browser has requested the link */
    same_browser: boolean;
    /**
     * @description The payment page that has requested the link. Null: another page, or none
     * @example /pay/test/pl_01jd3v9k5mfx2r8q7n6t4w0yzc
     */
    continue_to: string | null;
};
export type MagicLinkRequest = {
    /** @description Where the link is sent */
    email: Email;
    /** @description The environment to sign in to. Default test */
    environment?: Environment;
    /**
     * @description The payment page that requests the link. The page that the link opens goes on there. The mail does not contain it
     * @example /pay/test/pl_01jd3v9k5mfx2r8q7n6t4w0yzc
     */
    continue_to?: string;
    /**
     * @description Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its own. For pages of our own origins the API sets it in a cookie that scripts cannot read. Other clients omit it.
     * @example nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
     */
    browser_nonce?: string;
};
export type MailSent = {
    /**
     * @description The mail is on its way
     * @constant
     */
    status: "sent";
};
/**
 * @description USDC micro-units (1 USDC = 1,000,000) as decimal digits
 * @example 2500000
 */
export type MicroUsdc = string;
/**
 * @description USDC micro-units as decimal digits, zero included
 * @example 0
 */
export type MicroUsdcOrZero = string;
/**
 * Format: date-time
 * @description ISO 8601, UTC
 * @example 2026-11-21T10:00:00.000Z
 */
export type Moment = string;
/**
 * @description The parameters of `WWW-Authenticate: Payment` of the vendor’s 402, unchanged
 * @example {
 *       "id": "x7Tg2",
 *       "realm": "api.example.com",
 *       "method": "solana",
 *       "intent": "charge",
 *       "request": "eyJhbW91bnQiOiI1MDAwMCJ9"
 *     }
 */
export type MppChallenge = {
    /** @description The vendor’s id of the challenge */
    id: string;
    /** @description The protection space */
    realm: string;
    /**
     * @description The payment method
     * @constant
     */
    method: "solana";
    /**
     * @description The intent
     * @constant
     */
    intent: "charge";
    /** @description Base64url of the JSON that names amount, recipient and fee payer */
    request: string;
    /** @description What is sold, for people */
    description?: string;
    /**
     * Format: date-time
     * @description The end of the offer
     */
    expires?: string;
    /** @description The digest of the request’s body */
    digest?: string;
    /** @description The vendor’s own data */
    opaque?: string;
    /**
     * @description The header that presents the payment, if it is not Authorization
     * @constant
     */
    header?: "Payment-Authorization";
};
export type NewDelegate = {
    /**
     * @description The key. It is shown only in this answer. Keep it secret
     * @example dk_test_Zk3mQ9
     */
    api_key: string;
} & Delegate;
export type NewDelegateReplayed = {
    /**
     * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
     * @constant
     */
    secret_already_shown: true;
} & Delegate;
/** @description The key is shown only in this answer */
export type NewKey = {
    /**
     * @description The key. It is shown only in this answer. Keep it secret
     * @example vendor_test_Zk3mQ9
     */
    api_key: string;
} & KeyRotation;
export type NewService = {
    /**
     * @description The key. It is shown only in this answer. Keep it secret
     * @example vendor_test_Zk3mQ9
     */
    api_key: string;
} & Service;
export type NewServiceReplayed = {
    /**
     * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
     * @constant
     */
    secret_already_shown: true;
} & Service;
export type NewWebhookEndpoint = {
    /**
     * @description Shown only in this answer, in the format of standardwebhooks.com
     * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
     */
    secret: string;
} & WebhookEndpoint;
export type NewWebhookEndpointReplayed = {
    /**
     * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
     * @constant
     */
    secret_already_shown: true;
} & WebhookEndpoint;
/**
 * @description `cursor` of the next page. Null: this page is the last
 * @example null
 */
export type NextCursor = string | null;
export type NoteExportRequest = {
    /**
     * @description What is exported
     * @example account
     * @enum {string}
     */
    of: "account" | "transactions" | "sales" | "statement";
};
export type OnboardingRequest = {
    /** @description What the platform may spend in total. In USDC micro-units */
    allowance: MicroUsdc;
};
/**
 * @description Who sells the USDC: MoonPay or Coinbase Onramp
 * @enum {string}
 */
export type OnrampProvider = "moonpay" | "coinbase";
export type OpenPaymentLinkRequest = {
    /** @description The environment that the address of the page names */
    environment: Environment;
};
export type OpenedPaymentLink = {
    /** @description The signed quote */
    quote_token: CompactToken;
};
export type OutgoingPayment = {
    settlement_id: SettlementId;
    /**
     * @description pending: signed, and not seen on chain yet. The amount stays reserved until the payment is seen, or until it is proven that it can no longer be included
     * @enum {string}
     */
    status: "pending" | "confirmed";
    /**
     * @description Value of the header PAYMENT-SIGNATURE (x402 version 1: X-PAYMENT; MPP: Authorization, or the challenge’s `header`). Every answer to the same attempt has the same value
     * @example eyJ4NDAyVmVyc2lvbiI6Mn0=
     */
    payment_signature: string;
    /** @description The signed transaction, without the fee payer’s signature */
    transaction: WireTransaction;
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
};
export type OutgoingPaymentReport = {
    settlement_id: SettlementId;
    /**
     * @description failed: the payment can no longer be included
     * @enum {string}
     */
    status: "pending" | "confirmed" | "failed";
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
};
/**
 * @example {
 *       "payment_attempt_id": "attempt-1",
 *       "resource": "https://api.example.com/report",
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
export type OutgoingPaymentRequest = {
    payment_attempt_id: PaymentAttemptId;
    /**
     * @description The URL that asked for the payment. The word of the caller: it is shown, and compared with `origins`
     * @example https://api.example.com/report
     */
    resource: string;
    /** @description The version of x402 that the vendor speaks. Default 2 */
    x402_version?: 1 | 2;
    requirement?: X402Requirement;
    challenge?: MppChallenge;
};
/**
 * @description The SHA-256 of the payment link’s id, a dot and the secret of the page that shows the code, base64url
 * @example 47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU
 */
export type PageHandle = string;
/**
 * @description What the page alone knows: 32 random bytes, base64url
 * @example AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
 */
export type PageSecret = string;
export type PaidPaymentLink = {
    settlement_id: SettlementId;
    /**
     * @description The payment is on chain
     * @constant
     */
    status: "confirmed";
    /** @description The transaction on chain */
    tx_hash: TransactionHash;
    /**
     * @description The page of the signed receipt. Null: it cannot be made at the moment; repeat the call
     * @example https://api.example.com/receipt#eyJhbGciOiJFZERTQSJ9.e30.c2ln
     */
    receipt_url: string | null;
};
export type Passkey = {
    passkey_id: PasskeyId;
    /**
     * @description A name for the owner
     * @example Laptop
     */
    label: string;
    /** @description Synced between devices by its provider */
    backed_up: boolean;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description When it last signed in or approved. Null: never */
    last_used_at: Timestamp | null;
};
export type PasskeyApprovalOptions = {
    /** @description The passkeys of the account */
    allowCredentials: PasskeyDescriptor[];
} & PasskeyOptions;
export type PasskeyAssertion = {
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
export type PasskeyDescriptor = {
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
};
/**
 * @description Id of the passkey, beginning with pk_ (TypeID: UUIDv7 in base32)
 * @example pk_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type PasskeyId = string;
export type PasskeyLoginOptionsRequest = {
    /** @description The environment to sign in to. Default test */
    environment?: Environment;
};
export type PasskeyLoginVerifyRequest = {
    /** @description The environment to sign in to. Default test */
    environment?: Environment;
    /** @description What the browser returned, as JSON */
    response: PasskeyAssertion;
    /**
     * @description Where the refresh token is returned. Default body. cookie: an HttpOnly, SameSite=Strict cookie that is sent only to POST /v1/auth/refresh, for pages of our own origins.
     * @enum {string}
     */
    refresh_in?: "body" | "cookie";
};
export type PasskeyOptions = {
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
export type PasskeyPage = {
    /** @description The items of this page, newest first */
    data: Passkey[];
    next_cursor: NextCursor;
};
export type PasskeyRegisterOptionsRequest = {
    /** @description Must be the environment of the access token */
    environment?: Environment;
};
export type PasskeyRegisterVerifyRequest = {
    /** @description Must be the environment of the access token */
    environment?: Environment;
    /** @description What the browser returned, as JSON */
    response: PasskeyRegistration;
    /**
     * @description A name for the owner
     * @example Laptop
     */
    label?: string;
};
export type PasskeyRegistration = {
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
export type PasskeyRegistrationOptions = {
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
    excludeCredentials: PasskeyDescriptor[];
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
export type PayPaymentLinkRequest = {
    /** @description The environment of the quote */
    environment: Environment;
    /** @description The quote of the link */
    quote_token: CompactToken;
    secret: PageSecret;
    /** @description The transaction that the wallet has signed */
    transaction: WireTransaction;
};
export type Payee = {
    /** @description Address that is paid */
    address: SolanaAddress;
    /** @description What it gets. In USDC micro-units */
    amount: MicroUsdc;
};
export type PayerPaymentChange = {
    settlement_id: SettlementId;
    rail: Rail;
    /** @description Null for a payment of another protocol that is of no payment link */
    quote_id: QuoteId | null;
    /** @description Null for a vendor that does not use Quittance */
    service_id: ServiceId | null;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description What the vendor gets of it. In USDC micro-units
     * @example 2487500
     */
    net_amount: MicroUsdcOrZero;
    /** @description The metadata of the quote, as its vendor sent it */
    scope: Scope | null;
    /**
     * @description The account pays in this payment
     * @constant
     */
    role: "payer";
    /** @description The wallet that paid */
    wallet_id: WalletId | null;
    /** @description Null if the owner’s own sign-in has paid */
    delegate_id: DelegateId | null;
};
/**
 * @description Chosen by the client, unique per payment attempt. It is the idempotency key of settle
 * @example order-1042-1
 */
export type PaymentAttemptId = string;
export type PaymentLink = {
    payment_link_id: PaymentLinkId;
    service_id: ServiceId;
    /**
     * @description The page to give to buyers. Whoever has the address can pay
     * @example https://api.example.com/pay/test/pl_01kaj5w0c0e8h9x2m4n6p8q0rs
     */
    url: string;
    /**
     * @description What is sold, for the buyer
     * @example Ticket for the harbour tour
     */
    title: string;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /** @description Whether it can be paid once only */
    single_use: boolean;
    success_url: string | null;
    status: PaymentLinkStatus;
    /** @description How many payments of it are confirmed */
    payments: number;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description When it was deactivated. Null: it was not */
    deactivated_at: Timestamp | null;
};
/**
 * @description Id of the payment link, beginning with pl_ (TypeID: UUIDv7 in base32)
 * @example pl_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type PaymentLinkId = string;
export type PaymentLinkPage = {
    /** @description The items of this page, newest first */
    data: PaymentLink[];
    next_cursor: NextCursor;
};
export type PaymentLinkPaid = {
    payment_link_id: PaymentLinkId;
    /**
     * @description What was sold
     * @example Ticket for the harbour tour
     */
    title: string;
    /** @description The payment, which you can read and refund */
    settlement_id: SettlementId;
    quote_id: QuoteId;
    service_id: ServiceId;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
};
/**
 * @description active: can be paid. paid: a link for one payment that was paid. inactive: it was deactivated
 * @enum {string}
 */
export type PaymentLinkStatus = "active" | "paid" | "inactive";
export type PendingCapture = {
    settlement_id: SettlementId;
    /**
     * @description What the payer pays. In USDC micro-units
     * @example 480000
     */
    captured_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description What the vendor gets of it. In USDC micro-units
     * @example 2487500
     */
    net_amount: MicroUsdc;
    /**
     * @description The ceiling that the payer authorized. In USDC micro-units
     * @example 500000
     */
    max_amount: MicroUsdc;
    /**
     * @description The payment is under way. Repeat the call
     * @constant
     */
    status: "pending";
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
};
export type PendingDeviceSignIn = {
    /**
     * @description The person has not decided
     * @constant
     */
    status: "pending";
};
export type PendingIncomingPayment = {
    settlement_id: SettlementId;
    /**
     * @description The payment is under way. Repeat the call
     * @constant
     */
    status: "pending";
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
};
export type PendingSettlement = {
    settlement_id: SettlementId;
    /**
     * @description The payment is under way. Repeat the call with the same id
     * @constant
     */
    status: "pending";
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
};
export type PhonePayment = {
    status: PhonePaymentStatus;
};
export type PhonePaymentLabel = {
    /**
     * @description Who is paid
     * @example City tours: Harbour tour
     */
    label: string;
    /**
     * @description The picture that the wallet shows
     * @example https://api.example.com/favicon.svg
     */
    icon: string;
};
/**
 * @description waiting: no phone has scanned the code, or its wallet did not sign in time. pending: a wallet has the transaction. failed: the chain refused it, and no money moved
 * @enum {string}
 */
export type PhonePaymentStatus = "waiting" | "pending" | "failed";
export type PollDeviceSignInRequest = {
    /**
     * @description The secret of the device, with which it polls
     * @example dc_test_Zk3mQ9
     */
    device_code: string;
};
export type PreparedRefund = {
    /** @description To be signed by the owner. Every signature slot is empty */
    transaction: WireTransaction;
    /** @description When the transaction expires, after 60 to 90 s. Then have it prepared again */
    expires_at: Timestamp;
} & Refund;
/** @description To be signed by the wallet and sent back before it expires */
export type PreparedTransaction = {
    /** @description For the owner to sign. Every signature slot is empty */
    transaction: WireTransaction;
    /** @description When the transaction expires, after 60 to 90 s. Then have it prepared again */
    expires_at: Timestamp;
};
export type PreparedWithdrawal = {
    /** @description To be signed by the owner. Every signature slot is empty */
    transaction: WireTransaction;
    /** @description When the transaction expires, after 60 to 90 s. Then have it prepared again */
    expires_at: Timestamp;
} & Withdrawal;
export type PriceFee = {
    /** @description The price that was asked for. In USDC micro-units */
    price: MicroUsdc;
    /** @description The fee of a quote for the price. In USDC micro-units */
    fee_amount: MicroUsdcOrZero;
    /** @description What you receive of a quote for the price: the price less the fee. In USDC micro-units */
    net_amount: MicroUsdcOrZero;
    /**
     * @description The lowest price that a service may have. In USDC micro-units
     * @example 10001
     */
    lowest_price: MicroUsdc;
};
export type ProviderReportReceived = {
    /**
     * @description The report is stored
     * @constant
     */
    received: true;
};
export type ProvisionWalletRequest = {
    /** @description The public key of the wallet */
    public_key: SolanaAddress;
    proof: WalletProof;
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
export type Quote = {
    quote_id: QuoteId;
    /** @description The signed quote. Give it to the payer */
    quote_token: CompactToken;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    currency: Currency;
    /** @description Until when the quote can be paid */
    expires_at: Timestamp;
    status: QuoteStatus;
    /** @description The ceiling of what is captured, equal to `quote_amount`. Only of a quote with `capture`. In USDC micro-units */
    max_amount?: MicroUsdc;
    /** @description Absent: the whole amount is paid when the quote is settled */
    capture?: CaptureTerms;
    /** @description The quote of the authorization that this one extends. Only of an extension */
    extends?: QuoteId;
};
/**
 * @description Id of the quote, beginning with q_ (TypeID: UUIDv7 in base32)
 * @example q_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type QuoteId = string;
export type QuoteProgress = {
    quote_id: QuoteId;
    service_id: ServiceId;
    /** @description The settlement that pays the quote */
    settlement_id: SettlementId;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description What the vendor gets of it. In USDC micro-units
     * @example 2487500
     */
    net_amount: MicroUsdcOrZero;
};
/** @description A quote as its vendor reads it */
export type QuoteRecord = {
    service_id: ServiceId;
    /**
     * @description Seconds to redeem the settlement, after it is paid
     * @example 900
     */
    redeem_window_seconds: number;
    scope: Scope | null;
    /** @description The settlement that pays the quote. Null: there is none */
    settlement_id: SettlementId | null;
    /** @description When it was created */
    created_at: Timestamp;
} & Quote;
export type QuoteRecordPage = {
    /** @description The items of this page, newest first */
    data: QuoteRecord[];
    next_cursor: NextCursor;
};
/**
 * @description pending: not paid. settling: a payment is under way for at least two seconds. settled: paid. expired: not paid in time
 * @enum {string}
 */
export type QuoteStatus = "pending" | "settling" | "settled" | "expired";
/**
 * @description quittance: paid by POST /v1/settle. x402, mpp: paid by a client of that protocol. x402_out, mpp_out: paid by POST /v1/payments to a vendor of that protocol that does not use Quittance. There may be further ones
 * @enum {string}
 */
export type Rail = "quittance" | "x402" | "mpp" | "x402_out" | "mpp_out";
export type ReadDeviceSignInRequest = {
    user_code: UserCode;
};
export type ReadMagicLinkRequest = {
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
export type Readiness = {
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
/**
 * @description Compact JWS (RFC 7515) with EdDSA
 * @example eyJhbGciOiJFZERTQSIsImtpZCI6InRlc3Quc2V0dGxlbWVudC4xIn0.eyJpc3MiOiJodHRwczovL2FwaSJ9.c2lnbmF0dXJl
 */
export type Receipt = string;
export type ReceiptClaims = {
    /**
     * @description The address of the API that signed it
     * @example https://api.quittance.example
     */
    iss: string;
    /** @description Of the payment. A payment of test moved no real money */
    env: Environment;
    /**
     * @description When it was signed, in seconds since 1970. It states what was known then
     * @example 1795255200
     */
    iat: number;
    settlement_id: SettlementId;
    rail: Rail;
    status: SettlementStatus;
    /** @description `failed`: the chain reversed the payment after it was confirmed */
    chain_status: ChainStatus;
    /**
     * @description CAIP-2 id of the chain
     * @example solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1
     */
    network: string;
    /** @description Null for a payment of another protocol */
    quote: {
        quote_id: QuoteId;
        /** @description When the vendor made the quote */
        issued_at: Timestamp;
    } | null;
    /**
     * @description What was bought, as its vendor or the payer’s client named it: a title, or an address. Null: nobody did
     * @example Harbour tour
     */
    item: string | null;
    /** @description The payment link that was paid. Null: none */
    payment_link_id: PaymentLinkId | null;
    /** @description Who was paid */
    vendor: {
        /** @description Null for an outgoing payment of x402 */
        service_id: ServiceId | null;
        /**
         * @description The name when the payment was priced
         * @example Weather API
         */
        service_name: string;
        /** @description Everybody who was paid, with what it got. Together they got `amount.net` */
        payees: Payee[];
    };
    /** @description Owner of the wallet that paid. Of a client of another protocol: the address that signed */
    payer_address: SolanaAddress;
    /** @description How much was paid */
    amount: {
        /** @description What the payer paid. In USDC micro-units */
        gross: MicroUsdc;
        /** @description What the transaction paid to the platform. In USDC micro-units */
        fee: MicroUsdcOrZero;
        /** @description What the payees received. In USDC micro-units */
        net: MicroUsdc;
        currency: Currency;
        /** @description The mint of USDC on this network */
        mint: SolanaAddress;
    };
    /** @description The transaction on chain */
    transaction: {
        /** @description Its signature, which names it on chain */
        signature: TransactionHash;
        /** @description Earlier transactions of this payment, which a fork replaced */
        superseded: TransactionHash[];
    };
    /** @description When the payment was confirmed on chain */
    confirmed_at: Timestamp;
    /** @description When the vendor redeemed it. Null: not redeemed */
    redeemed_at: Timestamp | null;
    /** @description The confirmed refunds, oldest first, at most 50 */
    refunds: ReceiptRefund[];
    /** @description Number of all confirmed refunds */
    refund_count: number;
    /** @description Sum of all confirmed refunds. In USDC micro-units */
    refunded: MicroUsdcOrZero;
};
export type ReceiptRefund = {
    refund_id: RefundId;
    /** @description What the payer got back. In USDC micro-units */
    amount: MicroUsdc;
    /** @description The transaction on chain */
    signature: TransactionHash;
    /**
     * @description finalized: no fork can undo it any more
     * @enum {string}
     */
    status: "confirmed" | "finalized";
    /** @description When the refund was requested */
    created_at: Timestamp;
};
export type RecentBlockhash = {
    /** @description A blockhash at confirmed commitment */
    blockhash: Blockhash;
    /** @description Who pays the fee of the transaction, and co-signs it */
    fee_payer: SolanaAddress;
};
export type RecordedUsage = {
    settlement_id: SettlementId;
    /**
     * @description The ceiling that the payer authorized. In USDC micro-units
     * @example 500000
     */
    max_amount: MicroUsdc;
    /**
     * @description What was used up to and including the uses of this call. In USDC micro-units
     * @example 480000
     */
    used: MicroUsdcOrZero;
    /**
     * @description What was left after them. In USDC micro-units
     * @example 20000
     */
    left: MicroUsdcOrZero;
};
/**
 * @description Chosen by the vendor’s replica that redeems, so that it recognizes its own repeat
 * @example replica-1-request-88
 */
export type RedeemId = string;
export type RedeemRequest = {
    /** @description The settlement token, as the payer gave it */
    settlement_token: CompactToken;
    redeem_id?: RedeemId;
};
export type RedeliverRequest = {
    /** @description Deliver this event, of any type */
    event_id?: EventId;
    /** @description Deliver the events since this time */
    since?: Moment;
};
export type Redelivery = {
    /**
     * @description Number of events that are delivered again
     * @example 3
     */
    redelivering: number;
};
export type Redemption = {
    settlement_id: SettlementId;
    /**
     * @description Also of a repeat, so read `replayed`
     * @constant
     */
    status: "redeemed";
    /** @description When it was redeemed first */
    redeemed_at: Timestamp;
    /** @description The id that redeemed it first. Null: none was sent */
    redeem_id: RedeemId | null;
    /** @description Whether an earlier call has redeemed it. If it has, do not deliver again */
    replayed: boolean;
};
export type RefreshRequest = {
    /**
     * @description The newest refresh token
     * @example rt_test_Zk3mQ9
     */
    refresh_token?: string;
    /** @description The environment of the cookie. Default test */
    environment?: Environment;
};
export type Refund = {
    refund_id: RefundId;
    status: RefundStatus;
    settlement_id: SettlementId;
    service_id: ServiceId;
    /** @description The address that the settlement paid, whose key signs the refund */
    payout_address: SolanaAddress;
    /** @description What the destination receives. In USDC micro-units */
    amount: MicroUsdc;
    /** @description The wallet or token account that receives it */
    destination_address: SolanaAddress;
    /** @description The token account that receives it */
    destination_token_account: SolanaAddress;
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
    /**
     * @description Why it failed. Null: it has not failed
     * @example null
     */
    failure: Failure | null;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description When the payment was first seen confirmed on chain: its time in the books. Null: not yet */
    confirmed_at: Timestamp | null;
    /** @description Until then it can be signed and submitted. Afterwards it is expired */
    pending_until: Timestamp;
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
export type RefundId = string;
export type RefundPage = {
    /** @description The items of this page, newest first */
    data: Refund[];
    next_cursor: NextCursor;
};
/**
 * @description pending_signature: waits for the signature of the payout address. submitted: sent to the chain. confirmed, finalized: the money has arrived. failed, cancelled, expired: no money moved and none will
 * @enum {string}
 */
export type RefundStatus = "pending_signature" | "submitted" | "confirmed" | "finalized" | "failed" | "cancelled" | "expired";
export type Reissue = {
    settlement_id: SettlementId;
    /**
     * @description The success can be handed out once more
     * @constant
     */
    status: "issued";
};
export type ReissueRequest = {
    redeem_id: RedeemId;
};
export type ReplaceWalletBackupRequest = {
    proof: WalletProof;
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
export type ReportOutgoingPaymentRequest = {
    /**
     * @description Value of the header PAYMENT-RESPONSE (x402 version 1: X-PAYMENT-RESPONSE; MPP: Payment-Receipt)
     * @example eyJzdWNjZXNzIjp0cnVlfQ==
     */
    payment_response: string;
};
/**
 * @description Chosen by the vendor for each delivery, unique within the settlement
 * @example Weather API
 */
export type RequestId = string;
export type RequestPhonePaymentRequest = {
    /** @description The account that pays. Its token account needs the price in USDC */
    account: SolanaAddress;
};
export type RequestedPhonePayment = {
    /** @description With the signature of the fee payer. The account signs last */
    transaction: WireTransaction;
    /**
     * @description What is paid for
     * @example Harbour tour: 2.50 USDC to City tours
     */
    message: string;
};
export type RevealKeyRequest = {
    /** @description Revoke all other keys immediately. Without it the previous key stays valid for its grace period */
    revoke_previous?: boolean;
};
export type RotateKeyRequest = {
    /** @description Revoke all other keys immediately. Without it the previous key stays valid for its grace period */
    revoke_previous?: boolean;
};
export type RotatedKey = {
    /**
     * @description The key. It is shown only in this answer. Keep it secret
     * @example vendor_test_Zk3mQ9
     */
    api_key: string;
} & KeyRotation;
export type RotatedKeyReplayed = {
    /**
     * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
     * @constant
     */
    secret_already_shown: true;
} & KeyRotation;
export type RotatedWebhookSecret = {
    /**
     * @description Shown only in this answer, in the format of standardwebhooks.com
     * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
     */
    secret: string;
} & WebhookSecretRotation;
export type RotatedWebhookSecretReplayed = {
    /**
     * @description A repeat by Idempotency-Key. The secret was in the first answer and is not stored
     * @constant
     */
    secret_already_shown: true;
} & WebhookSecretRotation;
export type SalesSummary = {
    /** @description Begin of the range */
    from: Timestamp;
    /** @description End of the range, which is not part of it */
    to: Timestamp;
    /** @description Number of payments */
    payment_count: number;
    /** @description Gross, fees included. In USDC micro-units */
    total_sold: MicroUsdcOrZero;
    /** @description Refunds that were made in this range. In USDC micro-units */
    total_refunded: MicroUsdcOrZero;
    /** @description What the platform got of the payments. Fees that x402 payments accrue are not part of it. In USDC micro-units */
    total_fees: MicroUsdcOrZero;
    /** @description At most 1,000 groups, those with the most sold. The totals include all groups */
    groups: {
        /** @description Day or service_id */
        key: string | ServiceId;
        /** @description Gross, fees included. In USDC micro-units */
        sold: MicroUsdc;
        /** @description Number of payments of this group */
        payment_count: number;
    }[];
};
/**
 * @description What the quote is for: any JSON object, at most 4096 bytes, without the character U+0000. The token signs it. The key `payment_link` is that of payment links
 * @example {
 *       "resource": "https://api.example.com/report"
 *     }
 */
export type Scope = {
    [key: string]: unknown;
};
export type SecurityEvent = {
    security_event_id: SecurityEventId;
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
    created_at: Timestamp;
};
/**
 * @description Id of the security event, beginning with sev_ (TypeID: UUIDv7 in base32)
 * @example sev_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type SecurityEventId = string;
export type SecurityEventPage = {
    /** @description The items of this page, newest first */
    data: SecurityEvent[];
    next_cursor: NextCursor;
};
export type Service = {
    service_id: ServiceId;
    /**
     * @description Payers see it
     * @example Weather API
     */
    name: string;
    /** @description What the payer pays, unless a quote has its own amount. In USDC micro-units */
    price: MicroUsdc;
    /** @description The wallet that is paid */
    payout_address: SolanaAddress;
    /** @description A change of the payout address that is not effective yet. Null: none */
    next_payout: {
        /** @description The wallet that is paid */
        payout_address: SolanaAddress;
        /** @description From when payments go there */
        effective_at: Timestamp;
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
    /** @description The domain that the vendor claims. Null: none */
    domain: ServiceDomain | null;
    /**
     * @description closing: no new quotes. Payments can still be redeemed and refunded
     * @enum {string}
     */
    status: "active" | "closing";
    /** @description When it was created */
    created_at: Timestamp;
    /** @description From where the keys of the service may be used. Null: from any address */
    allowed_ips: IpBlock[] | null;
    /** @description The fee of a quote for the price. In USDC micro-units */
    fee_amount: MicroUsdcOrZero;
    /** @description What you receive of a quote for the price: the price less the fee. In USDC micro-units */
    net_amount: MicroUsdcOrZero;
};
export type ServiceDomain = {
    /**
     * @description The domain, in ASCII
     * @example xn--mnchen-3ya.de
     */
    name: string;
    /**
     * @description As buyers are shown it: in its own letters, unless they could be taken for those of another domain
     * @example münchen.de
     */
    display_name: string;
    /**
     * @description verified: buyers are shown the domain. unproven: they are not
     * @enum {string}
     */
    status: "unproven" | "verified";
    /** @description The record of the domain’s DNS that proves it */
    record: {
        /**
         * @description The type of the record
         * @constant
         */
        type: "TXT";
        /**
         * @description The name of the record
         * @example _quittance.xn--mnchen-3ya.de
         */
        name: string;
        /**
         * @description Its value. The record may have further ones
         * @example quittance-service=3f0e6b1c-6b0a-4f0e-9c1e-2b9f8f3a7d10
         */
        value: string;
    };
    /** @description What the last check found. record_missing: there is no such record. record_differs: its values name other services. no_answer: the name servers of the domain did not answer. Null: the proof, or nothing was checked yet */
    problem: ("record_missing" | "record_differs" | "no_answer") | null;
    /** @description When the proof was last seen. Null: it was not, or longer ago than it counts */
    verified_at: Timestamp | null;
    /** @description When it was last looked for. Null: not yet */
    checked_at: Timestamp | null;
};
/**
 * @description Id of the vendor’s service, a UUID
 * @example 0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17
 */
export type ServiceId = string;
export type ServicePage = {
    /** @description The items of this page, newest first */
    data: Service[];
    next_cursor: NextCursor;
};
export type Session = {
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
        account_id: AccountId;
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
export type SessionId = string;
export type SettleRequest = {
    /** @description The signed quote, as the vendor gave it */
    quote_token: CompactToken;
    payment_attempt_id: PaymentAttemptId;
};
export type Settlement = {
    settlement_id: SettlementId;
    status: SettlementStatus;
    chain_status: ChainStatus;
    rail: Rail;
    /** @description Null for a payment of another protocol that is of no payment link */
    quote_id: QuoteId | null;
    /** @description Null for an outgoing payment of x402 */
    service_id: ServiceId | null;
    /**
     * @description The name when the payment was priced. Of an outgoing payment of x402: the host that was paid
     * @example Weather API
     */
    service_name: string;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description What the vendor gets of it. In USDC micro-units
     * @example 2487500
     */
    net_amount: MicroUsdc;
    scope: Scope | null;
    /** @description Units that were paid. Only of a prepaid settlement */
    units_total?: number;
    /** @description Units that are left. Only of a prepaid settlement */
    units_remaining?: number;
    /** @description Only of a quote with `capture` */
    authorization?: Authorization;
    /** @description What has added to the ceiling, first to last. Only of a quote with `capture` */
    extensions?: Extension[];
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
    /** @description Earlier transactions of this payment, which a fork replaced */
    superseded_tx_hashes: TransactionHash[];
    /** @description When it was created */
    created_at: Timestamp;
    /** @description When the payment was first seen confirmed on chain: its time in the books. Null: not yet */
    confirmed_at: Timestamp | null;
    /** @description Until when the vendor can redeem it. Null: not paid yet */
    redeem_expires_at: Timestamp | null;
    /** @description When the vendor redeemed it. Null: not redeemed */
    redeemed_at: Timestamp | null;
    /**
     * @description Why it failed. Null: it has not failed
     * @example null
     */
    failure: Failure | null;
    /** @description Owner of the wallet that pays, once the payment is confirmed. Of a client of another protocol: the address that signed, at once */
    payer_address?: SolanaAddress;
    /**
     * @description What the client said it pays for. Only of a payment of another protocol
     * @example https://api.example.com/report
     */
    resource?: string;
    /** @description Fee that the vendor owes for an x402 payment. 0: it failed. Shown only to the vendor. In USDC micro-units */
    accrued_fee?: MicroUsdcOrZero;
    /** @description Which delivery redeemed it; of x402 the hand-out of its success. Null: none. Shown only to the vendor of a payment of another protocol */
    redeem_id?: RedeemId | null;
    /** @description Everybody who is paid. Only of an outgoing payment */
    payees?: Payee[];
    /** @description The id that the payer chose. Shown only to the payer */
    payment_attempt_id?: PaymentAttemptId;
    /** @description The wallet that pays. Shown only to the payer */
    wallet_id?: WalletId;
    /** @description The delegate whose key paid; null: the account itself. Shown only to the payer */
    delegate_id?: DelegateId | null;
    /** @description Proof of the payment, for the vendor. Shown only to the payer, after it is issued */
    settlement_token?: CompactToken;
    /** @description The quote that was paid. Shown only to the payer, and not in lists */
    quote_token?: CompactToken;
};
/**
 * @description Id of the settlement, beginning with stl_ (TypeID: UUIDv7 in base32)
 * @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type SettlementId = string;
export type SettlementPage = {
    /** @description The items of this page, newest first */
    data: Settlement[];
    next_cursor: NextCursor;
};
export type SettlementReceipt = {
    receipt: Receipt;
    /**
     * @description A page that verifies and shows the receipt, for people. Its fragment is the receipt, which no server sees
     * @example https://api.quittance.example/receipt#eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl
     */
    receipt_url: string;
    /** @description The content of the receipt */
    claims: ReceiptClaims;
};
/**
 * @description authorized: a ceiling is held, and nothing is paid yet. capturing: the payment of a part of it is under way. voided: an authorization that ended without a payment. pending: the payment is under way. issued: it is confirmed and can be redeemed. redeemed: the vendor delivers. expired: paid, and not redeemed in time. failed: no money moved and none will
 * @enum {string}
 */
export type SettlementStatus = "pending" | "authorized" | "capturing" | "issued" | "redeemed" | "expired" | "voided" | "failed";
export type SettlementVerification = {
    settlement_id: SettlementId;
    status: SettlementStatus;
    chain_status: ChainStatus;
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description What the vendor gets of it. In USDC micro-units
     * @example 2487500
     */
    net_amount: MicroUsdc;
    service_id: ServiceId;
    scope: Scope | null;
    /** @description Units that were paid. Only of a prepaid settlement */
    units_total?: number;
    /** @description Units that are left. Only of a prepaid settlement */
    units_remaining?: number;
    /** @description Only of a quote with `capture` */
    authorization?: Authorization;
    /** @description Until when the vendor can redeem it. Null: not paid yet */
    redeem_expires_at: Timestamp | null;
    /** @description When the vendor redeemed it. Null: not redeemed */
    redeemed_at: Timestamp | null;
};
export type SignIn = {
    session_id: SessionId;
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
    signed_in_at: Timestamp;
    /** @description When it was last used to get an access token */
    last_refreshed_at: Timestamp;
    /** @description When it ends if it is not refreshed, or has ended */
    expires_at: Timestamp;
    /** @description The delegates that a device made with it and that work. They end with it */
    delegates: {
        delegate_id: DelegateId;
        /**
         * @description Name of the delegate
         * @example Research agent
         */
        name: string;
    }[];
};
export type SignInPage = {
    /** @description The items of this page, newest first */
    data: SignIn[];
    next_cursor: NextCursor;
};
export type SignedTransactionRequest = {
    /** @description Signed by the owner. Omit it to have a transaction prepared again */
    transaction?: WireTransaction;
};
export type SigningKey = {
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
    env: Environment;
    /** @description Since when it signs nothing. A token of a later time is forged */
    retired_at?: Timestamp;
    /** @description Since when others may have the private key. Nothing that it signed proves anything any more */
    compromised_at?: Timestamp;
};
export type SigningKeys = {
    /** @description The public keys (RFC 7517) */
    keys: SigningKey[];
};
/**
 * @description Base58 address
 * @example Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u
 */
export type SolanaAddress = string;
export type SpendingSummary = {
    /** @description Begin of the range */
    from: Timestamp;
    /** @description End of the range, which is not part of it */
    to: Timestamp;
    /** @description Number of payments */
    payment_count: number;
    /** @description Gross, fees included. In USDC micro-units */
    total_spent: MicroUsdcOrZero;
    /** @description Refunds that arrived in this range. In USDC micro-units */
    total_refunded: MicroUsdcOrZero;
    /** @description What the platform got of the payments. In USDC micro-units */
    total_fees: MicroUsdcOrZero;
    /** @description At most 1,000 groups, those with the most spent. The totals include all groups */
    groups: {
        /** @description Day, service_id or delegate_id; null: paid by the account itself and not by a delegate, or to vendors that do not use Quittance and have no service_id */
        key: (string | ServiceId | DelegateId) | null;
        /** @description Gross, fees included. In USDC micro-units */
        spent: MicroUsdc;
        /** @description Number of payments of this group */
        payment_count: number;
    }[];
};
export type StartDeviceSignInRequest = {
    /**
     * @description Shown to the person who confirms
     * @example quittance on build-7
     */
    client_name: string;
    /** @description The environment to sign in to. Default test */
    environment?: Environment;
};
/**
 * Format: date-time
 * @description ISO 8601, UTC
 * @example 2026-11-21T10:00:00.000Z
 */
export type Timestamp = string;
/** @description A transfer on chain as one account sees it */
export type Transaction = {
    transaction_id: TransactionId;
    type: TransactionType;
    /**
     * @description in: the account received it. out: the account sent it
     * @enum {string}
     */
    direction: "in" | "out";
    /** @description The amount that left or reached the account. Of a payment: the gross amount for its payer, the net amount for its vendor. In USDC micro-units */
    amount: MicroUsdc;
    /** @description The platform’s fee on the payment. It is included in the payer’s amount and not in the vendor’s. In USDC micro-units */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description finalized: no fork can undo it any more. reversed: a fork has undone it
     * @enum {string}
     */
    status: "confirmed" | "finalized" | "reversed";
    /** @description The transaction on chain */
    tx_hash: TransactionHash | null;
    /**
     * @description The settlement, deposit, withdrawal, refund or test funding
     * @example stl_01kaj5w0c0e8h9x2m4n6p8q0rs
     */
    object_id: string;
    /** @description Set for a payment and its refund */
    service_id: ServiceId | null;
    /** @description The delegate that paid, or whose payment was refunded. Shown only to the payer */
    delegate_id: DelegateId | null;
    /**
     * @description What was bought, by this payment or before this refund: the title of a payment link, or an address. Null: nothing says so
     * @example https://api.example.com/report
     */
    item: string | null;
    /** @description When the transfer was first seen confirmed */
    created_at: Timestamp;
};
/**
 * @description Base58 signature of the transaction on chain
 * @example 5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW
 */
export type TransactionHash = string;
/**
 * @description Id of the transaction, beginning with txn_ (TypeID: UUIDv7 in base32)
 * @example txn_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type TransactionId = string;
export type TransactionPage = {
    /** @description The items of this page, newest first */
    data: Transaction[];
    next_cursor: NextCursor;
};
/**
 * @description What the transfer is. dev_fund: test USDC
 * @enum {string}
 */
export type TransactionType = "payment" | "deposit" | "withdrawal" | "refund" | "dev_fund";
export type UpdateAccountLimitsRequest = {
    /** @description Largest single payment. In USDC micro-units */
    per_payment?: MicroUsdc;
    /** @description Sum of a UTC day. In USDC micro-units */
    daily?: MicroUsdc;
};
export type UpdateAccountSettingsRequest = {
    /** @description A name that the owner’s pages and passkeys show. Null removes it */
    display_name?: string | null;
    /** @description The wallet from which a settle with an access token pays. Default: the first linked wallet. A change takes effect within 2 s */
    default_wallet_id?: WalletId | null;
    /** @description Whether mails report new, removed and replaced keys and passkeys */
    mail_key_events?: boolean;
    /** @description Whether mails report payments made and received. Default false */
    mail_payments?: boolean;
    /** @description A mail is sent once a day when the payments of a UTC day exceed this amount, and again when they exceed a raised amount. Null: no mail. In USDC micro-units */
    spending_alert_threshold?: MicroUsdc | null;
};
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
export type UpdateDelegateRequest = {
    /**
     * @description A name for the owner
     * @example Research agent
     */
    name?: string;
    /** @description The limits to change. Null removes one */
    limits?: {
        per_payment?: MicroUsdc | null;
        daily?: MicroUsdc | null;
        monthly?: MicroUsdc | null;
        total?: MicroUsdc | null;
    };
    /** @description The only services that the key may pay. Null or omitted: any */
    allowed_service_ids?: ServiceId[] | null;
    /** @description Payments to vendors of x402 that do not use Quittance. Null: none. Not together with allowed_service_ids */
    external?: DelegateOutgoingRequest | null;
    /** @description A payment above this amount waits for the owner’s approval. Null: none does. In USDC micro-units */
    approval_above?: MicroUsdc | null;
    /** @example 2099-12-31T00:00:00.000Z */
    expires_at?: Moment | null;
    /**
     * @description true: its new payments are refused until it is false again. Accepted ones continue, and authorizations are closed: what was used of them is paid
     * @example false
     */
    paused?: boolean;
};
export type UpdateServiceRequest = {
    /**
     * @description Payers see it
     * @example Weather API
     */
    name?: string;
    /** @description What the payer pays. It must exceed the fee, which the vendor absorbs: `net_amount` of the answer is what you receive. Prices of x402 routes may be lower. In USDC micro-units */
    price?: MicroUsdc;
    /** @description The wallet that is paid */
    payout_address?: SolanaAddress;
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
    allowed_ips?: IpBlock[] | null;
    domain?: string | null;
};
export type UpdateWebhookEndpointRequest = {
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
    event_types?: EventTypePattern[];
    /**
     * @description Whether events are delivered
     * @example true
     */
    enabled?: boolean;
};
/** @description One use */
export type Usage = {
    usage_id: UsageId;
    /**
     * @description What was used. Either this or `units`. In USDC micro-units
     * @example 250
     */
    amount?: MicroUsdc;
    /**
     * @description How many units were used, each at the `unit_price` of the quote
     * @example 3
     */
    units?: number;
    /**
     * @description For the record of both sides
     * @example GET /forecast
     */
    reason?: string;
};
/**
 * @description Chosen by the vendor for each use, unique within the settlement
 * @example request-88-tokens-1
 */
export type UsageId = string;
/**
 * @example {
 *       "settlement_token": "eyJ2IjoxfQ.c2lnbmF0dXJl",
 *       "usage_id": "request-88-tokens-1",
 *       "amount": "250",
 *       "reason": "GET /forecast"
 *     }
 */
export type UsageRequest = {
    /** @description The settlement token, as the payer gave it */
    settlement_token: CompactToken;
    usage_id?: UsageId;
    /**
     * @description What was used. Either this or `units`. In USDC micro-units
     * @example 250
     */
    amount?: MicroUsdc;
    /**
     * @description How many units were used, each at the `unit_price` of the quote
     * @example 3
     */
    units?: number;
    /**
     * @description For the record of both sides
     * @example GET /forecast
     */
    reason?: string;
    /** @description Several uses, instead of the fields of one */
    usages?: Usage[];
};
/**
 * @description The code that the device shows and the person types
 * @example WDJB-MJHT
 */
export type UserCode = string;
export type VendorPaymentChange = {
    settlement_id: SettlementId;
    rail: Rail;
    /** @description Null for a payment of another protocol that is of no payment link */
    quote_id: QuoteId | null;
    /** @description Null for a vendor that does not use Quittance */
    service_id: ServiceId | null;
    /** @description What the payer pays. In USDC micro-units */
    quote_amount: MicroUsdc;
    /**
     * @description What the platform gets of it. In USDC micro-units
     * @example 12500
     */
    fee_amount: MicroUsdcOrZero;
    /**
     * @description What the vendor gets of it. In USDC micro-units
     * @example 2487500
     */
    net_amount: MicroUsdcOrZero;
    /** @description The metadata of the quote, as its vendor sent it */
    scope: Scope | null;
    /**
     * @description The account sells in this payment
     * @constant
     */
    role: "vendor";
    /** @description The address that signed a payment of x402 or MPP. Absent for a payer with an account */
    payer_address?: SolanaAddress;
};
export type VerifyKeyRevealRequest = {
    /**
     * @description The token of the mailed link
     * @example rv_test_Zk3mQ9
     */
    token: string;
};
export type VerifyMagicLinkRequest = {
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
    email?: Email;
    /**
     * @description Identifies the browser that requests the link. A browser that has signed in to the address has a limit of its own. For pages of our own origins the API sets it in a cookie that scripts cannot read. Other clients omit it.
     * @example nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
     */
    browser_nonce?: string;
};
export type VoidRequest = {
    /** @description Whether to end it even if use was reported, which nobody pays then */
    discard_usage?: boolean;
};
export type VoidedSettlement = {
    settlement_id: SettlementId;
    /**
     * @description It has ended without a payment
     * @constant
     */
    status: "voided";
    /** @description When it ended */
    voided_at: Timestamp;
    /**
     * @description What was reported as used and is not paid. In USDC micro-units
     * @example 480000
     */
    used: MicroUsdcOrZero;
};
export type Wallet = {
    wallet_id: WalletId;
    /**
     * @description external: linked by its owner. provisioned: made by a client of ours
     * @enum {string}
     */
    kind: "external" | "provisioned";
    /** @description The public key of the wallet */
    address: SolanaAddress;
    /** @description The account on chain that holds its USDC */
    token_account: SolanaAddress;
    /**
     * @description Chosen by the owner
     * @example Main wallet
     */
    label: string | null;
    /** @description Whether the token account existed and was closed, or was given to another owner */
    token_account_closed: boolean;
    /** @description The USDC in the wallet, as of `delegation.as_of`. In USDC micro-units */
    balance: MicroUsdcOrZero;
    delegation: Delegation;
    /** @description When it was created */
    created_at: Timestamp;
};
export type WalletBackup = {
    wallet_id: WalletId;
    /**
     * @description Ciphertext of the private key, which the service cannot read
     * @example eyJhbGciOiJkaXIifQ..Zk3mQ9
     */
    backup: string;
};
/**
 * @description Id of the wallet, beginning with wal_ (TypeID: UUIDv7 in base32)
 * @example wal_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type WalletId = string;
export type WalletPage = {
    /** @description The items of this page, newest first */
    data: Wallet[];
    next_cursor: NextCursor;
};
/** @description Shows that the caller holds the private key. Valid for 5 minutes */
export type WalletProof = {
    /**
     * @description Four lines: "Quittance wallet proof", "account: <account_id>", "wallet: <public_key>", "issued_at: <time>"
     * @example Quittance wallet proof
     *     account: acct_01kaj5w0c0e8h9x2m4n6p8q0rs
     *     wallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u
     *     issued_at: 2026-11-21T10:00:00.000Z
     */
    message: string;
    /**
     * @description Base58 of the Ed25519 signature over the UTF-8 bytes of message, or over Solana’s off-chain envelope of them (version 0 or 1, one signer, application domain of zeros), as a Ledger signs
     * @example 5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW
     */
    signature: string;
};
export type WebhookDelivery = {
    event_id: EventId;
    type: EventType;
    status: DeliveryStatus;
    /** @description The last 16 attempts, oldest first */
    attempts: DeliveryAttempt[];
    /** @description When the next attempt is made. Null: none */
    next_attempt_at: Timestamp | null;
    /** @description When it was created */
    created_at: Timestamp;
};
export type WebhookDeliveryPage = {
    /** @description The items of this page, newest first */
    data: WebhookDelivery[];
    next_cursor: NextCursor;
};
export type WebhookEndpoint = {
    endpoint_id: EndpointId;
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
    event_types: EventTypePattern[];
    /**
     * @description Whether events are delivered
     * @example true
     */
    enabled: boolean;
    /** @description owner: disabled by PATCH. failing: every attempt failed for five days. gone: the endpoint answered 410 */
    disabled_reason: ("owner" | "failing" | "gone") | null;
    /** @description When the first failure since the last success was */
    failing_since: Timestamp | null;
    /** @description Until then deliveries are also signed with the previous secret */
    previous_secret_expires_at: Timestamp | null;
    /** @description When it was created */
    created_at: Timestamp;
};
export type WebhookEndpointPage = {
    /** @description The items of this page, newest first */
    data: WebhookEndpoint[];
    next_cursor: NextCursor;
};
export type WebhookEventApprovalDecided = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "approval.decided";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Approval;
};
export type WebhookEventApprovalRequested = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "approval.requested";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Approval;
};
export type WebhookEventDelegateCreated = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "delegate.created";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DelegateChange;
};
export type WebhookEventDelegateDeleted = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "delegate.deleted";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DelegateChange;
};
export type WebhookEventDelegateExhausted = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "delegate.exhausted";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: {
        delegate_id: DelegateId;
        /**
         * @description The limit that is used up. There may be further ones
         * @enum {string}
         */
        name: "daily" | "monthly" | "total";
        /** @description The limit itself. In USDC micro-units */
        limit: MicroUsdcOrZero;
        /** @description Spent, or held by payments that are under way. In USDC micro-units */
        used: MicroUsdcOrZero;
        /** @description What may still be paid. In USDC micro-units */
        left: MicroUsdcOrZero;
        /** @description When the limit starts again. Null: never */
        resets_at: Timestamp | null;
    };
};
export type WebhookEventDelegateUpdated = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "delegate.updated";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DelegateChange;
};
export type WebhookEventDepositAwaitingPayment = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "deposit.awaiting_payment";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DepositChange;
};
export type WebhookEventDepositCancelled = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "deposit.cancelled";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DepositChange;
};
export type WebhookEventDepositCompleted = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "deposit.completed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DepositChange;
};
export type WebhookEventDepositExpired = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "deposit.expired";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DepositChange;
};
export type WebhookEventDepositFailed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "deposit.failed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DepositChange;
};
export type WebhookEventDepositProcessing = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "deposit.processing";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DepositChange;
};
export type WebhookEventDepositSettling = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "deposit.settling";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: DepositChange;
};
export type WebhookEventKeyEnded = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "key.ended";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: KeyChange;
};
export type WebhookEventKeyRevealed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "key.revealed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: KeyChange;
};
export type WebhookEventKeyRotated = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "key.rotated";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: KeyChange;
};
export type WebhookEventPaymentLinkPaid = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "payment_link.paid";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: PaymentLinkPaid;
};
export type WebhookEventQuoteExpired = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "quote.expired";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: {
        quote_id: QuoteId;
        service_id: ServiceId;
        /** @description What the payer pays. In USDC micro-units */
        quote_amount: MicroUsdc;
        /**
         * @description What the platform gets of it. In USDC micro-units
         * @example 12500
         */
        fee_amount: MicroUsdcOrZero;
        /** @description Until when it could be paid */
        expires_at: Timestamp;
    };
};
export type WebhookEventQuoteSettled = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "quote.settled";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: QuoteProgress;
};
export type WebhookEventQuoteSettling = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "quote.settling";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: QuoteProgress;
};
export type WebhookEventRefundCancelled = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "refund.cancelled";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Refund;
};
export type WebhookEventRefundConfirmed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "refund.confirmed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Refund;
};
export type WebhookEventRefundExpired = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "refund.expired";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Refund;
};
export type WebhookEventRefundFailed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "refund.failed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Refund;
};
export type WebhookEventRefundFinalized = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "refund.finalized";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Refund;
};
export type WebhookEventRefundSubmitted = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "refund.submitted";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Refund;
};
export type WebhookEventSettlementAtRisk = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.at_risk";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /**
         * @description What was reported as used. In USDC micro-units
         * @example 480000
         */
        used: MicroUsdcOrZero;
        /** @description When the wallet was seen not to cover it */
        at_risk_at: Timestamp;
    } & VendorPaymentChange) | ({
        /**
         * @description What was reported as used. In USDC micro-units
         * @example 480000
         */
        used: MicroUsdcOrZero;
        /** @description When the wallet was seen not to cover it */
        at_risk_at: Timestamp;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementAuthorized = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.authorized";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description Until when use can be reported and captured */
        capture_ends_at: Timestamp;
    } & VendorPaymentChange) | ({
        /** @description Until when use can be reported and captured */
        capture_ends_at: Timestamp;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementCaptured = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.captured";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description The transaction on chain */
        tx_hash: TransactionHash;
        /**
         * @description What was authorized. In USDC micro-units
         * @example 5000000
         */
        max_amount: MicroUsdc;
    } & VendorPaymentChange) | ({
        /** @description The transaction on chain */
        tx_hash: TransactionHash;
        /**
         * @description What was authorized. In USDC micro-units
         * @example 5000000
         */
        max_amount: MicroUsdc;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementDeclined = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.declined";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: {
        decline_id: DeclineId;
        quote_id: QuoteId;
        service_id: ServiceId;
        /**
         * @description Who asked for it, as the quote says
         * @example Weather API
         */
        service_name: string;
        /**
         * @description What was to be bought: a title, or an address. Null: the quote does not say
         * @example https://api.example.com/forecast
         */
        item: string | null;
        /** @description What the quote costs. In USDC micro-units */
        amount: MicroUsdc;
        /** @description When the payment was refused first */
        created_at: Timestamp;
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
        decline_id: DeclineId;
        quote_id: QuoteId;
        service_id: ServiceId;
        /**
         * @description Who asked for it, as the quote says
         * @example Weather API
         */
        service_name: string;
        /**
         * @description What was to be bought: a title, or an address. Null: the quote does not say
         * @example https://api.example.com/forecast
         */
        item: string | null;
        /** @description What the quote costs. In USDC micro-units */
        amount: MicroUsdc;
        /**
         * @description The error code that the payer got. A vendor sees `payer_declined` only
         * @enum {string}
         */
        code: "limit_exceeded" | "insufficient_funds" | "delegation_inactive" | "forbidden" | "conflict" | "quote_expired" | "authorization_closed" | "approval_denied" | "approval_expired" | "service_unavailable" | "payer_declined";
        /** @description When the payment was refused first */
        created_at: Timestamp;
        /** @description The delegate whose key tried to pay; null: a sign-in of the account. Shown only to the payer */
        delegate_id: DelegateId | null;
        /** @description The first one. Shown only to the payer */
        payment_attempt_id: PaymentAttemptId;
        /** @description Shown only to the payer */
        reason: DeclineReason;
        /** @description Null if no limit of delegate or wallet is the reason. Shown only to the payer */
        limit: DeclineLimit | null;
        /**
         * @description The account pays in this payment
         * @constant
         */
        role: "payer";
    };
};
export type WebhookEventSettlementExpired = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.expired";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description Until when it could be redeemed */
        redeem_expires_at: Timestamp;
    } & VendorPaymentChange) | ({
        /** @description Until when it could be redeemed */
        redeem_expires_at: Timestamp;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementExtended = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.extended";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description The extension, which its authorization shows */
        extension_id: ExtensionId;
        /** @description The quote that extended it */
        extension_quote_id: QuoteId;
        /**
         * @description By how much. `quote_amount` is the ceiling now. In USDC micro-units
         * @example 500000
         */
        added: MicroUsdc;
    } & VendorPaymentChange) | ({
        /** @description The extension, which its authorization shows */
        extension_id: ExtensionId;
        /** @description The quote that extended it */
        extension_quote_id: QuoteId;
        /**
         * @description By how much. `quote_amount` is the ceiling now. In USDC micro-units
         * @example 500000
         */
        added: MicroUsdc;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementFailed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.failed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /**
         * @description Why it failed. No money moved, and the quote may be paid again
         * @example insufficient_funds
         */
        failure_code: string;
        /**
         * @description What was reported of an authorization whose capture failed, which is not paid. In USDC micro-units
         * @example 480000
         */
        used?: MicroUsdcOrZero;
    } & VendorPaymentChange) | ({
        /**
         * @description Why it failed. No money moved, and the quote may be paid again
         * @example insufficient_funds
         */
        failure_code: string;
        /**
         * @description What was reported of an authorization whose capture failed, which is not paid. In USDC micro-units
         * @example 480000
         */
        used?: MicroUsdcOrZero;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementFinalized = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.finalized";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description The transaction on chain */
        tx_hash: TransactionHash;
    } & VendorPaymentChange) | ({
        /** @description The transaction on chain */
        tx_hash: TransactionHash;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementIssued = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.issued";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description The transaction on chain */
        tx_hash: TransactionHash;
        /** @description When the payment was confirmed */
        issued_at: Timestamp;
    } & VendorPaymentChange) | ({
        /** @description The transaction on chain */
        tx_hash: TransactionHash;
        /** @description When the payment was confirmed */
        issued_at: Timestamp;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementRedeemed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.redeemed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description When the vendor redeemed it */
        redeemed_at: Timestamp;
        /** @description The id that redeemed it. Null: none was sent */
        redeem_id: RedeemId | null;
    } & VendorPaymentChange) | ({
        /** @description When the vendor redeemed it */
        redeemed_at: Timestamp;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementReversed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.reversed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description Whether it was redeemed before the chain reversed it */
        redeemed: boolean;
    } & VendorPaymentChange) | ({
        /** @description Whether it was redeemed before the chain reversed it */
        redeemed: boolean;
    } & PayerPaymentChange);
};
export type WebhookEventSettlementVoided = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "settlement.voided";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: ({
        /** @description When it ended */
        voided_at: Timestamp;
        /**
         * @description What was reported as used and is not paid. In USDC micro-units
         * @example 480000
         */
        used: MicroUsdcOrZero;
    } & VendorPaymentChange) | ({
        /** @description When it ended */
        voided_at: Timestamp;
        /**
         * @description What was reported as used and is not paid. In USDC micro-units
         * @example 480000
         */
        used: MicroUsdcOrZero;
    } & PayerPaymentChange);
};
export type WebhookEventWebhookTest = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "webhook.test";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: {
        endpoint_id: EndpointId;
    };
};
export type WebhookEventWithdrawalCancelled = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "withdrawal.cancelled";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Withdrawal;
};
export type WebhookEventWithdrawalConfirmed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "withdrawal.confirmed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Withdrawal;
};
export type WebhookEventWithdrawalExpired = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "withdrawal.expired";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Withdrawal;
};
export type WebhookEventWithdrawalFailed = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "withdrawal.failed";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Withdrawal;
};
export type WebhookEventWithdrawalFinalized = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "withdrawal.finalized";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Withdrawal;
};
export type WebhookEventWithdrawalSubmitted = {
    id: EventId;
    /**
     * @description What happened
     * @constant
     */
    type: "withdrawal.submitted";
    /** @description When it happened */
    timestamp: Timestamp;
    /** @description The object of the event, as it was then */
    data: Withdrawal;
};
export type WebhookSecretRotation = {
    /** @description Until then deliveries are also signed with the previous secret */
    previous_secret_expires_at: Timestamp;
};
/**
 * @description Base64 of a Solana wire transaction
 * @example AQAAAAAAAAAAAAAAAAAAAA==
 */
export type WireTransaction = string;
export type Withdrawal = {
    withdrawal_id: WithdrawalId;
    status: WithdrawalStatus;
    wallet_id: WalletId;
    /** @description What the destination receives. In USDC micro-units */
    amount: MicroUsdc;
    /** @description The wallet or token account that receives it */
    destination_address: SolanaAddress;
    /** @description The token account that receives it */
    destination_token_account: SolanaAddress;
    /** @description The transaction on chain. Null until it is seen there */
    tx_hash: TransactionHash | null;
    /**
     * @description Why it failed. Null: it has not failed
     * @example null
     */
    failure: Failure | null;
    /** @description When it was created */
    created_at: Timestamp;
    /** @description When the payment was first seen confirmed on chain: its time in the books. Null: not yet */
    confirmed_at: Timestamp | null;
    /** @description Until then it can be signed and submitted. Afterwards it is expired */
    pending_until: Timestamp;
};
/**
 * @description Id of the withdrawal, beginning with wd_ (TypeID: UUIDv7 in base32)
 * @example wd_01kaj5w0c0e8h9x2m4n6p8q0rs
 */
export type WithdrawalId = string;
export type WithdrawalPage = {
    /** @description The items of this page, newest first */
    data: Withdrawal[];
    next_cursor: NextCursor;
};
/**
 * @description pending_approval: waits for the owner’s signature. submitted: sent to the chain. confirmed, finalized: the money has arrived. failed, cancelled, expired: no money moved and none will
 * @enum {string}
 */
export type WithdrawalStatus = "pending_approval" | "submitted" | "confirmed" | "finalized" | "failed" | "cancelled" | "expired";
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
export type X402PaymentPayload = {
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
    accepted?: X402PaymentRequirements;
    /** @description The payment itself */
    payload: {
        /** @description The signed transaction, base64 */
        transaction: string;
    };
    /** @description Extensions of x402, for instance `payment-identifier` */
    extensions?: {
        [key: string]: unknown;
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
export type X402PaymentRequirements = {
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
        [key: string]: unknown;
    } | null;
};
export type X402Refusal = {
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
export type X402Request = {
    /**
     * @description The version of x402
     * @example 2
     */
    x402Version?: number;
    paymentPayload: X402PaymentPayload;
    paymentRequirements: X402PaymentRequirements;
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
export type X402Requirement = {
    /** @description Always `exact` */
    scheme: string;
    /** @description CAIP-2 id of the chain, or its name in version 1 */
    network: string;
    /** @description The mint of USDC */
    asset: string;
    /** @description The address that is paid */
    payTo: SolanaAddress;
    /** @description The price, in version 2. In USDC micro-units */
    amount?: MicroUsdc;
    /** @description The price, in version 1. In USDC micro-units */
    maxAmountRequired?: MicroUsdc;
    /** @description What the scheme needs besides */
    extra: {
        /** @description Who pays the fee of the transaction */
        feePayer: SolanaAddress;
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
export type X402SettleResponse = {
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
            settlement_id: SettlementId;
            /** @description Identifies this hand-out of the success */
            hand_out_id?: string;
        };
    };
    /** @description Why it was refused. Absent: it was not */
    error?: X402Refusal;
};
export type X402Supported = {
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
/**
 * @example {
 *       "isValid": true,
 *       "payer": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"
 *     }
 */
export type X402VerifyResponse = {
    /** @description Whether settle would accept it now */
    isValid: boolean;
    /** @description Why not: a reason of x402 */
    invalidReason?: string;
    /** @description Why not, for people */
    invalidMessage?: string;
    /** @description The address that signed the payment */
    payer?: string;
    /** @description Why it was refused. Absent: it was not */
    error?: X402Refusal;
};
